import { describe, expect, it, vi } from "vitest";
import { allOf, anyOf, emailDomain, hasClaim } from "../../src/index.js";

describe("ready-made rules", () => {
  const subject = (claims: object) => ({ claims: claims as Record<string, unknown> });

  it("hasClaim: equal, or in the list; inherited properties do not count", () => {
    expect(hasClaim("groups", "admin")(subject({ groups: ["staff", "admin"] }))).toBe(true);
    expect(hasClaim("role", "admin")(subject({ role: "admin" }))).toBe(true);
    for (const claims of [
      {},
      { groups: "administrators" },
      { groups: [["admin"]] },
      { groups: { admin: true } },
      Object.create({ groups: "admin" }),
    ]) {
      expect(hasClaim("groups", "admin")(subject(claims as object))).toBe(false);
    }
  });

  it("hasClaim refuses a value that is no claim's, such as a setting that is missing", () => {
    for (const value of [undefined, null, ["admin"]] as unknown as string[])
      expect(() => hasClaim("groups", value)).toThrow(/^`hasClaim` takes a string/);
  });

  it("hasClaim: a number or a boolean equals only a claim of its own type", () => {
    expect(hasClaim("level", 3)(subject({ level: 3 }))).toBe(true);
    expect(hasClaim("level", 3)(subject({ level: "3" }))).toBe(false);
    expect(hasClaim("staff", true)(subject({ staff: true }))).toBe(true);
    expect(hasClaim("staff", true)(subject({ staff: 1 }))).toBe(false);
  });

  it("emailDomain refuses what is no domain, such as an empty setting or a whole address", () => {
    for (const domain of ["", "@example.com", "ada@example.com"])
      expect(() => emailDomain(domain)).toThrow(/^`emailDomain` takes a domain/);
  });

  it("emailDomain: inherited properties do not count", () => {
    for (const claims of [
      Object.assign(Object.create({ email_verified: true }), { email: "eve@example.com" }),
      Object.create({ email: "eve@example.com", email_verified: true }),
    ]) {
      expect(emailDomain("example.com")(subject(claims as object))).toBe(false);
    }
  });

  it.each([
    [{ email: "Ada@EXAMPLE.com", email_verified: true }, true],
    [{ email: "ada@example.com", email_verified: "true" }, true],
    [{ email: "ada@example.com", email_verified: "false" }, false],
    [{ email: "ada@example.com", email_verified: "yes" }, false],
    [{ email: "ada@example.com", email_verified: 1 }, false],
    [{ email: "ada@example.com" }, false],
    [{ email: "ada@notexample.com", email_verified: true }, false],
    [{ email: "ada@example.com.evil.com", email_verified: true }, false],
    [{ email: "example.com", email_verified: true }, false],
    [{ email: '"ada@evil.com"@example.com', email_verified: true }, false],
    [{ email: "ada@evil.com@example.com", email_verified: true }, false],
    [{ email: "ada@@example.com", email_verified: true }, false],
    [{ email: "@example.com", email_verified: true }, false],
    [{ email: " @example.com", email_verified: true }, false],
    [{ email: "ada@evil.com @example.com", email_verified: true }, false],
    [{ email: "ada@example.com ", email_verified: true }, false],
    [{ email: "ada@example.com\n", email_verified: true }, false],
    [{ email: "ada@", email_verified: true }, false],
    [{ email: ["ada@example.com"], email_verified: true }, false],
  ])("emailDomain: %j is %s", (claims, passes) => {
    expect(emailDomain("Example.com")(subject(claims))).toBe(passes);
  });

  it("anyOf and allOf take rules that are async, and count only true", async () => {
    const yes = () => Promise.resolve(true);
    const no = () => false;
    const odd = () => 1 as unknown as boolean;
    const nobody = { claims: {} };
    expect(await anyOf(no, yes)(nobody)).toBe(true);
    expect(await anyOf(no, odd)(nobody)).toBe(false);
    expect(await allOf(yes, yes)(nobody)).toBe(true);
    expect(await allOf(yes, odd)(nobody)).toBe(false);
    expect([await anyOf()(nobody), await allOf()(nobody)]).toEqual([false, false]);
  });

  it("anyOf stops at the first rule that returns true, allOf at the first that doesn't", async () => {
    const yes = vi.fn(() => true);
    const no = vi.fn(() => false);
    const later = vi.fn(() => true);
    expect(await anyOf(no, yes, later)(subject({}))).toBe(true);
    expect(await allOf(yes, no, later)(subject({}))).toBe(false);
    expect([yes.mock.calls.length, no.mock.calls.length, later.mock.calls.length]).toEqual([
      2, 2, 0,
    ]);
    expect(yes).toHaveBeenCalledWith(subject({}));
  });
});

import { describe, expect, it } from "vitest";
import type { ApiEntry } from "../../src/record/record.js";
import { isApiTokenDue, refusedEntry, usableToken } from "../../src/record/stored-api-tokens.js";

const NOW = 10_000;
const VALID: ApiEntry = { target: "t", at: NOW - 100, token: "token", expires_at: NOW + 500 };

describe("an API's token is requested", () => {
  it.each<[string, ApiEntry | undefined, boolean]>([
    ["if there is none", undefined, true],
    ["not while it is valid", VALID, false],
    ["not if nobody knows when it expires", { target: "t", at: 0, token: "token" }, false],
    ["once it has expired", { ...VALID, expires_at: NOW }, true],
    ["not for a minute after a refusal", { target: "t", at: NOW - 59, refused: "x" }, false],
    ["a minute after a refusal", { target: "t", at: NOW - 60, refused: "x" }, true],
    ["a minute after a refusal, though the older token is valid", { ...VALID, refused: "x" }, true],
  ])("%s", (_name, entry, expected) => {
    expect(isApiTokenDue(entry, { minValidity: 30 }, NOW)).toBe(expected);
  });

  it.each<[string, Partial<ApiEntry>, boolean]>([
    ["if the API has rejected it", {}, true],
    ["not within a minute, if it replaced a rejected one", { forced: true, at: NOW - 59 }, false],
    ["again a minute later", { forced: true, at: NOW - 60 }, true],
  ])("%s", (_name, more, expected) => {
    const wanted = { minValidity: 30, rejected: "token" };
    expect(isApiTokenDue({ ...VALID, ...more }, wanted, NOW)).toBe(expected);
  });
});

describe("what a refusal leaves of an API's token", () => {
  const refusal = { target: "t", refused: "consent_required" };

  it("is the token, while it is valid", () => {
    expect(refusedEntry(VALID, refusal, NOW)).toStrictEqual({
      ...VALID,
      at: NOW,
      refused: "consent_required",
    });
  });

  it.each<[string, ApiEntry | undefined, object]>([
    ["there was none", undefined, {}],
    ["it has expired", { ...VALID, expires_at: NOW }, {}],
    ["the API has rejected it", VALID, { rejected: "token" }],
  ])("is nothing if %s", (_name, before, more) => {
    const entry = { target: "t", at: NOW, refused: "consent_required" };
    expect(refusedEntry(before, { ...refusal, ...more }, NOW)).toStrictEqual(entry);
  });

  it("is what the provider demands now, and nothing that it demanded before", () => {
    const before = { ...VALID, refused: "x", claims: "older" };
    expect(refusedEntry(before, { ...refusal, claims: "newer" }, NOW).claims).toBe("newer");
    expect(refusedEntry(before, refusal, NOW)).not.toHaveProperty("claims");
  });
});

describe("a call for an API's token", () => {
  const refused = { ...VALID, at: NOW, refused: "consent_required" };

  it("gets one that is valid, also if the provider has refused to renew it early", () => {
    expect(usableToken(VALID, undefined, NOW)).toBe("token");
    expect(usableToken(refused, undefined, NOW)).toBe("token");
  });

  it("gets one again that replaced a rejected one, but not after a refusal", () => {
    expect(usableToken(VALID, "token", NOW)).toBe("token");
    expect(usableToken(refused, "token", NOW)).toBeUndefined();
    expect(usableToken(refused, "an older token", NOW)).toBe("token");
  });

  it("gets none that has expired, and none without an entry", () => {
    expect(usableToken({ ...VALID, expires_at: NOW }, undefined, NOW)).toBeUndefined();
    expect(usableToken(undefined, undefined, NOW)).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import { PENDING_LOGIN_SECONDS } from "../../src/record/pending-logins.js";
import { createSealer } from "../../src/sessions/seal.js";
import { createPostedResponses } from "../../src/sessions/posted-responses.js";
import { createSealedParameter } from "../../src/sessions/sealed-parameter.js";
import { TestClock } from "../../src/testing/test-clock.js";

const PLACE = { origin: "https://app.example", path: "/idpauth/login/" };
const sealer = createSealer("a secret key of at least 32 bytes", []);

function rig() {
  const clock = new TestClock();
  const parameter = createSealedParameter({ sealer, clock, purpose: "form", seconds: 60 });
  return { clock, parameter };
}

describe("a sealed parameter", () => {
  it("opens at its place, to what was sealed", () => {
    const { parameter } = rig();
    for (const content of ["", "state=s&code=ß", "x".repeat(5_000)])
      expect(parameter.open(parameter.seal(content, PLACE), PLACE)).toBe(content);
  });

  it("has its expiry in the clear and nothing else, in characters that an address may have", () => {
    const { clock, parameter } = rig();
    const value = parameter.seal("state=secret", PLACE);
    expect(value).toMatch(/^\d+\.[\w-]+$/);
    const [expiresAt, sealed = ""] = value.split(".");
    expect(Number(expiresAt)).toBe(clock.now() / 1000 + 60);
    expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("secret");
  });

  it("opens until it expires", () => {
    const { clock, parameter } = rig();
    const value = parameter.seal("content", PLACE);
    clock.advance(59_999);
    expect(parameter.open(value, PLACE)).toBe("content");
    clock.advance(1);
    expect(parameter.open(value, PLACE)).toBeUndefined();
  });

  it.each([
    ["at another origin", { ...PLACE, origin: "https://evil.example" }],
    ["at another path", { ...PLACE, path: "/idpauth/logout/" }],
    [
      "at a path that begins with the rest of the origin",
      { origin: "https://app", path: ".example/idpauth/login/" },
    ],
  ])("doesn't open %s", (_where, place) => {
    const { parameter } = rig();
    expect(parameter.open(parameter.seal("content", PLACE), place)).toBeUndefined();
  });

  it("doesn't open for another purpose, or with another SECRET_KEY", () => {
    const { clock, parameter } = rig();
    const value = parameter.seal("content", PLACE);
    const other = createSealer("another secret key of at least 32 bytes", []);
    for (const options of [
      { sealer, purpose: "response" },
      { sealer: other, purpose: "form" },
    ] as const) {
      const stranger = createSealedParameter({ ...options, clock, seconds: 60 });
      expect(stranger.open(value, PLACE)).toBeUndefined();
    }
  });

  it.each<[string, (value: string) => string]>([
    ["a later expiry", (value) => value.replace(/^\d/, "9")],
    ["more digits in its expiry", (value) => `0${value}`],
    ["an expiry that is too long", (value) => `9999999999999${value}`],
    ["no expiry", (value) => value.replace(/^\d+/, "")],
    ["another seal", (value) => value.replace(/\../, (all) => (all === ".A" ? ".B" : ".A"))],
    ["no seal", (value) => value.replace(/\..*/, ".")],
    ["text before it", (value) => ` ${value}`],
    ["text after it", (value) => `${value} `],
    ["a character that base64url doesn't have", (value) => value.replace(".", ".!")],
    ["nothing", () => ""],
  ])("doesn't open with %s", (_what, change) => {
    const { parameter } = rig();
    expect(parameter.open(change(parameter.seal("content", PLACE)), PLACE)).toBeUndefined();
  });

  it("is not decrypted if it is longer than any that was sealed", () => {
    const { parameter } = rig();
    const lengths: number[] = [];
    const watched = createSealedParameter({
      sealer: { ...sealer, openParameter: (sealed) => void lengths.push(sealed.length) },
      clock: new TestClock(),
      purpose: "form",
      seconds: 60,
    });
    const [expiresAt] = parameter.seal("content", PLACE).split(".");
    for (const length of [12_288, 12_289])
      watched.open(`${String(expiresAt)}.${"A".repeat(length)}`, PLACE);
    expect(lengths).toEqual([12_288 * 0.75]);
  });
});

describe("a response that a form has posted", () => {
  it("opens as long as its login can be completed, and for no other purpose", () => {
    const clock = new TestClock();
    const responses = createPostedResponses({ sealer, clock });
    const value = responses.seal("state=s", PLACE);
    const forms = createSealedParameter({ sealer, clock, purpose: "form", seconds: 60 });
    expect(forms.open(value, PLACE)).toBeUndefined();
    clock.advance(PENDING_LOGIN_SECONDS * 1000 - 1);
    expect(responses.open(value, PLACE)).toBe("state=s");
    clock.advance(1);
    expect(responses.open(value, PLACE)).toBeUndefined();
  });
});

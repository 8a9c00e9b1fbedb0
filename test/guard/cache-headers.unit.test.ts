import { describe, expect, it } from "vitest";
import { varyByCookie } from "../../src/guard/cache-headers.js";

describe("Vary with Cookie in it", () => {
  it.each([
    [undefined, "Cookie"],
    ["", "Cookie"],
    [" ", "Cookie"],
    ["Accept", "Accept, Cookie"],
    ["Accept, Origin", "Accept, Origin, Cookie"],
    ["X-Cookie", "X-Cookie, Cookie"],
    ["Cookie-Consent", "Cookie-Consent, Cookie"],
    ["Cookie", "Cookie"],
    ["cookie", "cookie"],
    ["Accept,COOKIE ,Origin", "Accept,COOKIE ,Origin"],
    ["*", "*"],
    ["Accept, *", "Accept, *"],
  ])("of %j is %j", (before, after) => {
    expect(varyByCookie(before)).toBe(after);
  });
});

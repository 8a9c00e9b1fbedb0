import { describe, expect, it } from "vitest";
import { cookieNameFor, cookieValues, hasCookie, setCookie } from "../../src/sessions/cookie.js";

/** A well-formed value: 43 characters of base64url. */
const value = (letter: string) => letter.repeat(43);
const A = value("A");
const B = value("b");

describe("the session cookie of a request", () => {
  it.each<[what: string, header: string | undefined, found: readonly string[]]>([
    ["no Cookie header", undefined, []],
    ["an empty header", "", []],
    ["other cookies only", "theme=dark; lang=en", []],
    ["it alone", `idpauth=${A}`, [A]],
    ["it first", `idpauth=${A}; theme=dark`, [A]],
    ["it last", `theme=dark; idpauth=${A}`, [A]],
    ["it in the middle", `theme=dark; idpauth=${A}; lang=en`, [A]],
    ["no space after the separator", `theme=dark;idpauth=${A};lang=en`, [A]],
    ["many spaces after the separator", `theme=dark;    idpauth=${A}`, [A]],
    ["spaces before the header's first cookie", `  idpauth=${A}`, [A]],
    ["spaces after the value", `idpauth=${A}  ; theme=dark`, [A]],
    [
      "letters of both cases, digits, dash and underscore",
      "idpauth=abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123_-9",
      ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123_-9"],
    ],
    ["two of the name", `idpauth=${A}; idpauth=${B}`, [A, B]],
    ["two of the name the other way round", `idpauth=${B}; idpauth=${A}`, [B, A]],
    ["two of the name with another between", `idpauth=${A}; theme=dark; idpauth=${B}`, [A, B]],
    ["a planted one of the wrong form first", `idpauth=planted; idpauth=${A}`, [A]],
    ["a planted one of the wrong form last", `idpauth=${A}; idpauth=planted`, [A]],
    ["two Cookie lines, as Node joins them", `idpauth=${A}; idpauth=${B}; a=b`, [A, B]],
    ["a name that ends alike", `xidpauth=${A}`, []],
    ["a prefixed name", `__Host-Http-idpauth=${A}`, []],
    ["a name that begins alike", `idpauth2=${A}`, []],
    ["a name that ends alike, then the name", `xidpauth=${A}; idpauth=${B}`, [B]],
    ["the name inside another cookie's value", `x=idpauth=${A}`, []],
    ["the name after a space inside another cookie's value", `x=a idpauth=${A}`, []],
    ["the name after spaces inside another cookie's value", `x=a   idpauth=${A}`, []],
    ["the name inside its own value", `idpauth=idpauth=${A}`, []],
    ["the name alone", "idpauth", []],
    ["the name, and a value without an equals sign before it", `idpauth.${A}`, []],
    ["the name without a value", "idpauth=", []],
    ["the name without a value, then with one", `idpauth; idpauth=${A}`, [A]],
    ["another letter case of the name", `IDPAUTH=${A}`, []],
    ["a space before the equals sign", `idpauth =${A}`, []],
    ["a quoted value", `idpauth="${A}"`, []],
    ["a value one character short", `idpauth=${"A".repeat(42)}`, []],
    ["a value one character long", `idpauth=${"A".repeat(44)}`, []],
    ["a value of 8 KB", `idpauth=${"A".repeat(8192)}`, []],
    ["a percent-encoded NUL", `idpauth=${"A".repeat(40)}%00`, []],
    ["standard base64", `idpauth=${"A".repeat(41)}+/`, []],
    ["padding", `idpauth=${"A".repeat(42)}=`, []],
    ["a tab inside", `idpauth=${"A".repeat(21)}\t${"A".repeat(21)}`, []],
    ["a line break at the end", `idpauth=${A.slice(1)}\n`, []],
    ["letters of another script", `idpauth=${"é".repeat(43)}`, []],
    ["the name of a member of Object.prototype", `__proto__=${A}; constructor=${A}`, []],
  ])("%s", (_what, header, found) => {
    expect(cookieValues(header, "idpauth")).toEqual(found);
  });

  it("at most four of the name are read, in the order they were sent", () => {
    const sent = ["1", "2", "3", "4", "5", "6"].map(value);
    const header = sent.map((each) => `idpauth=${each}`).join("; ");
    expect(cookieValues(header, "idpauth")).toEqual(sent.slice(0, 4));
  });

  it("values of the wrong form do not count towards the four", () => {
    const header = `${"idpauth=planted; ".repeat(300)}idpauth=${A}`;
    expect(cookieValues(header, "idpauth")).toEqual([A]);
  });

  it("a configured name is found as it is", () => {
    expect(cookieValues(`a.b=${B}; axb=${A}`, "a.b")).toEqual([B]);
  });

  it("white space and names without a value in a hostile header are no cookie", () => {
    const spaces = `x${" ".repeat(32_768)}idpauth=${A}${" ".repeat(32_768)}`;
    expect(cookieValues(spaces, "idpauth")).toEqual([]);
    expect(cookieValues("idpauth ".repeat(8192), "idpauth")).toEqual([]);
  });
});

describe("whether the browser sent the session cookie", () => {
  it.each<[what: string, header: string | undefined, sent: boolean]>([
    ["no Cookie header", undefined, false],
    ["an empty header", "", false],
    ["other cookies only", "theme=dark; lang=en", false],
    ["it alone", `idpauth=${A}`, true],
    ["it last", `theme=dark; idpauth=${A}`, true],
    ["it in the middle, without spaces", `theme=dark;idpauth=${A};lang=en`, true],
    ["a value of the wrong form", "idpauth=planted", true],
    ["an empty value", "idpauth=", true],
    ["the name without a value, then with one", `idpauth; idpauth=${A}`, true],
    ["the name in another cookie's value, then the cookie", `theme=idpauth; idpauth=${A}`, true],
    ["the name alone", "idpauth", false],
    ["a name that ends alike", `xidpauth=${A}`, false],
    ["a prefixed name", `__Host-Http-idpauth=${A}`, false],
    ["a name that begins alike", `idpauth2=${A}`, false],
    ["the name inside another cookie's value", `x=idpauth=${A}`, false],
    ["the name after a space inside another cookie's value", `x=a idpauth=${A}`, false],
  ])("%s", (_what, header, sent) => {
    expect(hasCookie(header, "idpauth")).toBe(sent);
  });
});

describe("the cookie that is set", () => {
  it.each([
    [false, 1_209_600, `idpauth=${A}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax`],
    [true, 1_209_600, `idpauth=${A}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure`],
    [true, 0, `idpauth=${A}; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`],
  ])("secure %s, for %i seconds", (secure, maxAge, expected) => {
    expect(setCookie({ name: "idpauth", value: A, maxAge, secure })).toBe(expected);
  });

  it.each([
    [null, "/idpauth/", true, "__Host-Http-idpauth"],
    [null, "/idpauth/", false, "idpauth"],
    [null, "/partners/idpauth/", true, "__Host-Http-idpauth.partners.idpauth"],
    [null, "/auth/", false, "idpauth.auth"],
    [null, "/a/b/", false, "idpauth.a.b"],
    [null, "/a.b/", false, "idpauth.a%2Eb"],
    ["sid", "/idpauth/", true, "sid"],
    ["sid", "/auth/", false, "sid"],
  ])(
    "configured as %s, at %s, over https %s it is named %s",
    (configured, publicPath, secure, name) => {
      expect(cookieNameFor(configured, publicPath, secure)).toBe(name);
    },
  );
});

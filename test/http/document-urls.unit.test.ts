import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isValidIdpUrl } from "../../src/http/document-urls.js";

const HOSTS = ["docs.google.com"];

describe("isValidIdpUrl", () => {
  it.each([
    "https://docs.google.com",
    "https://docs.google.com/",
    "https://docs.google.com/document/d/1aB/edit",
    "https://docs.google.com/spreadsheets/d/1aB/edit?usp=sharing#gid=0",
    "https://docs.google.com?x",
    "https://docs.google.com#x",
    "https://docs.google.com/https://evil.example/@x:y",
  ])("accepts %s", (url) => {
    expect(isValidIdpUrl(url, HOSTS)).toBe(true);
  });

  it.each([
    ["not absolute", "docs.google.com/document"],
    ["not absolute", "//docs.google.com/document"],
    ["not absolute", "/document"],
    ["empty", ""],
    ["not https", "http://docs.google.com/"],
    ["not https", "ftp://docs.google.com/"],
    ["not https", "javascript://docs.google.com/%0aalert(1)"],
    ["not https", "https:docs.google.com"],
    ["not https", "https:/docs.google.com"],
    ["another letter case of the scheme", "HTTPS://docs.google.com/"],
    ["another letter case of the host", "https://Docs.google.com/"],
    ["user info", "https://docs.google.com@evil.example/"],
    ["user info", "https://user@docs.google.com/"],
    ["user info", "https://user:password@docs.google.com/"],
    ["empty user info", "https://@docs.google.com/"],
    ["a port", "https://docs.google.com:8443/"],
    ["the default port written out", "https://docs.google.com:443/"],
    ["an empty port", "https://docs.google.com:/"],
    ["another host", "https://evil.example/"],
    ["another host", "https://docs.google.com.evil.example/"],
    ["another host", "https://evildocs.google.com/"],
    ["another host", "https://drive.google.com/"],
    ["a subdomain", "https://x.docs.google.com/"],
    ["the parent domain", "https://google.com/"],
    ["a trailing dot", "https://docs.google.com./"],
    ["percent-encoding in the host", "https://docs%2egoogle.com/"],
    ["full-width letters that the parser folds", "https://ｄocs.google.com/"],
    ["an ideographic full stop that the parser folds", "https://docs。google.com/"],
    ["a soft hyphen that the parser drops", "https://docs.goo\u00adgle.com/"],
    ["a backslash", "https://docs.google.com\\.evil.example/"],
    ["a backslash", "https:\\\\docs.google.com/"],
    ["a backslash in the path", "https://docs.google.com/\\evil.example"],
    ["three slashes", "https:///docs.google.com/"],
    ["white space before", " https://docs.google.com/"],
    ["white space after", "https://docs.google.com/ "],
    ["a tab that the parser drops", "https://docs.goo\tgle.com/"],
    ["a line break", "https://docs.google.com/\r\nSet-Cookie: a=b"],
    ["a NUL", "https://docs.google.com/\u0000"],
    ["a C1 control character", "https://docs.google.com/\u009b"],
  ])("refuses %s: %j", (_name, url) => {
    expect(isValidIdpUrl(url, HOSTS)).toBe(false);
  });

  it.each([
    undefined,
    null,
    42,
    {},
    [],
    ["https://docs.google.com/"],
    new URL("https://docs.google.com/"),
  ])("gives false for %j, which is no string", (url) => {
    expect(isValidIdpUrl(url as string, HOSTS)).toBe(false);
  });

  it("knows exactly the hostnames it is given", () => {
    expect(isValidIdpUrl("https://b.example/x", ["a.example", "b.example"])).toBe(true);
    expect(isValidIdpUrl("https://docs.google.com/", ["a.example", "b.example"])).toBe(false);
    expect(isValidIdpUrl("https://docs.google.com/", [])).toBe(false);
    expect(isValidIdpUrl("https:///docs.google.com/", [""])).toBe(false);
  });

  it("never throws, and every address that it accepts takes a browser to one of the hostnames over https", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "https://",
        "docs.google.com",
        "@",
        ":443",
        ":",
        "/",
        "\\",
        "?",
        "#",
        ".",
        "%2e",
        "evil.example",
      ),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        for (const text of [parts.join(""), `https://docs.google.com${parts.join("")}`]) {
          if (!isValidIdpUrl(text, HOSTS)) continue;
          const url = new URL(text);
          expect([url.origin, url.username, url.password]).toEqual([
            "https://docs.google.com",
            "",
            "",
          ]);
        }
      }),
    );
  });
});

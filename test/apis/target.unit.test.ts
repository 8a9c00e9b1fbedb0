import { describe, expect, it } from "vitest";
import { proxiedUrl, upstreamUrl } from "../../src/apis/target.js";
import { apiRow } from "./api-row.js";

const ALL = apiRow({ paths: ["%2F", "//", ";"] });
const BASE = "https://orders.internal/v2/";
const sent = (target: string, api = apiRow()) => {
  const url = proxiedUrl(api, target);
  return url instanceof URL ? url.href : url;
};

describe("the path of a proxied request", () => {
  it.each([
    ["items", "items"],
    ["", ""],
    ["?", "?"],
    ["items/5/?open=true&q=a%20b", "items/5/?open=true&q=a%20b"],
    ["caf%C3%A9/a%20b/x%2Ey/...", "caf%C3%A9/a%20b/x%2Ey/..."],
    ["%3B%3F%23%25%252f", "%3B%3F%23%25%252f"],
    [".well-known/x/a..b/..c/d..", ".well-known/x/a..b/..c/d.."],
    ["https:items@x:80", "https:items@x:80"],
  ])("is appended as it was sent: %s", (rest, expected) => {
    expect(sent(`/api/orders/${rest}`)).toBe(BASE + expected);
  });

  it.each(["?a=../..&b=%5c%00&c=\\..\\&d=//x;y%2f", "?a=/../?b"])(
    "leaves the query as it was sent: %s",
    (query) => {
      expect(sent(`/api/orders/items${query}`)).toBe(`${BASE}items${query}`);
    },
  );

  it.each([
    "/API/orders/items",
    "/api/Orders/items",
    "/api/orders",
    "/api/orders?x=1",
    "/api/ordersitems",
    "/",
    "/x/api/orders/",
    "/api/%6Frders/x",
  ])(
    "is another one's if it doesn't begin with the prefix, character by character: %s",
    (target) => {
      expect(sent(target)).toBe("not_found");
    },
  );

  it("is another one's if the API has no prefix", () => {
    expect(sent("/api/orders/items", apiRow({ path: undefined }))).toBe("not_found");
  });

  const DOTS = [
    ".",
    "..",
    "%2e",
    "%2E.",
    ".%2e",
    "%2e%2e",
    "%252e",
    "%252e%252E",
    ".%252e",
    "..;",
    "..;a=b",
    ".;x",
    "..%3b",
    "..%253Bx",
    "%2e%2e;x",
  ];

  it.each([
    ["NUL", ["a\u0000b", "%00", "a%00b"]],
    ["an encoded backslash", ["%5c", "a%5Cb", "..%5c..%5cadmin"]],
    ["a backslash", ["\\", "..\\admin", "a\\..\\b"]],
    ["a fragment", ["items#x", "#", "items?x=1#y"]],
    [
      "a control character or white space",
      ["a\tb", "a\nb", "a\r\nHost: x", " ", "a\u007f", "items?x=a\r\nb"],
    ],
    ["a character that isn't ASCII", ["é", "\u00e9?x", "items?q=\u00e9", "\uff0e\uff0e/x"]],
    [
      "a dot segment in single or double encoding, also before a semicolon",
      DOTS.flatMap((dots) => [dots, `a/${dots}`, `${dots}/a`, `a/${dots}?x`]),
    ],
    [
      "a dot segment beside an encoded slash",
      ["..%2fadmin", "a%2F..%2Fb", "a%252f%252e%252e%252fb", "x%2f.", "..%255cx"],
    ],
    [
      "what the URL parser would change",
      ["a'b\"", "a<b>", "a`b", "a{b}", 'items?x="y"', "a?b='c'"],
    ],
  ])("is refused with %s, even if the API allows everything", (_what, rests) => {
    for (const rest of rests)
      expect([rest, sent(`/api/orders/${rest}`, ALL)]).toEqual([rest, "api_path_invalid"]);
  });

  it.each([
    "https://evil.example/api/orders/items",
    "http://app.example/api/orders/",
    "*",
    "",
    "api/orders/items",
    "evil.example:443",
  ])("is refused in absolute form, or in any form but a path: %s", (target) => {
    expect(sent(target, ALL)).toBe("api_path_invalid");
  });

  it.each([
    ["%2F", ["a%2Fb", "a%2fb", "%2F"]],
    ["//", ["/", "//", "a//b", "/evil.example/x", "a//"]],
    [";", ["a;b=c", ";", "a/b;jsessionid=1/c"]],
  ] as const)(
    "is refused with %s unless the API allows it, and passes unchanged then",
    (allowance, rests) => {
      const others = (["%2F", "//", ";"] as const).filter((other) => other !== allowance);
      for (const rest of rests) {
        expect(sent(`/api/orders/${rest}`)).toBe("api_path_invalid");
        expect(sent(`/api/orders/${rest}`, apiRow({ paths: others }))).toBe("api_path_invalid");
        expect(sent(`/api/orders/${rest}`, apiRow({ paths: [allowance] }))).toBe(BASE + rest);
      }
    },
  );

  it("never leaves the API's origin or its base path", () => {
    const root = apiRow({ url: new URL("http://127.0.0.1:8080/"), paths: ["//", ";", "%2F"] });
    expect(sent("/api/orders//evil.example/x", root)).toBe("http://127.0.0.1:8080//evil.example/x");
    expect(sent("/api/orders/@evil.example/", root)).toBe("http://127.0.0.1:8080/@evil.example/");
    expect(sent("/api/orders/https://evil.example/", root)).toBe(
      "http://127.0.0.1:8080/https://evil.example/",
    );
  });
});

describe("the path that the application passes to fetchApi", () => {
  it("obeys the same rules", () => {
    const href = (rest: string) => String(upstreamUrl(apiRow(), rest));
    expect(href("items?open=true")).toBe(`${BASE}items?open=true`);
    for (const rest of [
      "../admin",
      "/items",
      "//evil.example",
      "https://evil.example/",
      "a\\b",
      "x%00",
      "a#b",
      "a/%2e%2e/b",
    ]) {
      expect(href(rest)).toBe("api_path_invalid");
    }
  });
});

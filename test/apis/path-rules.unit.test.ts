import { describe, expect, it } from "vitest";
import { proxiedUrl, upstreamUrl } from "../../src/apis/api-url.js";
import { rulesFor } from "../../src/apis/path-rules.js";
import type { PathAllowance } from "../../src/config/api-options.js";
import type { ApiRule } from "../../src/config/api-rules.js";
import { apiRow } from "./api-row.js";

const EVERYTHING: readonly PathAllowance[] = ["%2F", "//", ";"];
const ALL = apiRow({ paths: EVERYTHING });
const BASE = "https://orders.internal/v2/";
const sent = (target: string, api = apiRow()) => {
  const url = proxiedUrl(api, target);
  return url instanceof URL ? url.href : url.code;
};
/** The text that the refusal names. */
const named = (rest: string, api = ALL) => {
  const url = proxiedUrl(api, `/api/orders/${rest}`);
  return url instanceof URL ? undefined : /"(.*)"/.exec(url.detail)?.[1];
};
/** Encodes the percent signs of a text so many times more. */
const nested = (text: string, times: number) => text.replace(/%/g, `%${"25".repeat(times)}`);

describe("the path of a proxied request", () => {
  it.each([
    ["items"],
    [""],
    ["?"],
    ["items/5/?open=true&q=a%20b"],
    ["100%25"],
    ["100%25/x"],
    ["100%2525"],
    ["100%25zz%25%25"],
    ["caf%C3%A9"],
    ["caf%25C3%25A9"],
    ["a%E9b"],
    ["%C3%80%C3%BF/%E2%82%AC/%F0%9F%98%80"],
    ["a%20b/%20/%20a%20"],
    ["%21%22%23%24%26%27%28%29%2A%2B%2C%3A%3C%3D%3E%3F%40%5B%5D%5E%60%7B%7C%7D"],
    [".well-known/x/a..b/..c/d../...%20x/.%C3%A9"],
    ["https:items@x:80"],
    ["items(5)/!$&'*+,=[0]|~_-"],
    ["caf%C3%A9/..."],
    [".%20x/..%20x."],
    ["100%25u1/100%25u12x"],
  ])("is appended as it was sent: %s", (rest) => {
    expect(sent(`/api/orders/${rest}`)).toBe(BASE + rest);
  });

  it.each([
    "?a=../..&b=%5c%00&c=\\..\\&d=//x;y%2f",
    "?a=/../?b",
    "?q=100%",
    "?q=%&r=%zz%61%252e",
    "?a=`{x|y}^[0]~_-.!*()",
  ])("leaves the query as it was sent: %s", (query) => {
    expect(sent(`/api/orders/items${query}`)).toBe(`${BASE}items${query}`);
  });

  it("writes quotes and angle brackets of the query as browsers do", () => {
    expect(sent(`/api/orders/items?a="b"&c='d'&e=<f>`)).toBe(
      `${BASE}items?a=%22b%22&c=%27d%27&e=%3Cf%3E`,
    );
  });

  it.each([
    "/API/orders/items",
    "/api/Orders/items",
    "/api/orders",
    "/api/orders?x=1",
    "/api/ordersitems",
    "/",
    "/x/api/orders/",
    "/api/%6Frders/x",
    "/api/orders\\x",
  ])(
    "is another one's if it doesn't begin with the prefix, character by character: %s",
    (target) => {
      expect(sent(target)).toBe("not_found");
    },
  );

  it("is another one's if the API has no prefix", () => {
    const url = proxiedUrl(apiRow({ path: undefined }), "/api/orders/items");
    expect(url).toEqual({ code: "not_found", detail: "The path isn't this API's." });
  });

  const DOTS = [".", "..", "..;", "..;a=b", ".;x", "..?", ".#"];

  it.each([
    ["NUL", ["a\u0000b", "%00", "a%00b"]],
    ["an encoded backslash", ["%5c", "a%5Cb", "..%5c..%5cadmin"]],
    ["a backslash", ["\\", "..\\admin", "a\\..\\b"]],
    ["a fragment", ["items#x", "#", "items?x=1#y"]],
    [
      "a control character or white space",
      ["a\tb", "a\nb", "a\r\nHost: x", " ", "a\u007f", "items?x=a\r\nb", "items?x=a b"],
    ],
    ["an encoded control character", ["%01", "%09x", "a%0d%0A", "%1f", "%1A", "%7F"]],
    ["a character that isn't ASCII", ["é", "é?x", "items?q=é", "．．/x"]],
    ["a percent sign that encodes nothing", ["100%", "%", "%zz", "%2", "%2g", "%%32%65", "%u002e"]],
    [
      "an encoded letter, digit, or other unreserved character",
      ["%61dmin", "%41", "%5A", "%7a", "%6F", "%4F", "%70", "%50", "%30", "%39"],
    ],
    ["encoded unreserved punctuation", ["x%2Ey", "%2e%2e", "%2E.", "a%2Db", "%5F", "%7e"]],
    ["a path that is encoded in parts", ["%25%32%65%25%32%65", "%2%35", "%25%36%31"]],
    [
      "a dot segment, whatever follows in the segment",
      DOTS.map((dots) => dots.replace("?", "%3F").replace("#", "%23")).flatMap((dots) => [
        dots,
        `a/${dots}`,
        `${dots}/a`,
        `a/${dots}?x`,
        `a/${dots}/b`,
      ]),
    ],
    [
      "a dot segment that is trimmed",
      [
        "..%20",
        "%20..",
        "a/%20.%20/b",
        "..%20.",
        "..%C2%A0",
        "%E3%80%80..",
        "..%FF",
        ".%FF.",
        "%C2%85..",
        "..%EF%BB%BF",
      ],
    ],
    [
      "what some systems make a dot segment of",
      [
        "%EF%BC%8E%EF%BC%8E",
        "%E2%80%A5",
        "a/%E2%80%A4./b",
        ".%E2%80%8B./b",
        "a/.%C2%AD.",
        "..%E2%81%84b",
        "..%C2%A5b",
        "..%EF%BC%8Fx",
        "x%EF%BC%BC..",
        "..%EF%BC%9Bx",
      ],
    ],
    [
      "a dot segment beside an encoded slash",
      ["..%2fadmin", "a%2F..%2Fb", "x%2f.", "..%5cx", "a%2F.;/b", "a;b/..%2Fc"],
    ],
    [
      "UTF-8 that is longer than it must be",
      [
        "%C0%AE%c0%ae",
        "%c1%9c",
        "%C1%80",
        "%E0%80%AF",
        "%e0%9f%bf",
        "%F0%80%80%AF",
        "%F8%80",
        "%fc%8a",
      ],
    ],
    ["an encoded slash in a path parameter", ["a;b%2Fc", ";%2f", "x/a;b=1%2F/c", "a%3Bb%2Fc"]],
    ["what the URL parser would change", ['a"b', "a<b", "a>b", "a`b", "a{b", "a}b", "a^b"]],
  ])("is refused with %s, even if the API allows everything", (_what, rests) => {
    for (const rest of rests)
      expect([rest, sent(`/api/orders/${rest}`, ALL)]).toEqual([rest, "api_path_invalid"]);
  });

  it("is refused however often such a character was encoded", () => {
    const refused = [
      "%61",
      "%2e%2E",
      "x/%2e/y",
      "%5c",
      "%00",
      "%0A",
      "%C0%AE",
      "..%3B",
      "..%2F",
      "a;b%2Fc",
      "%20..",
      "%E2%80%A5",
    ];
    for (const rest of refused)
      for (const times of [1, 2, 3, 50])
        expect([rest, sent(`/api/orders/${nested(rest, times)}`, ALL)]).toEqual([
          rest,
          "api_path_invalid",
        ]);
    // The second decoding of some servers reads it.
    expect(sent("/api/orders/%25u002e%25U002E", ALL)).toBe("api_path_invalid");
    expect(sent("/api/orders/100%25up", ALL)).toBe(`${BASE}100%25up`);
    expect(sent("/api/orders/%C3%A0%80/%C3%80", ALL)).toBe(`${BASE}%C3%A0%80/%C3%80`);
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
    ["%2F", ["a%2Fb", "a%2fb", "a%252Fb", "a%25252fb"], []],
    ["//", ["/", "//", "a//b", "/evil.example/x", "a//"], []],
    [";", ["a;b=c", ";", "a/b;jsessionid=1/c", "a%3Bb", "a%253bb"], []],
    ["//", ["%2F", "%2Fb", "a%2F/b", "a/%2Fb", "a%2F%2Fb", "a%252F%2Fb"], ["%2F"]],
  ] as const)("is refused with %s unless the API allows it: %j", (allowance, rests, needed) => {
    const others = EVERYTHING.filter((other) => other !== allowance);
    const allowed = apiRow({ paths: [allowance, ...needed] });
    for (const rest of rests) {
      expect([rest, sent(`/api/orders/${rest}`)]).toEqual([rest, "api_path_invalid"]);
      expect([rest, sent(`/api/orders/${rest}`, apiRow({ paths: others }))]).toEqual([
        rest,
        "api_path_invalid",
      ]);
      expect(sent(`/api/orders/${rest}`, allowed)).toBe(BASE + rest);
    }
  });

  it("never leaves the API's origin or its base path", () => {
    const root = apiRow({ url: new URL("http://127.0.0.1:8080/"), paths: EVERYTHING });
    expect(sent("/api/orders//evil.example/x", root)).toBe("http://127.0.0.1:8080//evil.example/x");
    expect(sent("/api/orders/@evil.example/", root)).toBe("http://127.0.0.1:8080/@evil.example/");
    expect(sent("/api/orders/https://evil.example/", root)).toBe(
      "http://127.0.0.1:8080/https://evil.example/",
    );
  });
});

describe("the response to a refused path", () => {
  it.each([
    ["%61dmin", "%61"],
    ["x/%252561dmin", "%61"],
    ["a/../b", "/../"],
    ["..;x=1/b", "..;"],
    ["100%", "%"],
    [String.raw`a\b`, String.raw`\\`],
    ["a\u0007b", String.raw`\u0007`],
    ["a\u009bb", "\ufffd"],
    ["%C0%AE", "%C0%AE"],
  ])("names the text: %j", (rest, text) => {
    expect(named(rest)).toBe(text);
  });

  it("names the allowance that the path would need", () => {
    const text = (rest: string) => named(rest, apiRow());
    expect(["a%2fb", "a//b", "a;b", "a%3Bb", "a%252Fb"].map(text)).toEqual([
      "%2F",
      "//",
      ";",
      ";",
      "%2F",
    ]);
  });

  it("is a short sentence for every path, without the query and without user info", () => {
    const detailOf = (target: string) =>
      (proxiedUrl(ALL, target) as { readonly detail: string }).detail;
    expect(detailOf("/api/orders/..?secret=1")).not.toContain("secret");
    expect(detailOf("/api/orders/x?secret=é")).toBe(
      "The query contains a character that must be encoded.",
    );
    expect(detailOf("https://ada:secret@x/?secret")).toBe(
      'The path contains "https://***@x/", which an API could read in another way than idpauth.',
    );
    expect(detailOf(`/api/orders/${";".repeat(9_000)}%2F`).length).toBeLessThan(140);
  });
});

describe("the time for a path", () => {
  const long = (piece: string) => (size: number) =>
    piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  it.each<[string, (size: number) => string]>([
    ["percent signs, encoded again and again", (size) => `%${long("25")(size)}2e`],
    ["percent signs, encoded and lone", long("%25")],
    ["encoded letters behind others", (size) => `%${long("25")(size)}zz`],
    ["parameters", long(";")],
    ["parameters and encoded slashes", long(";%2")],
    ["slashes", long("a/")],
    ["dots and spaces", (size) => `${long(".%20")(size)}x`],
    ["spaces before dots", (size) => `${long("%20")(size)}x`],
    ["characters that look like others", long("%EF%B7%BA")],
    ["dots that are trimmed", (size) => `${long(".")(size)}x`],
    ["words", long("%C3%A9")],
  ])("grows with its length: %s", (_what, rest) => {
    const api = apiRow({ paths: EVERYTHING, rules: [{ path: "admin", maxAge: 60 }] });
    const fastest = (size: number) => {
      const target = `/api/orders/${rest(size)}`;
      const spans = Array.from({ length: 20 }, () => {
        const start = performance.now();
        proxiedUrl(api, target);
        rulesFor(api, { method: "GET", target });
        return performance.now() - start;
      });
      return Math.min(...spans);
    };
    // A rule that backtracks takes 256 times as long. A path as long as Node's limit takes less
    // than a millisecond.
    expect(fastest(32_768) / fastest(2_048)).toBeLessThan(80);
  });
});

describe("the path that the application passes to fetchApi", () => {
  it("obeys the same rules", () => {
    const href = (rest: string) => {
      const url = upstreamUrl(apiRow(), rest);
      return url instanceof URL ? url.href : url.code;
    };
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

describe("the rules for a path", () => {
  const ADMIN: ApiRule = { path: "admin", maxAge: 60 };
  const matches = (rest: string, rule: ApiRule = ADMIN, method = "GET") =>
    rulesFor(apiRow({ rules: [rule] }), { method, target: `/api/orders/${rest}` }).length === 1;

  it.each([
    "admin",
    "admin/",
    "admin?x=1",
    "admin/users/5",
    "Admin",
    "ADMIN/users",
    "admin;x=1",
    "admin;x/users",
    "admin%3Bx",
    "admin%253Bx",
    "admin%3Fx",
    "admin%23x",
    "admin%20",
    "%20admin",
    "%2520admin",
    "admin.",
    "admin.%20.",
    "/admin",
    "%2Fadmin",
    "%252Fadmin",
    ";x/admin",
    "%20/admin",
    "adm%C4%B1n",
    "ad%FFmin",
    "%C2%85admin",
    "%EF%BD%81dmin",
    "ADM%C4%B0N",
    "admin%2Fusers",
    // What looks like a slash, a backslash or a semicolon, and what isn't seen.
    "admin%EF%BC%8Fusers",
    "%EF%BC%8Fadmin",
    "admin%E2%88%95users",
    "admin%E2%81%84users",
    "admin%EF%BC%BCusers",
    "admin%C2%A5users",
    "admin%EF%BC%9Bx",
    "adm%C2%ADin",
    "adm%E2%80%8Bin",
    "%EF%BB%BFadmin",
    "admin::$DATA",
    "admin:$i30:$INDEX_ALLOCATION/users",
  ])("concern each spelling of it that a server could accept: %s", (rest) => {
    expect([rest, matches(rest)]).toEqual([rest, true]);
  });

  it.each([
    "",
    "?admin",
    "administration",
    "admin-x",
    "admin.json",
    "x/admin",
    "adm",
    "adm/in",
    "ad min",
    "x;admin",
    "items?x=/admin",
    "a%3B/x",
    "admin:x",
  ])("don't concern another one: %s", (rest) => {
    expect([rest, matches(rest)]).toEqual([rest, false]);
  });

  it("compare several segments, and those of other languages", () => {
    const rule = { path: "Größe/my items/", maxAge: 60 };
    expect(matches("gr%C3%B6%C3%9Fe/my%20items/5", rule)).toBe(true);
    expect(matches("GRO%CC%88SSE/My%20Items", rule)).toBe(true);
    expect(matches("GR%C3%96%E1%BA%9EE/My%20Items", rule)).toBe(true);
    expect(matches("gr%C3%B6%C3%9Fe;x//my%20items;y", rule)).toBe(true);
    expect(matches("gr%C3%B6%C3%9Fe%2Fmy%20items", rule)).toBe(true);
    expect(matches("gr%C3%B6%C3%9Fe", rule)).toBe(false);
    expect(matches("gr%C3%B6%C3%9Fe/items", rule)).toBe(false);
  });

  it("hold for every path without one, and for all methods without a list", () => {
    const all = { maxAge: 60 };
    expect(matches("", all)).toBe(true);
    expect(matches("items/5", all, "DELETE")).toBe(true);
  });

  it("hold for the methods that they list, and for HEAD as for GET", () => {
    const rule = (methods: string[]) => ({ ...ADMIN, methods });
    expect(matches("admin", rule(["DELETE", "GET"]))).toBe(true);
    expect(matches("admin", rule(["GET"]), "HEAD")).toBe(true);
    expect(matches("admin", rule(["HEAD"]), "HEAD")).toBe(true);
    expect(matches("admin", rule(["HEAD"]))).toBe(false);
    expect(matches("admin", rule(["DELETE"]))).toBe(false);
    expect(matches("admin", rule(["POST"]), "HEAD")).toBe(false);
    expect(matches("items", rule(["GET"]))).toBe(false);
  });

  it("hold all that match, in their order", () => {
    const rules = [
      { maxAge: 1 },
      { path: "x", maxAge: 2 },
      ADMIN,
      { path: "admin/users", maxAge: 3 },
    ];
    const found = (rest: string) =>
      rulesFor(apiRow({ rules }), { method: "GET", target: `/api/orders/${rest}` }).map(
        ({ maxAge }) => maxAge,
      );
    expect(found("admin/users")).toEqual([1, 60, 3]);
    expect(found("items")).toEqual([1]);
    expect(rulesFor(apiRow(), { method: "GET", target: "/api/orders/%" })).toEqual([]);
  });
});

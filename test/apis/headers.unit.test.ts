import { describe, expect, it } from "vitest";
import { challengeOf, stepUpReply } from "../../src/apis/challenge.js";
import { lengthOf, requestHeaders } from "../../src/apis/request-headers.js";
import { responseHeaders } from "../../src/apis/response-headers.js";
import { readApis } from "../../src/config/api-options.js";
import { apiRow } from "./api-row.js";

const TOKEN = "token-2f9c";
const SENDER = { token: TOKEN, origin: "https://app.example:8443", client: "192.0.2.7" };
const OURS = {
  authorization: `Bearer ${TOKEN}`,
  forwarded: 'for=192.0.2.7;host="app.example:8443";proto=https',
  "x-forwarded-for": "192.0.2.7",
  "x-forwarded-host": "app.example:8443",
  "x-forwarded-proto": "https",
};
const passed = (lines: readonly (readonly [string, string])[], api = apiRow(), sender = SENDER) =>
  Object.fromEntries(requestHeaders(lines.flat(), api, sender));

const DROPPED = ["Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Proxy-X", "HTTP2-Settings",
  "Cookie", "Authorization", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-User", "Host", "Content-Length", "Expect",
  "Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-User", "X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL",
  "X-Idpauth", "X-Idpauth-Anything", ":authority", ":path"]; // prettier-ignore

describe("the headers of a request for an API", () => {
  it.each(DROPPED)("don't include the browser's %s", (name) => {
    expect(passed([[name, "browser"]])).toEqual(OURS);
  });

  it.each([
    "AUTHORIZATION",
    "X_Forwarded_For",
    "x.forwarded.host",
    "X-Forwarded_Proto",
    "X_Idpauth",
    "x_original.url",
    "Content_Length",
    "Transfer_Encoding",
    "sec_fetch_site",
  ])("don't include %s, whose name differs from one of those only by case, _ or .", (name) => {
    expect(passed([[name, "browser"]])).toEqual(OURS);
  });

  it("include everything else, with repeated lines joined", () => {
    const lines = [["Accept", "text/html"], ["X-Custom_Name", "1"], ["accept", "*/*"], ["If-None-Match", '"a"'], ["Sec-WebSocket-Key", "k"], ["__proto__", "x"]] as const; // prettier-ignore
    expect([...requestHeaders(lines.flat(), apiRow(), SENDER).keys()].slice(0, 5)).toEqual([
      "accept",
      "x-custom_name",
      "if-none-match",
      "sec-websocket-key",
      "__proto__",
    ]);
    expect(passed(lines)).toMatchObject({ ...OURS, accept: "text/html, */*" });
  });

  it("don't include what Connection names, but ours can't be removed this way", () => {
    const lines = [
      ["X-Secret", "1"],
      ["X-Kept", "2"],
      ["Connection", "close, X-Secret"],
      ["Connection", "authorization , x-forwarded-for"],
    ] as const;
    expect(passed(lines)).toEqual({ ...OURS, "x-kept": "2" });
  });

  it("include the API's own headers in place of the browser's, in any spelling", () => {
    const api = apiRow({
      requestHeaders: { "x-api-key": "ours", origin: true, "sec-fetch-site": true },
    });
    const lines = [
      ["X-Api-Key", "a"],
      ["x_api_key", "b"],
      ["Origin", "https://app.example"],
      ["Sec-Fetch-Site", "none"],
      ["Sec_Fetch_Site", "x"],
    ] as const;
    expect(passed(lines, api)).toEqual({
      ...OURS,
      "x-api-key": "ours",
      origin: "https://app.example",
      "sec-fetch-site": "none",
    });
  });

  it.each([
    ["2001:db8::1", 'for="[2001:db8::1]"', "2001:db8::1"],
    ["::ffff:192.0.2.1", "for=192.0.2.1", "192.0.2.1"],
    [undefined, "for=unknown", undefined],
    ['x";host=evil', "for=unknown", undefined],
    ["unix:", "for=unknown", undefined],
  ])("name the browser's address %s as %s", (client, node, plain) => {
    const headers = passed([], apiRow(), { ...SENDER, client } as typeof SENDER);
    expect([headers["forwarded"], headers["x-forwarded-for"]]).toEqual([
      `${node};host="app.example:8443";proto=https`,
      plain,
    ]);
  });

  it("request an event stream without compression", () => {
    const lines = [["Accept-Encoding", "gzip, br"]] as const;
    expect(passed(lines)["accept-encoding"]).toBe("gzip, br");
    expect(passed([...lines, ["Accept", "text/event-stream"]])["accept-encoding"]).toBe("identity");
  });

  it("may be listed by the table, except for those that the proxy owns", () => {
    const refused = (name: string) =>
      readApis({ a: { url: "https://a.example/", requestHeaders: { [name]: true } } }, []).findings
        .length > 0;
    expect(
      ["origin", "referer", "sec-fetch-site", "x-api-key", "x-original-url"].some(refused),
    ).toBe(false);
    expect(
      ["cookie", "authorization", "x-forwarded-for", "connection", "host", "x-idpauth"].every(
        refused,
      ),
    ).toBe(true);
  });
});

describe("the length of a request's body", () => {
  it.each([
    [[], undefined],
    [[["Content-Length", "0"]], 0],
    [[["content-length", "12"]], 12],
    [[["Transfer-Encoding", "Chunked"]], "chunked"],
    [[["Content-Length", "5"], ["Transfer-Encoding", "chunked"]], "invalid"],
    [[["Content-Length", "5"], ["Content-Length", "5"]], "invalid"],
    [[["Transfer-Encoding", "chunked"], ["Transfer-Encoding", "chunked"]], "invalid"],
    [[["Transfer-Encoding", "gzip, chunked"]], "invalid"],
    [[["Content-Length", "+5"]], "invalid"],
    [[["Content-Length", "5, 5"]], "invalid"],
    [[["Content-Length", "0x5"]], "invalid"],
  ] as const)("of %j is %s", (lines, expected) => {
    expect(lengthOf(lines.flat())).toBe(expected);
  }); // prettier-ignore
});

const ANSWERED = {
  url: new URL("https://orders.internal/v2/items/5?x=1"),
  token: TOKEN,
  pathPrefix: "",
};
const ADDED = {
  "Cache-Control": "private, no-store",
  Vary: "Cookie",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox",
  "Cross-Origin-Resource-Policy": "same-origin",
};
const given = (lines: readonly (readonly [string, string])[], api = apiRow(), about = ANSWERED) =>
  responseHeaders(lines.flat(), api, about);

describe("the headers of a response for the browser", () => {
  it.each(["Connection", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade", "Proxy-Authenticate", "Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
    "WWW-Authenticate", "X-Accel-Redirect", "X-Accel-Buffering", "X-Sendfile", "Service-Worker-Allowed", "Refresh", "Strict-Transport-Security", "Alt-Svc", "Surrogate-Control", "CDN-Cache-Control"])(
    "don't include the API's %s",
    (name) => {
      expect(given([[name, "x"]])).toEqual(ADDED);
    },
  ); // prettier-ignore

  it("include everything else, and what keeps the content private and without scripts", () => {
    expect(
      given([
        ["content-type", "text/html"],
        ["ETag", '"1"'],
        ["Content-Length", "5"],
        ["Link", "<a>"],
        ["link", "<b>"],
      ]),
    ).toEqual({
      ...ADDED,
      "Content-Type": "text/html",
      Etag: '"1"',
      "Content-Length": "5",
      Link: "<a>, <b>",
    });
  });

  it("don't include what Connection names, nor a header that repeats the token", () => {
    expect(
      given([
        ["X-Hop", "1"],
        ["Connection", "x-hop"],
        ["X-Echo", `Bearer ${TOKEN}`],
      ]),
    ).toEqual(ADDED);
  });

  it.each([
    ["public", "private"],
    ["public, max-age=60, s-maxage=600", "private, max-age=60"],
    ["S-MaxAge=5,Public,no-cache", "private, no-cache"],
    ["no-store", "no-store"],
    ["private, max-age=5", "private, max-age=5"],
    ['private="x-a, x-b", max-age=5', 'private, private="x-a, x-b", max-age=5'],
    ["", "private"],
  ])(
    "never let a shared cache store the response: Cache-Control %s becomes %s",
    (before, after) => {
      expect(given([["Cache-Control", before]])?.["Cache-Control"]).toBe(after);
    },
  );

  it("keep the API's Vary and Content-Security-Policy, and replace its weaker protections", () => {
    const headers = given([["Vary", "Accept"], ["Content-Security-Policy", "default-src 'none'"], ["Cross-Origin-Resource-Policy", "cross-origin"], ["X-Content-Type-Options", "x"]]); // prettier-ignore
    expect(headers).toEqual({
      ...ADDED,
      Vary: "Accept, Cookie",
      "Content-Security-Policy": "default-src 'none', sandbox",
    });
  });

  it("keep proxies from compressing or buffering an event stream", () => {
    const headers = given([["Content-Type", "text/event-stream; charset=utf-8"]]);
    expect([headers?.["Cache-Control"], headers?.["X-Accel-Buffering"]]).toEqual([
      "private, no-store, no-transform",
      "no",
    ]);
  });

  it("are changed by the API's table", () => {
    const api = apiRow({
      responseHeaders: {
        "strict-transport-security": true,
        "content-security-policy": "sandbox allow-scripts",
      },
    });
    expect(
      given(
        [
          ["Strict-Transport-Security", "max-age=1"],
          ["Alt-Svc", "x"],
        ],
        api,
      ),
    ).toEqual({
      ...ADDED,
      "Strict-Transport-Security": "max-age=1",
      "Content-Security-Policy": "sandbox allow-scripts",
    });
    const refused = (name: string) =>
      readApis({ a: { url: "https://a.example/", responseHeaders: { [name]: "x" } } }, []).findings
        .length > 0;
    expect(["set-cookie", "x-accel-redirect", "connection", "clear-site-data"].every(refused)).toBe(
      true,
    );
    expect(refused("alt-svc")).toBe(false);
  });

  it.each([
    ["https://orders.internal/v2/items/6", "/api/orders/items/6"],
    ["/v2/items/6?y=2#z", "/api/orders/items/6?y=2#z"],
    ["6", "/api/orders/items/6"],
    ["?y=2", "/api/orders/items/5?y=2"],
    ["../", "/api/orders/"],
    ["//orders.internal/v2/", "/api/orders/"],
  ])("redirect within the API: Location %s becomes %s", (location, expected) => {
    expect(given([["Location", location]])?.["Location"]).toBe(expected);
    expect(
      given([["Location", location]], apiRow(), { ...ANSWERED, pathPrefix: "/app" })?.["Location"],
    ).toBe(`/app${expected}`);
  });

  it.each([
    "https://evil.example/v2/",
    "/",
    "/v2",
    "/v3/x",
    "../../admin",
    "//evil.example/v2/",
    "https://orders.internal:8443/v2/",
    "http://orders.internal/v2/",
    "https://user@orders.internal/v2/",
    "javascript:alert(1)",
    "http://[",
    "/v2/../x",
  ])("are no response if Location leaves the API's base: %s", (location) => {
    expect(given([["Location", location]])).toBeUndefined();
  });
});

describe("the challenge of an API", () => {
  const of = (status: number, value: string) => challengeOf(status, ["WWW-Authenticate", value]);

  it("is a step-up if the API requires another authentication", () => {
    const challenge = of(
      401,
      'Bearer error="insufficient_user_authentication", error_description="a \\"b\\"", acr_values="mfa phr", max_age=60',
    );
    expect(challenge).toEqual({
      status: 401,
      error: "insufficient_user_authentication",
      parameters: { acr_values: "mfa phr", max_age: "60" },
    });
    const reply = stepUpReply(
      challenge!,
      `/idpauth/login/?${new URLSearchParams(challenge!.parameters).toString()}`,
    );
    expect([reply.status, JSON.parse(reply.body!)]).toEqual([
      401,
      { authenticated: true, error: "insufficient_user_authentication", acr_values: "mfa phr", max_age: "60", login_url: "/idpauth/login/?acr_values=mfa+phr&max_age=60" },
    ]); // prettier-ignore
  });

  it("is a step-up if the API requires another scope", () => {
    expect(
      of(403, 'Basic realm="x", Bearer scope="orders:write a", error=insufficient_scope'),
    ).toEqual({
      status: 403,
      error: "insufficient_scope",
      parameters: { scope: "orders:write a" },
    });
  });

  it("is none for other errors and statuses, and leaves invalid parameters out", () => {
    expect(of(401, 'Bearer error="invalid_token"')).toBeUndefined();
    expect(of(401, 'Bearer error="insufficient_scope"')).toBeUndefined();
    expect(of(403, 'Bearer error="insufficient_user_authentication"')).toBeUndefined();
    expect(of(200, 'Bearer error="insufficient_scope"')).toBeUndefined();
    expect(challengeOf(401, [])).toBeUndefined();
    expect(
      of(403, `Bearer error="insufficient_scope", scope="${"x".repeat(1001)}"`)?.parameters,
    ).toEqual({});
    expect(
      of(401, 'Bearer error="insufficient_user_authentication", max_age="-1", acr_values="a  b"')
        ?.parameters,
    ).toEqual({});
  });
});

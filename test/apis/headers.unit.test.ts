import { describe, expect, it } from "vitest";
import { challengeOf } from "../../src/apis/challenge.js";
import { byName, lengthOf, requestHeaders } from "../../src/apis/request-headers.js";
import { isEventStreamType, responseHeaders } from "../../src/apis/response-headers.js";
import { readApis } from "../../src/config/read-apis.js";
import { apiRow } from "./api-row.js";

const TOKEN = "token-2f9c";
const SENDER = {
  token: { value: TOKEN },
  origin: "https://app.example:8443",
  client: "192.0.2.7",
  pathPrefix: "/app",
};
const OURS = {
  authorization: `Bearer ${TOKEN}`,
  forwarded: 'for=192.0.2.7;host="app.example:8443";proto=https',
  "x-forwarded-for": "192.0.2.7",
  "x-forwarded-host": "app.example:8443",
  "x-forwarded-prefix": "/app/api/orders",
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
    "X~Forwarded~For",
    "X_Idpauth",
    "x_original.url",
    "Content_Length",
    "Content~Type",
    "accept.language",
    "Transfer_Encoding",
    "sec_fetch_site",
  ])("don't include %s, which some servers take for another name", (name) => {
    expect(passed([[name, "browser"]])).toEqual(OURS);
  });

  const IDENTITY = ["Remote-User", "X-Remote-User", "X-Remote-Group", "X-Auth-Request-User", "X-Auth-Request-Email", "X-Authenticated-Userid", "X-WebAuth-User", "X-Consumer-Username", "X-Credential-Identifier", "X-User", "X-User-Id", "X-Username", "X-Userinfo", "X-Email", "X-Groups", "X-Roles", "X-Access-Token", "X-Id-Token", "X-Jwt-Assertion", "OIDC-Claim-Sub", "Impersonate-User", "SM-User", "IV-User", "X-MS-Client-Principal", "X-MS-Client-Principal-Id", "X-MS-Token-AAD-Id-Token", "X-Goog-Authenticated-User-Email", "X-Goog-Iap-Jwt-Assertion", "X-Amzn-Oidc-Identity", "Cf-Access-Jwt-Assertion", "X-Authentik-Username", "X-Pomerium-Claim-Email", "Tailscale-User-Login", "X-Envoy-External-Address", "X-Envoy-Original-Path", "X-Original-Host", "X-Original-Forwarded-For", "X-Forwarded-User", "X-Forwarded-Client-Cert",
    "X-SSL-Client-Verify", "X-SSL-Client-S-DN", "SSL-Client-Cert", "Client-Cert", "Client-Cert-Chain", "X-Client-Cert", "X-ARR-ClientCert", "X-Client-Verify", "X-Client-DN", "X-TLS-Client-Subject", "X-Amzn-Mtls-Clientcert", "X-Certificate"]; // prettier-ignore

  it.each(IDENTITY)("never include the browser's %s, even if the table lists it", (name) => {
    expect(passed([[name, "browser"]])).toEqual(OURS);
    const listed = apiRow({ requestHeaders: { [name.toLowerCase()]: true } });
    expect(passed([[name, "browser"]], listed)).toEqual(OURS);
    const given = { a: { url: "https://a.example/", requestHeaders: { [name]: true } } };
    expect(readApis(given, []).findings).toHaveLength(1);
  });

  it("may name a user whom the table names", () => {
    const given = { a: { url: "https://a.example/", requestHeaders: { "Remote-User": "shop" } } };
    const { apis, findings } = readApis(given, []);
    expect(findings).toEqual([]);
    expect(passed([["remote-user", "root"]], apis.get("a"))).toMatchObject({
      "remote-user": "shop",
    });
  });

  const SENT = ["Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Datetime", "Content-Type", "Content-Encoding", "Content-Language", "Content-Disposition", "Content-Digest", "Content-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range", "Prefer", "Idempotency-Key", "User-Agent", "traceparent", "tracestate", "Last-Event-ID", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions"]; // prettier-ignore

  it.each(SENT)("include the browser's %s", (name) => {
    expect(passed([[name, "browser"]])).toEqual({ ...OURS, [name.toLowerCase()]: "browser" });
  });

  it.each(["baggage", "X-Own", "X-Requested-With", "HX-Request", "X-CSRF-Token", "Cache-Control", "Pragma", "Priority", "DNT", "Sec-CH-UA", "Via", "From", "Date", "X-Real-IP", "X-HTTP-Method-Override", "Accept-", "Content-", "If-", "Xaccept", "Ranges", "__proto__", "constructor"])(
    "include the browser's %s only if the table lists it",
    (name) => {
      expect(passed([[name, "browser"]])).toEqual(OURS);
      const listed = apiRow({ requestHeaders: Object.fromEntries([[name.toLowerCase(), true]]) });
      expect(passed([[name, "browser"]], listed)).toHaveProperty([name.toLowerCase()], "browser");
    },
  ); // prettier-ignore

  it("include repeated lines joined, and empty values", () => {
    const lines = [["Accept", "text/html"], ["If-None-Match", '"a"'], ["accept", "*/*"], ["Prefer", ""]] as const; // prettier-ignore
    expect([...requestHeaders(lines.flat(), apiRow(), SENDER).keys()].slice(0, 3)).toEqual([
      "accept",
      "if-none-match",
      "prefer",
    ]);
    expect(passed(lines)).toEqual({
      ...OURS,
      accept: "text/html, */*",
      "if-none-match": '"a"',
      prefer: "",
    });
  });

  it.each([
    ["", "/api/orders/", "/api/orders"],
    ["/app", "/", "/app"],
    ["", "/", undefined],
  ])("name the prefix %s and the path %s as %s", (pathPrefix, path, expected) => {
    const headers = passed([], apiRow({ path }), { ...SENDER, pathPrefix });
    expect(headers["x-forwarded-prefix"]).toBe(expected);
  });

  it("don't include what Connection names, but ours can't be removed this way", () => {
    const lines = [
      ["Prefer", "1"],
      ["Range", "2"],
      ["Connection", "close, Prefer"],
      ["Connection", "authorization , x-forwarded-for"],
    ] as const;
    expect(passed(lines)).toEqual({ ...OURS, range: "2" });
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

  it("take no part of a text for an address, and say nothing about an unknown origin", () => {
    const sender = { ...SENDER, client: "10.0.0.1 evil", origin: undefined };
    // A header that is undefined would be an error of Node.js.
    expect(passed([], apiRow(), sender as unknown as typeof SENDER)).toStrictEqual({
      authorization: `Bearer ${TOKEN}`,
      forwarded: "for=unknown",
      "x-forwarded-prefix": "/app/api/orders",
    });
    const mapped = passed([], apiRow(), { ...SENDER, client: "64::ffff:1.2.3.4" });
    expect(mapped["x-forwarded-for"]).toBe("64::ffff:1.2.3.4");
  });

  it("have no prefix for an API without a path", () => {
    const sender = { ...SENDER, pathPrefix: "" };
    const { path: _none, ...row } = apiRow();
    expect(passed([], { ...row, path: undefined }, sender)).not.toHaveProperty(
      "x-forwarded-prefix",
    );
  });

  it("with digits pass, and with other characters they don't", () => {
    expect(passed([["Content-MD5", "1"], ["Sec-WebSocket-Key1", "2"], ["Accept-é", "3"], ["Sec-WebSocket-é", "4"]])).toEqual({ ...OURS, "content-md5": "1", "sec-websocket-key1": "2" }); // prettier-ignore
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

describe("what is remembered of a header's name", () => {
  const counted = () => {
    const decided: string[] = [];
    const nameOf = byName((name) => {
      decided.push(name);
      return name === "dropped" ? "" : name;
    });
    return { decided, nameOf };
  };

  it("is decided once for each API and spelling", () => {
    const { decided, nameOf } = counted();
    const [one, other] = [apiRow(), apiRow()];
    for (const api of [one, one, other]) expect(nameOf("Accept", api)).toBe("accept");
    expect([nameOf("dropped", one), nameOf("dropped", one)]).toEqual(["", ""]);
    expect(decided).toEqual(["accept", "accept", "dropped"]);
  });

  it.each([
    ["a", 100, 1],
    ["a", 101, 2],
  ])("is kept for names of at most 100 characters: %s of %i", (letter, length, times) => {
    const { decided, nameOf } = counted();
    const api = apiRow();
    for (let at = 0; at < 2; at++) nameOf(letter.repeat(length), api);
    expect(decided).toHaveLength(times);
  });

  it("is kept for 500 names", () => {
    const { decided, nameOf } = counted();
    const api = apiRow();
    for (let round = 0; round < 2; round++)
      for (let at = 0; at < 501; at++) nameOf(`x-${String(at)}`, api);
    expect(decided).toHaveLength(502);
  });
});

describe("the length of a request's body", () => {
  it.each([
    [[], undefined],
    [[["X-Content-Size", "7"]], undefined],
    [[["X-Content-Size", "7"], ["Content-Length", "5"]], 5],
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
  status: 200,
  url: new URL("https://orders.internal/v2/items/5?x=1"),
  origin: "https://app.example",
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
  responseHeaders(lines.flat(), api, about).headers;

describe("the headers of a response for the browser", () => {
  it("have a Content-Length only if the API's have one, and then after Content-Disposition", () => {
    expect(given([])).not.toHaveProperty("Content-Length");
    expect(given([["Content-Disposition", "inline"]])).not.toHaveProperty("Content-Length");
    const both = given([
      ["Content-Length", "5"],
      ["Content-Disposition", "inline"],
    ]);
    expect(Object.keys(both).at(-1)).toBe("Content-Length");
    expect(both["Content-Length"]).toBe("5");
  });

  it.each(["Connection", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade", "Proxy-Authenticate", "Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
    "WWW-Authenticate", "X-Accel-Redirect", "X-Accel-Buffering", "X-Sendfile", "Service-Worker-Allowed", "Refresh", "Strict-Transport-Security", "Alt-Svc", "NEL", "Report-To", "Reporting-Endpoints", "Speculation-Rules", "Attribution-Reporting-Register-Source", "Origin-Agent-Cluster", "X-Idpauth", "X-Idpauth-Login", "X-Idpauth-Anything", "Surrogate-Control", "CDN-Cache-Control", "Edge-Control", "X-Send-File", "X-Lighttpd-Send-File", "X-LiteSpeed-Location", "X-Reproxy-URL", "X-AppEngine-BlobKey", "Fly-Replay", "X-Envoy-Immediate-Health-Check-Fail", "X-Middleware-Rewrite"])(
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
        ["X-Repeated", "a"],
        ["x-repeated", "b"],
        ["X-Empty", ""],
      ]),
    ).toEqual({
      ...ADDED,
      "Content-Type": "text/html",
      Etag: '"1"',
      "Content-Length": "5",
      "X-Repeated": "a, b",
      "X-Empty": "",
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
    ["public, no-store, must-understand", "private, no-store, must-understand"],
    ["Must-Understand=1, no-store", "private, Must-Understand=1, no-store"],
    ["private, must-understand", "private, must-understand"],
    ['public, max-age=60, x="no-store', "private, no-store"],
    ['x="a\\", no-store", public', 'private, x="a\\", no-store"'],
    ['x="a, no-store, public', "private, no-store"],
    ['max-age=60, "no-store"', "private, no-store"],
    ['x=a"b, no-store, max-age=60', "private, no-store"],
    ["max-age=60 no-store", "private, no-store"],
    ["max-age = 60, no-store", "private, no-store"],
    [" ,, max-age=60 ,public, ", "private, max-age=60"],
  ])(
    "never let a shared cache store the response: Cache-Control %s becomes %s",
    (before, after) => {
      expect(given([["Cache-Control", before]])["Cache-Control"]).toBe(after);
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

  it.each([
    "text/event-stream; charset=utf-8",
    "application/x-ndjson",
    "application/jsonl; charset=utf-8",
    "Application/JSON-seq",
    "application/stream+json",
  ])("keep proxies from compressing or buffering a stream of type %s", (type) => {
    const headers = given([["Content-Type", type]]);
    expect([headers["Cache-Control"], headers["X-Accel-Buffering"]]).toEqual([
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
    expect(
      ["set-cookie", "x-accel-redirect", "connection", "clear-site-data", "X-Idpauth"].every(
        refused,
      ),
    ).toBe(true);
    expect(refused("alt-svc")).toBe(false);
  });

  it.each(["X-Refresh", "Refresh-Hint", "Xnel", "Alt-Svc-Used", "Public-Key", "X-Sec-Session-Id", "Proxied", "X-Vary"])(
    "include %s, whose name contains one that needs listing",
    (name) => {
      const header = name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
      expect(given([[name, "x"]])).toEqual({ ...ADDED, [header]: "x" });
    },
  ); // prettier-ignore

  it.each(["Public-Key-Pins", "Public-Key-Pins-Report-Only", "Sec-Session-Registration", "Secure-Session-Challenge"])(
    "don't include %s",
    (name) => {
      expect(given([[name, "x"]])).toEqual(ADDED);
    },
  ); // prettier-ignore

  it.each([
    ["text/event-stream", true],
    ["TEXT/Event-Stream ;charset=utf-8", true],
    ["text/event-stream;", true],
    ["text/event-stream  ", true],
    ["text/event-streams", false],
    ["text/event-stream charset", false],
    ["x-text/event-stream", false],
    ["", false],
  ])("know an event stream by its type: %s is %s", (type, expected) => {
    expect("X-Accel-Buffering" in given([["Content-Type", type]])).toBe(expected);
    expect(isEventStreamType(type)).toBe(expected);
  });

  it("know no event stream without a type, and other streams are no event streams", () => {
    expect(isEventStreamType(undefined)).toBe(false);
    expect(isEventStreamType("application/x-ndjson")).toBe(false);
  });

  it.each([
    ["x-public, ms-maxage=5, public=1", "private, x-public, ms-maxage=5"],
    ["x-private, max-age=1", "private, x-private, max-age=1"],
    ["no-storex", "private, no-storex"],
    ["PRIVATE", "PRIVATE"],
  ])("take no directive for another one: Cache-Control %s becomes %s", (before, after) => {
    expect(given([["Cache-Control", before]])["Cache-Control"]).toBe(after);
  });

  it("say nothing about a Location that isn't there", () => {
    for (const status of [200, 302])
      expect(Object.keys(responseHeaders([], apiRow(), { ...ANSWERED, status }))).toEqual([
        "headers",
      ]);
  });

  it("have the length after the other headers of the API", () => {
    const names = Object.keys(given([["Content-Length", "5"], ["Content-Disposition", "inline"]])); // prettier-ignore
    expect(names.slice(-1)).toEqual(["Content-Length"]);
  });
});

const INSIDE = [
  ["https://orders.internal/v2/items/6", "/api/orders/items/6"],
  ["/v2/items/6?y=2#z", "/api/orders/items/6?y=2#z"],
  ["6", "/api/orders/items/6"],
  ["?y=2", "/api/orders/items/5?y=2"],
  ["", "/api/orders/items/5?x=1"],
  ["../", "/api/orders/"],
  ["//orders.internal/v2/", "/api/orders/"],
  ["http://orders.internal/v2/6", "/api/orders/6"],
  ["http://orders.internal:80/v2/6", "/api/orders/6"],
  ["http://orders.internal:443/v2/6", "/api/orders/6"],
  ["https://orders.internal:80/v2/6", "/api/orders/6"],
  ["HTTPS://ORDERS.INTERNAL/v2/6", "/api/orders/6"],
  ["/v2/caf\u00c3\u00a9", "/api/orders/caf%C3%A9"],
  ["https://app.example/app/api/orders/6?a=b#c", "/api/orders/6?a=b#c"],
  ["http://app.example/app/api/orders/", "/api/orders/"],
  ["/app/api/orders/6", "/api/orders/6"],
] as const;

const OUTSIDE = [
  "https://evil.example/v2/",
  "/",
  "/v2",
  "/v3/x",
  "../../admin",
  "//evil.example/v2/",
  "https://orders.internal:8443/v2/",
  "https://user@orders.internal/v2/",
  "https://:secret@orders.internal/v2/",
  "ftp://orders.internal/v2/",
  "javascript:alert(1)",
  "http://[",
  "/v2/../x",
  "https://app.example/app/admin",
  "https://app.example/api/orders/6",
  "https://app.example:8443/app/api/orders/6",
  "//evil.example/app/api/orders/",
  "/\\evil.example/app/api/orders/",
];

const PREFIXED = { ...ANSWERED, pathPrefix: "/app" };
const locationOf = (location: string, status: number, api = apiRow()) => {
  const returned = responseHeaders(["Location", location], api, { ...PREFIXED, status });
  return [returned.headers["Location"], returned.location];
};

describe("an API's Location", () => {
  it.each(INSIDE)("below its base or ours becomes our path: %s", (location, expected) => {
    for (const status of [200, 201, 202, 301, 302, 303, 307, 308])
      expect(locationOf(location, status)).toEqual([`/app${expected}`, undefined]);
  });

  it.each(OUTSIDE)("of a redirect outside both is refused: %s", (location) => {
    for (const status of [301, 302, 303, 307, 308])
      expect(locationOf(location, status)).toEqual([undefined, "refused"]);
  });

  it.each(OUTSIDE)("of a response that is no redirect is dropped: %s", (location) => {
    for (const status of [200, 201, 202, 204, 300, 304, 305, 306, 400, 503])
      expect(locationOf(location, status)).toEqual([undefined, "dropped"]);
  });

  it("of a redirect to a listed origin stays, and only there", () => {
    const api = apiRow({ redirects: ["https://files.example", "https://orders.internal"] });
    const file = "https://files.example/a?Signature=%2b%2f";
    expect(locationOf(file, 302, api)).toEqual([file, undefined]);
    expect(locationOf("//files.example/a", 302, api)).toEqual(["https://files.example/a", undefined]); // prettier-ignore
    expect(locationOf(file, 201, api)).toEqual([undefined, "dropped"]);
    expect(locationOf("http://files.example/a", 302, api)).toEqual([undefined, "refused"]);
    expect(locationOf("https://a@files.example/", 302, api)).toEqual([undefined, "refused"]);
    expect(locationOf("/v2/6", 302, api)).toEqual(["/app/api/orders/6", undefined]);
    expect(locationOf("/v3/6", 302, api)).toEqual(["https://orders.internal/v3/6", undefined]);
  });

  it("that occurs twice counts only if both are the same", () => {
    const of = (...values: string[]) =>
      responseHeaders(values.flatMap((value) => ["Location", value]), apiRow(), {
        ...ANSWERED,
        status: 302,
      }); // prettier-ignore
    expect(of("6", "6").headers["Location"]).toBe("/api/orders/items/6");
    expect(of("6", "7")).toMatchObject({ location: "refused" });
  });

  it("isn't ours only because it begins with a path like ours, if the proxy's path is the root", () => {
    const about = { ...ANSWERED, status: 201, origin: undefined };
    const returned = responseHeaders(["Location", "https://app.example/x"], apiRow({ path: "/" }), about); // prettier-ignore
    expect(returned.location).toBe("dropped");
  });
});

describe("a Location below both the API's base and the proxy's path", () => {
  const of = (location: string, base: string, path: string) => {
    const url = new URL(`https://orders.internal${base}`);
    const { headers } = responseHeaders(["Location", location], apiRow({ url, path }), {
      ...ANSWERED,
      status: 302,
      url: new URL("items/5", url),
    });
    return headers["Location"];
  };

  it.each([
    ["/api/orders/6", "/", "/api/orders/", "/api/orders/6"],
    ["/other/6", "/", "/api/orders/", "/api/orders/other/6"],
    ["/api/orders/v2/6", "/api/orders/v2/", "/api/orders/", "/api/orders/6"],
    ["/api/orders/6", "/api/orders/", "/api/orders/", "/api/orders/6"],
    ["/api/orders/6", "/api/", "/api/orders/", "/api/orders/6"],
    ["/v2/6", "/v2/", "/", "/6"],
    ["/v2/a//", "/v2/", "/", "/a//"],
    ["/v3/6", "/v2/", "/", undefined],
    ["/v2//evil.example/", "/v2/", "/", undefined],
    ["https://app.example/6", "/v2/", "/", "/6"],
    ["https://app.example//evil.example/", "/v2/", "/", undefined],
    ["xhttps://orders.internal/v2/6", "/v2/", "/", undefined],
    ["httpsx://orders.internal/v2/6", "/v2/", "/", undefined],
  ])("is what the longer path says: %s with %s and %s is %s", (location, base, path, expected) => {
    expect(of(location, base, path)).toBe(expected);
  });
});

describe("other addresses of an API's response", () => {
  it.each(["Content-Location", "SourceMap", "X-SourceMap"])("are rewritten in %s", (name) => {
    const header = name === "Content-Location" ? name : name.replace("SourceMap", "Sourcemap");
    for (const [address, expected] of INSIDE)
      expect(given([[name, address]], apiRow(), PREFIXED)[header]).toBe(`/app${expected}`);
    for (const address of OUTSIDE)
      expect(given([[name, address]], apiRow(), PREFIXED)).not.toHaveProperty(header);
    const api = apiRow({ redirects: ["https://files.example"] });
    expect(given([[name, "https://files.example/a"]], api)).not.toHaveProperty(header);
  });

  it.each([
    ['<6>; rel="next"', '</api/orders/items/6>; rel="next"'],
    ['</v2/a>; rel="a, b"; title="x<y>", <https://evil.example/>; rel=b,<7>;rel=c', '</api/orders/items/a>; rel="a, b"; title="x<y>", </api/orders/items/7>;rel=c'],
    ['  , ,<6> ,,', "</api/orders/items/6>"],
    ['<6>; title="a \\" <b>, c"; rel=d', '</api/orders/items/6>; title="a \\" <b>, c"; rel=d'],
    ['<6>; rel="next"; anchor="https://orders.internal/v2/"', undefined],
    ["<6>;ANCHOR = x, <7>;  anchor=y, <8>; xanchor=z", "</api/orders/items/8>; xanchor=z"],
    ["<6> ;rel=a , <7>", "</api/orders/items/6> ;rel=a, </api/orders/items/7>"],
    ["<https://evil.example/>; rel=preconnect", undefined],
    ['<6>; rel=a, <7>; rel="b', "</api/orders/items/6>; rel=a"],
    ["6; rel=next", undefined],
    ["", undefined],
  ])("are rewritten or dropped in each value of Link: %s", (link, expected) => {
    const place = { ...ANSWERED, url: new URL("https://orders.internal/v2/items/5") };
    const before = link.replace("</v2/a>", "</v2/items/a>");
    expect(given([["Link", before]], apiRow(), place)["Link"]).toBe(expected);
  }); // prettier-ignore

  it("of repeated Link lines are one list", () => {
    expect(given([["Link", "<6>; rel=a"], ["Link", "<7>; rel=b"]])["Link"]).toBe("</api/orders/items/6>; rel=a, </api/orders/items/7>; rel=b"); // prettier-ignore
  });

  it("are read in time that grows with their length", () => {
    const start = process.cpuUsage();
    for (const link of ["<a>;".repeat(20_000), '<a>;"'.repeat(20_000), "<".repeat(80_000), " ,".repeat(40_000), "<a>,".repeat(20_000)])
      given([["Link", link]]); // prettier-ignore
    expect(process.cpuUsage(start).user).toBeLessThan(2_000_000);
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

  it.each<[string, object]>([
    ['acr_values="mfa"', { acr_values: "mfa" }],
    ["acr_values=mfa", { acr_values: "mfa" }],
    ['acr_values = "mfa"', { acr_values: "mfa" }],
    ['ACR_Values="mf\\a p\\h\\r"', { acr_values: "mfa phr" }],
    ['acr_values=""', {}],
    ['acr_values=" mfa"', {}],
    ['acr_values="mfa "', {}],
    ["max_age=60", { max_age: "60" }],
    ['max_age="60x"', {}],
    ['max_age="x60"', {}],
    ["max_age=1234567890", {}],
    ["scope=a", { scope: "a" }],
    ['scope="a bc def"', { scope: "a bc def" }],
    ['scope="a \\"b"', {}],
    ['scope="\\"a b"', {}],
    ['scope="a  b"', {}],
    [`scope="${"x".repeat(1000)}"`, { scope: "x".repeat(1000) }],
    [`scope="${"x".repeat(1001)}"`, {}],
  ])("has the parameters that are valid: %s has %j", (parameter, parameters) => {
    const value = `Bearer error=insufficient_scope, ${parameter}`;
    expect(of(403, value)?.parameters).toEqual(parameters);
  });

  it("may be one of several lines", () => {
    const lines = ["WWW-Authenticate", "Bearer error=insufficient_scope", "www-authenticate", "Basic realm=x"];
    expect(challengeOf(403, lines)).toMatchObject({ error: "insufficient_scope" });
  }); // prettier-ignore

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

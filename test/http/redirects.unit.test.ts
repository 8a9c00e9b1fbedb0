import { describe, expect, it } from "vitest";
import {
  isRedirectSetting,
  redirectSettingInAscii,
  requestOrigin,
} from "../../src/http/redirects.js";
import { MAX_ORIGIN_URL_LENGTH, sameOriginUrl } from "../../src/http/same-origin-url.js";

const OWN = "https://app.example";

const HOSTILE: Record<string, readonly string[]> = {
  "the own origin as the prefix of another host": [
    "https://app.example.evil.test",
    "https://app.example.evil.test/",
    "https://app.example-evil.test/",
    "https://app.examplex/",
    "https://app.example0/",
    "https://app.example_evil.test/",
    "https://app.example.",
    "https://app.example./",
    "https://app.example,evil.test/",
    "https://app.example;evil.test/",
    "https://app.example!evil.test/",
    "https://app.example&evil.test/",
    "https://app.example~evil.test/",
    "https://app.example'evil.test/",
    "https://app.example|evil.test/",
    "https://app.example%evil.test/",
    "https://app.example$evil.test/",
    "https://app.example(.evil.test/",
    "https://app.example[evil.test]/",
    "https://app.example*/",
    "https://app.example=evil.test",
    "https://app.example+.evil.test",
  ],
  "the own origin as the suffix of another host, or elsewhere in the text": [
    "https://evilapp.example/",
    "https://evil.app.example/",
    "https://evil.test/https://app.example/",
    "https://evil.test?https://app.example/",
    "https://evil.test#https://app.example/",
    "https://evil.test/?next=https://app.example",
    "https://evil.test//app.example/",
    "https://evil-app.example",
    "xhttps://app.example/",
    "url:https://app.example/",
    "https://evil.test;https://app.example/",
    "https://example/",
    "https://www.app.example/",
  ],
  "user info": [
    "https://app.example@evil.test/",
    "https://app.example:443@evil.test/",
    "https://app.example:pass@evil.test/",
    "https://app.example:@evil.test/",
    "https://user@app.example/",
    "https://user:pass@app.example/",
    "https://:@app.example/",
    "https://@app.example/",
    "https://evil.test@app.example/",
    "https://app.example%40evil.test/",
    "https://app.example@@evil.test/",
    "https://app.example@app.example/",
  ],
  "a backslash, which browsers read as a slash": [
    "https://app.example\\@evil.test/",
    "https://app.example\\.evil.test/",
    "https://app.example\\",
    "https://app.example/\\evil.test",
    "https://app.example/path\\..\\x",
    "https:\\\\app.example\\",
    "https:/\\app.example/",
    "\\\\evil.test\\",
    "/\\evil.test/",
    "\\/evil.test/",
    "https://evil.test\\@app.example/",
    "https://app.example/?q=\\",
    "https://app.example/#\\",
  ],
  "control characters and white space": [
    " https://app.example/",
    "https://app.example/ ",
    "\thttps://app.example/",
    "https://app.example/\t",
    "https://app.example/\n",
    "https://app.example/\r\nLocation: https://evil.test/",
    "https://app.example/\r\nSet-Cookie: a=b",
    "https://app.example\t.evil.test/",
    "https://app.example\n.evil.test/",
    "https://app.example\r.evil.test/",
    "https://app.example \n@evil.test/",
    "https://app.example/\u0000",
    "https://app.example\u0000.evil.test/",
    "https://app.example/\u0001",
    "https://app.example/\u001f",
    "https://app.example/\u007f",
    "https://app.example/\u0085",
    "https://app.example/\u009f",
    "https://app.example/a b",
    "https://app.example/\u00a0",
    "https://app.example/\u2028",
    "https://app.example/\u2029",
    "https://app.example/\u3000",
    "\ufeffhttps://app.example/",
    "https://app.example/\ufeff",
    "ht\ttps://app.example/",
    "https:/\n/app.example/",
  ],
  encoded: [
    "https%3A%2F%2Fapp.example%2F",
    "https:%2F%2Fapp.example/",
    "https://app.example%2F@evil.test/",
    "https://app.example%2Fevil.test/",
    "https://app.example%2e.evil.test/",
    "https://app.example%23@evil.test/",
    "https://app.example%3F@evil.test/",
    "https://app.example%5C@evil.test/",
    "https://app.example%00.evil.test/",
    "https://app.example%09.evil.test/",
    "https://app.example%0a/",
    "https://%61pp.example/",
    "https://app%2eexample/",
    "%68ttps://app.example/",
    "&#104;ttps://app.example/",
  ],
  "relative and scheme-relative": [
    "",
    "/",
    "/path",
    "//app.example/",
    "//app.example",
    "//evil.test/",
    "///evil.test/",
    "////evil.test/",
    "/\t/evil.test/",
    "/.//evil.test",
    "path",
    "./path",
    "../path",
    "?query",
    "#fragment",
    "app.example",
    "app.example/path",
    "https:app.example",
    "https:/app.example",
    "https:///app.example",
    "https:////app.example/",
  ],
  "another scheme": [
    "http://app.example/",
    "http://app.example",
    "javascript:alert(1)",
    "javascript://app.example/%0aalert(1)",
    "javascript:https://app.example/",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:https://app.example/",
    "vbscript:msgbox(1)",
    "blob:https://app.example/0d6f5a0e-0000-4000-8000-000000000000",
    "filesystem:https://app.example/temporary/x",
    "view-source:https://app.example/",
    "file:///etc/passwd",
    "ftp://app.example/",
    "ws://app.example/",
    "wss://app.example/",
    "about:blank",
    "mailto:ada@app.example",
    "intent://app.example/#Intent;scheme=https;end",
    "httpss://app.example/",
    "https-app://app.example/",
  ],
  "another port, or the own one written out": [
    "https://app.example:443/",
    "https://app.example:8443/",
    "https://app.example:80/",
    "https://app.example:/",
    "https://app.example:0443/",
    "https://app.example:65536/",
    "https://app.example:-1/",
    "https://app.example:443.evil.test/",
    "https://app.example:x/",
  ],
  "another letter case": [
    "HTTPS://app.example/",
    "Https://app.example/",
    "https://APP.example/",
    "https://app.Example/",
    "https://App.Example",
    "hTTps://aPP.eXample/",
  ],
  "Unicode and look-alikes": [
    "https://app\u3002example/",
    "https://app\uff0eexample/",
    "https://app\uff61example/",
    "https://\uff41pp.example/",
    "https://\u0430pp.example/",
    "https://app.ex\u0430mple/",
    "https://app.ex\u00e4mple/",
    "https://xn--pp-7ka.example/",
    "https://app.example\u2044evil.test/",
    "https://app.example\u2215evil.test/",
    "https://app.example\uff0fevil.test/",
    "https://app.example\uff20evil.test/",
    "https://app.example\uff03@evil.test/",
    "https://app.example\uff1f@evil.test/",
    "https://app.example\u200d/",
    "https://app.example\u00ad/",
    "https://app.example\u202e/",
    "https\uff1a//app.example/",
    "https://app.example\u2100/",
    "https://app.example\ud800/",
  ],
  malformed: [
    "https://",
    "https:",
    "://app.example/",
    ":",
    "https//app.example",
    "https://[::1/",
    "https://[app.example]/",
    "https://app.example]/",
    "https://<app.example>/",
    "<https://app.example/>",
    '"https://app.example/"',
    "https://app.example^/",
    "null",
    "undefined",
    "[object Object]",
    "https://app.example,https://app.example/",
    "https://.app.example/",
    "https://app..example/",
    "https://*/",
  ],
  oversized: [
    `${OWN}/${"a".repeat(MAX_ORIGIN_URL_LENGTH)}`,
    `${OWN}/${"a".repeat(MAX_ORIGIN_URL_LENGTH - OWN.length)}`,
    `${OWN}/?q=${"%20".repeat(MAX_ORIGIN_URL_LENGTH)}`,
    `${OWN}${"/".repeat(100_000)}`,
    `${OWN}@${"a".repeat(10_000)}.evil.test/`,
    // What the parser would shorten, and what it would lengthen.
    `${OWN}/${"../".repeat(MAX_ORIGIN_URL_LENGTH / 3)}`,
    `${OWN}/${"\u65e5".repeat(MAX_ORIGIN_URL_LENGTH / 8)}`,
  ],
};

describe("an origin that is not ours is rejected", () => {
  const corpus = Object.entries(HOSTILE).flatMap(([group, values]) =>
    values.map((value): [string, string, string] => [
      group,
      JSON.stringify(value).slice(0, 90),
      value,
    ]),
  );

  it("the corpus is as large as it should be, and nothing is in it twice", () => {
    const values = corpus.map(([, , value]) => value);
    expect(new Set(values).size).toBe(values.length);
    expect(values.length).toBeGreaterThanOrEqual(120);
  });

  it.each(corpus)("%s: %s", (_group, _shown, value) => {
    expect(sameOriginUrl(value, OWN)).toBeUndefined();
  });

  it("a missing one is rejected", () => {
    expect(sameOriginUrl(undefined, OWN)).toBeUndefined();
  });
});

describe("an origin of ours is accepted, in the browser's own spelling", () => {
  it.each([
    [OWN, `${OWN}/`],
    [`${OWN}/`, `${OWN}/`],
    [`${OWN}?`, `${OWN}/?`],
    [`${OWN}?a=1`, `${OWN}/?a=1`],
    [`${OWN}#`, `${OWN}/#`],
    [`${OWN}#top`, `${OWN}/#top`],
    [`${OWN}/reports`, `${OWN}/reports`],
    [`${OWN}/reports/7?sort=up&page=2#row-3`, `${OWN}/reports/7?sort=up&page=2#row-3`],
    [`${OWN}/a/../b`, `${OWN}/b`],
    [`${OWN}/../../etc/passwd`, `${OWN}/etc/passwd`],
    [`${OWN}//evil.test/`, `${OWN}//evil.test/`],
    [`${OWN}/@evil.test/`, `${OWN}/@evil.test/`],
    [`${OWN}/?next=https://evil.test/`, `${OWN}/?next=https://evil.test/`],
    [`${OWN}/#@evil.test`, `${OWN}/#@evil.test`],
    [`${OWN}?@evil.test`, `${OWN}/?@evil.test`],
    [`${OWN}#@evil.test`, `${OWN}/#@evil.test`],
    [`${OWN}/:443`, `${OWN}/:443`],
    [`${OWN}/%2e%2e/x`, `${OWN}/x`],
    [`${OWN}/%2F%2Fevil.test`, `${OWN}/%2F%2Fevil.test`],
    [`${OWN}/%5Cevil.test`, `${OWN}/%5Cevil.test`],
    [`${OWN}/%0d%0aSet-Cookie:%20a=b`, `${OWN}/%0d%0aSet-Cookie:%20a=b`],
    [`${OWN}/%`, `${OWN}/%`],
    [`${OWN}/caf\u00e9`, `${OWN}/caf%C3%A9`],
    [`${OWN}/?q=\u{1f600}`, `${OWN}/?q=%F0%9F%98%80`],
    [`${OWN}/<script>"'`, `${OWN}/%3Cscript%3E%22'`],
    [`${OWN}/\ud800`, `${OWN}/%EF%BF%BD`],
  ])("%s", (raw, href) => {
    expect(sameOriginUrl(raw, OWN)).toBe(href);
  });

  it("exactly the longest that is kept", () => {
    const longest = `${OWN}/`.padEnd(MAX_ORIGIN_URL_LENGTH, "a");
    expect(sameOriginUrl(longest, OWN)).toBe(longest);
    expect(sameOriginUrl(`${longest}a`, OWN)).toBeUndefined();
  });

  it.each([
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000/x", true],
    ["http://127.0.0.1:3000", "http://127.0.0.1:30000/x", false],
    ["http://127.0.0.1:3000", "http://127.0.0.1:300/x", false],
    ["http://127.0.0.1:3000", "http://127.1:3000/x", false],
    ["http://127.0.0.1:3000", "http://0x7f.0.0.1:3000/x", false],
    ["http://127.0.0.1:3000", "http://2130706433:3000/x", false],
    ["http://127.0.0.1:3000", "http://localhost:3000/x", false],
    ["http://127.0.0.1:3000", "https://127.0.0.1:3000/x", false],
    ["http://[::1]:3000", "http://[::1]:3000/x", true],
    ["http://[::1]:3000", "http://[0:0:0:0:0:0:0:1]:3000/x", false],
    ["http://localhost", "http://localhost/x", true],
    ["http://localhost", "http://localhost:80/x", false],
    ["http://localhost", "http://localhost.evil.test/x", false],
    ["https://xn--caf-dma.example", "https://xn--caf-dma.example/x", true],
    ["https://xn--caf-dma.example", "https://caf\u00e9.example/x", false],
  ])("own %s, requested %s: %s", (own, raw, isAccepted) => {
    expect(sameOriginUrl(raw, own) !== undefined).toBe(isAccepted);
  });

  it.each([
    "https://app.example:443",
    "HTTPS://app.example",
    "https://App.example",
    "https://user@app.example",
    "https://user:pass@app.example",
    "https://app.example/base",
    "https://[::1",
    "https:",
    "app.example",
    "",
  ])("an own origin that browsers would not write so, %j, accepts nothing", (own) => {
    for (const rest of ["", "/", "/x", "?x", "#x", "//app.example/"])
      expect(sameOriginUrl(own + rest, own)).toBeUndefined();
  });

  it("is pure: the same result twice", () => {
    expect(sameOriginUrl(`${OWN}/x`, OWN)).toBe(sameOriginUrl(`${OWN}/x`, OWN));
  });
});

describe("an operator's redirect setting", () => {
  it.each([
    "/",
    "/welcome",
    "/welcome?from=login#top",
    "/a//b",
    "/@x",
    "https://app.example",
    "https://app.example/welcome",
    "https://other.example:8443/welcome?x=1",
    "http://localhost:3000/",
    "HTTPS://App.Example/",
    "https://[::1]:3000/",
    "https://caf\u00e9.example/",
  ])("%s is usable", (value) => {
    expect(isRedirectSetting(value)).toBe(true);
  });

  it.each([
    ["/welcome?x=1#y", "/welcome?x=1#y"],
    ["/a/../b%2f", "/a/../b%2f"],
    ["https://app.example", "https://app.example"],
    ["/\u65e5\u672c?q=\u00e9#\u00fc", "/%E6%97%A5%E6%9C%AC?q=%C3%A9#%C3%BC"],
    ["https://caf\u00e9.example/\u00e9", "https://xn--caf-dma.example/%C3%A9"],
    ["/.//other.example/\u00e9", "/.//other.example/%C3%A9"],
    ["/a/..//other.example/\u00e9", "/a/..//other.example/%C3%A9"],
    ["/\ud800", "/%EF%BF%BD"],
  ])("%s goes into Location as %s", (value, expected) => {
    expect(redirectSettingInAscii(value)).toBe(expected);
  });

  it.each([
    "",
    " ",
    "welcome",
    "./welcome",
    "?x",
    "#x",
    "//x",
    "//other.example/",
    "///x",
    "/\\x",
    "\\x",
    "/a\\b",
    "/a b",
    " /welcome",
    "/welcome\n",
    "/\t/x",
    "/a\u0000b",
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,x",
    "ftp://app.example/",
    "file:///x",
    "https:",
    "https:/app.example",
    "https://",
    "https:///app.example",
    "https://?x",
    "https://#x",
    "https:app.example",
    "https:\\\\app.example",
    "https://app.example:99999/",
    "https://[::1",
    "https://a b/",
    "mailto:ada@app.example",
    "xhttps://app.example/",
    "view-source:https://app.example/",
  ])("%j is not", (value) => {
    expect(isRedirectSetting(value)).toBe(false);
  });
});

describe("our own origin, from scheme and Host", () => {
  it.each([
    ["https", "app.example", "https://app.example"],
    ["http", "app.example", "http://app.example"],
    ["https", "App.Example", "https://app.example"],
    ["https", "app.example:443", "https://app.example"],
    ["http", "app.example:80", "http://app.example"],
    ["http", "app.example:443", "http://app.example:443"],
    ["http", "127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http", "localhost", "http://localhost"],
    ["http", "localhost:3000", "http://localhost:3000"],
    ["http", "[::1]:3000", "http://[::1]:3000"],
    ["http", "[0:0:0:0:0:0:0:1]", "http://[::1]"],
    ["https", "xn--caf-dma.example", "https://xn--caf-dma.example"],
    ["http", "my_service:8080", "http://my_service:8080"],
    ["http", "a", "http://a"],
  ] as const)("%s and %s: %s", (scheme, host, origin) => {
    expect(requestOrigin(scheme, host)).toBe(origin);
  });

  it("a Host of 255 characters, the longest there is, has one", () => {
    const longest = `${"a.".repeat(127)}a`;
    expect(requestOrigin("http", longest)).toBe(`http://${longest}`);
    expect(requestOrigin("http", `${longest}a`)).toBeUndefined();
  });

  const hostile = [
    undefined,
    "",
    " ",
    "app.example ",
    " app.example",
    "app.example/",
    "app.example/x",
    "app.example?x",
    "app.example#x",
    "app.example\\x",
    "user@app.example",
    "user:pass@app.example",
    "app.example@evil.test",
    "app.example, evil.test",
    "app.example:",
    "app.example:x",
    "app.example:123456",
    "app.example:65536",
    "app.example:-1",
    "app.example:80:80",
    "https://app.example",
    ".app.example",
    "app.example.",
    "-app.example",
    "app.example\r\nX: y",
    "app.example\n",
    "app\u0000.example",
    "app%2eexample",
    "caf\u00e9.example",
    "<script>",
    "'\"",
    "[::1",
    "::1",
    "[]",
    "[g::1]",
    "[::1]x",
    "999.999.999.999",
    "a".repeat(256),
    `${"a".repeat(100_000)}!`,
    `${"a.".repeat(120)}!`,
  ];
  it.each(
    hostile.map((host): [string, string | undefined] => [
      JSON.stringify(host ?? null).slice(0, 60),
      host,
    ]),
  )("a Host of %s gives none", (_shown, host) => {
    expect(requestOrigin("https", host)).toBeUndefined();
  });

  it("its result is an origin that sameOriginUrl can work with", () => {
    for (const host of ["App.Example:443", "[0:0::1]:3000", "127.0.0.1:80"]) {
      const origin = requestOrigin("https", host) ?? "";
      expect(sameOriginUrl(`${origin}/x`, origin)).toBe(`${origin}/x`);
    }
  });
});

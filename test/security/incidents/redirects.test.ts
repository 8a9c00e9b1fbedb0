/**
 * Incidents of other projects in which a sign-in sent people elsewhere, each replayed here. Ids are
 * those of the advisories.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sameOriginUrl } from "../../../src/http/same-origin-url.js";
import type { CookieBrowser } from "../../../src/testing/browser/cookie-browser.js";
import {
  rawRequest,
  type RawResponse,
} from "../../../packages/idpauth-conformance/src/adapter/raw-request.js";
import {
  OWN_ORIGIN,
  startApplication,
  type Application,
  type CallOptions,
  type TestUser,
} from "../../support/application.js";
import {
  startExpressApplication,
  type ExpressApplication,
} from "../../support/express-application.js";
import { AUTHORIZATION_PARAMETERS } from "../../support/authorization-parameters.js";

const OWN = OWN_ORIGIN;
const INDEX = "/idpauth/";

/** Every way in which a user can name the page to come back to. */
const ENTRIES: Readonly<
  Record<string, (value: string) => readonly [target: string, options?: CallOptions]>
> = {
  "the query, redirected": (value) => [
    `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(value)}`,
  ],
  "the query, as JSON": (value) => [
    `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&response=json&origin_url=${encodeURIComponent(value)}`,
  ],
  "the header, as JSON": (value) => [
    "/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json",
    { headers: { "x-origin-url": value } },
  ],
  "the query, though the scheme is another": (value) => [
    `/idpauth/login/?scheme=LANDING_PAGE&origin_url=${encodeURIComponent(value)}`,
  ],
  "the header, though the scheme is another": (value) => [
    "/idpauth/login/?scheme=DEFAULT",
    { headers: { "x-origin-url": value } },
  ],
};
const PRESERVING = Object.keys(ENTRIES).slice(0, 3);

/** The values that the incidents are about; none of them may be where a sign-in ends. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  "[INC-1] CVE-2022-24858 next-auth: an address was let through because it began with the site's own":
    [
      `${OWN}.evil.example/`,
      `${OWN}@evil.example/`,
      `${OWN}:80@evil.example/`,
      `${OWN}:8080/`,
      `${OWN}evil/`,
      `${OWN}%2eevil.example/`,
      `${OWN},evil.example/`,
    ],
  "[INC-3] CVE-2022-31093 next-auth: an address that no parser takes broke the sign-in": [
    "http://",
    "http://[",
    "http://app.example:port/",
    `${OWN}:99999/`,
    "http://%zz/",
    "%",
    "http:///",
    "null",
    `${OWN}/${"x".repeat(8_000)}`,
    `${OWN}/%ed%a0%80\\`,
  ],
  "[INC-4] CVE-2021-43812 nextjs-auth0: the page to return to was not checked at all": [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "////evil.example/",
    "javascript:alert(1)//http://app.example",
    "data:text/html,<script>alert(1)</script>",
    "http:evil.example",
  ],
  "[INC-9] GHSA-vp58-j275-797x better-auth: absolute and wildcard entries let foreign addresses in":
    [
      "http://*.app.example/",
      "*://app.example/",
      "http://*/",
      `${OWN}.evil.example/*`,
      `http://evil.example/${OWN}/`,
      `http://${OWN}/`,
      `http://user:password@app.example/`,
      `${OWN}:@evil.example/`,
    ],
  "[INC-10] CVE-2025-27143 better-auth: an address without a scheme went past the check": [
    "//evil.example",
    "/\\evil.example",
    "http:evil.example",
    "http:/evil.example",
    "http:app.example",
    "evil.example",
    "app.example.evil.example/x",
    "://evil.example",
    "?//evil.example",
  ],
  "[INC-11] GHSA-qqxw-m5fj-f7gv CVE-2020-5233 oauth2-proxy: slash and backslash are two slashes to a browser":
    [
      "/\\evil.example",
      "/\\/evil.example",
      "\\/evil.example",
      "\\\\evil.example",
      `${OWN}\\@evil.example/`,
      `${OWN}\\.evil.example/`,
      "http:\\\\app.example\\@evil.example",
    ],
  "[INC-12] GHSA-j7px-6hwj-hpjg CVE-2020-11053 oauth2-proxy: encoded white space between the slashes":
    [
      "/%09/evil.example",
      "/%0a/evil.example",
      "/%5cevil.example",
      "/%2f/evil.example",
      "/\t/evil.example",
      "/\n/evil.example",
      "/\r/evil.example",
    ],
  "[INC-13] CVE-2020-4037 GHSA-5m6c-jp6f-2vcv oauth2-proxy: the same once more, by mixtures": [
    "/\t\\evil.example",
    "/ /evil.example",
    "/\u000b/evil.example",
    "/\u0085/evil.example",
    "/.//evil.example",
    "/././/\\evil.example",
    `${OWN}\t.evil.example/`,
    ` ${OWN}.evil.example/`,
    `\u0000//evil.example`,
  ],
  "[INC-14] GHSA-4mf2-f3wh-gvf2 CVE-2021-21291 oauth2-proxy: a domain's ending was compared without the dot before it":
    [
      "http://evil-app.example/",
      "http://evilapp.example/",
      "http://notapp.example/",
      "http://evil.app.example/",
      "http://app.example./",
      "http://evil.example/app.example",
    ],
  "[INC-16] CVE-2022-23527 mod_auth_openidc: a tab between two slashes": [
    "/\t/evil.example",
    "\t//evil.example",
    "/\t\t/evil.example",
    "//\tevil.example",
  ],
  "[INC-17] CVE-2019-3877 CVE-2019-13038 mod_auth_mellon: a backslash, and a scheme without slashes":
    [
      "\\evil.example",
      "http:\\evil.example",
      "http:evil.example",
      "http:\\\\evil.example",
      "https:evil.example",
    ],
  "[INC-18] CVE-2023-50771 Jenkins oic-auth: an address was taken for one of the site's own": [
    "http:///evil.example/",
    "//evil.example/app.example",
    "https://app.example/",
    "HTTP://app.example/",
    "http://APP.example/",
    `${OWN}:80/`,
    "/reports",
    "reports",
  ],
};

const GOOD: readonly string[] = [
  OWN,
  `${OWN}/`,
  `${OWN}/a?b=c&d=//evil.example#e`,
  `${OWN}?x=\u00e9`,
  `${OWN}//evil.example/`,
  `${OWN}/%5c%09/`,
];

describe("a hostile address", () => {
  let application: Application;
  beforeAll(async () => {
    application = await startApplication();
  });
  afterAll(() => application.stop());

  for (const [incident, values] of Object.entries(HOSTILE)) {
    it(incident, async () => {
      const user = application.user();
      for (const value of values) {
        for (const entry of PRESERVING)
          expect([value, entry, await landing(user, entry, value)]).toEqual([value, entry, INDEX]);
      }
      // Nothing hangs, breaks or is remembered: the next sign-in is as good as ever.
      expect(await landing(user, PRESERVING[0]!, `${OWN}/reports?year=2024`)).toBe(
        `${OWN}/reports?year=2024`,
      );
      expect(await user.isSignedIn()).toBe(true);
    });
  }

  it("the good addresses among them are kept, each by every way", async () => {
    for (const value of GOOD) {
      for (const entry of PRESERVING)
        expect(await landing(application.user(), entry, value)).toBe(new URL(value).href);
    }
  });

  it("[INC-5] CVE-2025-67716 nextjs-auth0: the page to return to added parameters to the authorization request", async () => {
    const injected =
      "&scope=admin&redirect_uri=http://evil.example/&client_id=evil&response_type=token&prompt=none&state=known&nonce=known";
    const plain = application.user();
    const expected = parametersOf(await authorizationUrl(plain, "/idpauth/login/"));
    expect(expected.map(([name]) => name).sort()).toEqual(AUTHORIZATION_PARAMETERS);
    const targets = [
      ...PRESERVING.map((entry) => ENTRIES[entry]!(`${OWN}/${injected}`)),
      ...PRESERVING.map((entry) => ENTRIES[entry]!(`${OWN}/?x${injected}#${injected}`)),
      // As parameters of the login itself, too.
      [`/idpauth/login/?x=1${injected}`] as const,
    ];
    for (const [target, options] of targets) {
      const url = await authorizationUrl(application.user(), target, options);
      expect(parametersOf(url)).toEqual(expected);
      for (const own of ["state", "nonce"]) expect(url.searchParams.get(own)).not.toBe("known");
    }
  });

  it("[INC-15] mod_auth_openidc 449 and 453, CVE-2021-32786, CVE-2021-39191: two parsers disagreed about the hostname", () => {
    for (const value of [...Object.values(HOSTILE).flat(), ...GOOD]) {
      const accepted = sameOriginUrl(value, OWN);
      expect([value, accepted !== undefined]).toEqual([value, GOOD.includes(value)]);
      if (accepted === undefined) continue;
      // What is accepted, and what is sent for it, leads to our origin whichever way it is read.
      for (const text of [value, accepted])
        expect([text, readings(text)]).toEqual([text, [OWN, OWN, OWN]]);
    }
  });

  it("[INC-15] CVE-2021-39191 mod_auth_openidc: another parameter with an address was forgotten", async () => {
    for (const name of [
      "target_link_uri",
      "returnTo",
      "return_to",
      "callbackUrl",
      "next",
      "rd",
      "redirect",
      "redirect_uri",
      "final_redirect",
      "url",
    ]) {
      const user = application.user();
      const evil = encodeURIComponent("https://evil.example/");
      const callback = await user.approve(`/idpauth/login/?${name}=${evil}`);
      expect((await user.get(`${callback}&${name}=${evil}`)).location).toBe(INDEX);
      expect((await user.get(`/idpauth/logout/?${name}=${evil}`)).location).toBe(INDEX);
    }
  });
});

describe("[INC-2] CVE-2022-29214 next-auth: the same hole again, by another way in", () => {
  it.each([
    [{}, INDEX],
    [{ authFinalRedirectUrl: "/home" }, "/home"],
    [
      { authFinalRedirectUrl: "https://portal.example/home?a=b" },
      "https://portal.example/home?a=b",
    ],
  ])("with the settings %j", async (settings, fallback) => {
    const application = await startApplication(settings);
    try {
      for (const value of [
        "//evil.example/",
        "/\\evil.example/",
        `${OWN}.evil.example/`,
        `${OWN}@evil.example/`,
        "https://evil.example/",
        "",
      ]) {
        for (const entry of Object.keys(ENTRIES)) {
          expect([value, entry, await landing(application.user(), entry, value)]).toEqual([
            value,
            entry,
            fallback,
          ]);
        }
      }
    } finally {
      await application.stop();
    }
  });
});

describe("over a socket", () => {
  let app: ExpressApplication;
  const run: string[] = [];
  beforeAll(async () => {
    app = await startExpressApplication({
      routes(express, auth) {
        express.get("/final-redirect", async (request, response) => {
          response.send((await auth.readSessionRecord(request))?.["final_redirect"]);
        });
        express.use(auth.idpRequired);
        express.use((request, response) => {
          run.push(request.originalUrl);
          response.send("guarded");
        });
      },
    });
  });
  afterAll(() => app.stop());

  const ask = (
    target: string,
    headers: Readonly<Record<string, string>> = {},
    method = "GET",
  ): Promise<RawResponse> =>
    rawRequest(
      app.port,
      [
        `${method} ${target} HTTP/1.1`,
        ...Object.entries({ Host: `127.0.0.1:${app.port}`, Connection: "close", ...headers }).map(
          ([name, value]) => `${name}: ${value}`,
        ),
        "",
        "",
      ].join("\r\n"),
    );

  /** From an answer of ours to where the sign-in ends. */
  async function endOf(browser: CookieBrowser, start: string): Promise<RawResponse> {
    const login = await browser.navigate(start);
    const callback = await app.provider.signInCode(login.location ?? "");
    return ask(callback.slice(app.origin.length), {
      Cookie: browser.cookies.header(new URL(app.origin)) ?? "",
    });
  }

  describe("[INC-6] CVE-2022-24794 express-openid-connect: the requested path was where the sign-in ended, also when it meant another origin", () => {
    it.each([
      "//evil.example/x",
      "/\\evil.example",
      "/\\/evil.example/x",
      "///evil.example",
      "/%5Cevil.example",
      "/.//evil.example",
      "http://evil.example/x",
      "*",
    ])("%s", async (target) => {
      const blocked = await ask(target, { Accept: "text/html" });
      expect(blocked.status).toBe(302);
      expect(blocked.header("location")).toMatch(/^\/idpauth\/login\/\?/);
      const end = await endOf(app.browser(), blocked.header("location") ?? "");
      expect(end.status).toBe(302);
      expect(new URL(end.header("location") ?? "", app.origin).origin).toBe(app.origin);
      expect(readings(new URL(end.header("location") ?? "", app.origin).href)).toEqual([
        app.origin,
        app.origin,
        app.origin,
      ]);
      expect(run).toEqual([]);
    });
  });

  describe("[INC-7] CVE-2024-29041 express: an address was rewritten after it had been checked", () => {
    it.each([
      "/a%",
      "/%zz/%E0%A4%A",
      "/a?q=%E0%A4%A&b=%",
      "/<script>\"'`{}|^",
      "/\u00fc/\u{1f600}?\u00e9#\u00df",
      "/a/../..//evil.example/%2e%2e",
      "/%5c%5cevil.example/%09",
      "?a=b%20c+d#x%20y",
      "/;x=1,2:@evil.example/!$&'()*",
    ])("%s", async (rest) => {
      const browser = app.browser();
      const end = await endOf(
        browser,
        `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(app.origin + rest)}`,
      );
      // What a browser makes of the address; every case is on our own origin, so it has to be what
      // is checked, kept and sent.
      const { href: checked, origin } = new URL(app.origin + rest);
      expect(origin).toBe(app.origin);
      // The bytes on the wire, not what a client library makes of them.
      const sent = /^location: (.*)$/im.exec(end.raw)?.[1];
      expect(sent).toBe(checked);
      for (const line of end.headers.filter(([name]) => name.toLowerCase() === "set-cookie"))
        browser.cookies.take(new URL(app.origin), line[1]);
      expect((await browser.get("/final-redirect")).text).toBe(checked);
    });
  });

  it("[INC-8] CVE-2024-43796 express: a redirect repeated its address in a page of its own", async () => {
    const payload = "/<script>alert(1)</script>";
    const login = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(app.origin + payload)}`;
    const redirects = [
      await ask(login, { Accept: "text/html" }),
      await endOf(app.browser(), login),
      await ask(`${payload}?a=${payload}`, { Accept: "text/html" }),
      await ask("/idpauth/logout/"),
    ];
    for (const answer of redirects) {
      expect([
        answer.status,
        answer.body,
        answer.header("content-length"),
        answer.header("content-type"),
      ]).toEqual([302, "", "0", undefined]);
      expect(answer.raw).not.toContain("<script>");
    }
  });

  it("[INC-19] CVE-2025-63784 onlook: X-Forwarded-Host decided where the sign-in ended", async () => {
    const forged = {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Port": "443",
      "X-Forwarded-Server": "evil.example",
      Forwarded: "host=evil.example;proto=https",
      "X-Host": "evil.example",
      "X-Original-URL": "//evil.example/",
      "X-Rewrite-URL": "//evil.example/",
    };
    const login = await ask(
      "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=https%3A%2F%2Fevil.example%2F",
      forged,
    );
    const asked = new URL(login.header("location") ?? "");
    expect([asked.origin, asked.searchParams.get("redirect_uri")]).toEqual([
      app.provider.issuer,
      `${app.origin}/idpauth/login-callback`,
    ]);
    const cookie = (login.header("set-cookie") ?? "").split(";")[0] ?? "";
    const callback = await app.provider.signInCode(asked);
    expect(
      (await ask(callback.slice(app.origin.length), { ...forged, Cookie: cookie })).header(
        "location",
      ),
    ).toBe(INDEX);
    const blocked = await ask("/page", { ...forged, Accept: "text/html" });
    expect(
      new URL(blocked.header("location") ?? "", app.origin).searchParams.get("origin_url"),
    ).toBe(`${app.origin}/page`);
  });

  const SPELLINGS = [
    "/idpauth/debug",
    "/idpauth/debug/",
    "//idpauth//debug",
    "//idpauth/debug",
    "/idpauth//debug",
    "/idpauth/%64ebug",
    "/%69dpauth/debug",
    "/idpauth/./debug",
    "/x/../idpauth/debug",
    "/idpauth/%2e/debug",
    "/IDPAUTH/debug",
    "/idpauth/DEBUG",
    "/idpauth;x/debug",
    "/idpauth/debug;x",
    "/idpauth/debug%00",
    "/idpauth/debug%2f",
    "/idpauth\\debug",
    "/idpauth/session/../debug",
    "http://x.example/idpauth/debug",
  ];

  describe("[INC-20] GHSA-x732-6j76-qmhm better-auth, rou3: another spelling of a path opened what was shut", () => {
    it.each(SPELLINGS)("%s", async (target) => {
      for (const method of ["GET", "HEAD", "POST"]) {
        const answer = await ask(target, { Accept: "application/json" }, method);
        // The component's 404 below its mount path, anywhere else the application's guard.
        expect(answer.status).toBe(
          /^(?:http:\/\/x\.example)?\/idpauth\/(?!\/debug$)/.test(target) ||
            target === "/idpauth//debug"
            ? 404
            : 401,
        );
        expect(answer.raw).not.toMatch(/IDP_CLIENT_ID|"policy"/);
      }
      expect(run).toEqual([]);
    });
  });
});

/** The whole trip by one way in; where the callback leads. */
async function landing(user: TestUser, entry: string, value: string): Promise<string> {
  const [target, options] = ENTRIES[entry]!(value);
  const login = await user.get(target, options);
  expect([200, 302]).toContain(login.status);
  const asked: string = login.status === 200 ? login.json().redirect_to : login.location;
  const callback = new URL(await fetchCallback(asked));
  return (await user.get(`${callback.pathname}${callback.search}`)).location;
}

async function fetchCallback(authorizationUrl: string): Promise<string> {
  const response = await fetch(authorizationUrl, { redirect: "manual" });
  await response.body?.cancel();
  return response.headers.get("location") ?? "";
}

async function authorizationUrl(
  user: TestUser,
  target: string,
  options?: CallOptions,
): Promise<URL> {
  const login = await user.get(target, options);
  return new URL(login.status === 200 ? (login.json().redirect_to as string) : login.location);
}

/** Names and values, but for those that are fresh each time. */
function parametersOf(url: URL): readonly (readonly [string, string])[] {
  const fresh = ["state", "nonce", "code_challenge"];
  return [...url.searchParams].map(
    ([name, value]) => [name, fresh.includes(name) ? "fresh" : value] as const,
  );
}

/**
 * The origin of an address as three kinds of parsers read it: browsers, RFC 3986 appendix B, and
 * those that cut at the first of `/?#`.
 */
function readings(text: string): readonly string[] {
  const [, scheme, authority] = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?/.exec(text) ?? [];
  const end = text.slice(text.indexOf("//") + 2).search(/[/?#]/);
  const cut = end < 0 ? text : text.slice(0, text.indexOf("//") + 2 + end);
  return [new URL(text).origin, `${scheme ?? ""}://${authority ?? ""}`, cut];
}

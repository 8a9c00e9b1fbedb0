/**
 * Incidents of other projects with floods, output and headers, each replayed here. Ids are those of
 * the advisories.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { LogEntry } from "../../../src/index.js";
import { cookieValues } from "../../../src/sessions/cookie.js";
import {
  rawRequest,
  type RawResponse,
} from "../../../packages/idpauth-conformance/src/adapter/raw-request.js";
import type { CookieBrowser } from "../../../src/testing/browser/cookie-browser.js";
import { TestClock } from "../../../src/testing/test-clock.js";
import { tagsOf } from "../../pages/tags.js";
import {
  OWN_ORIGIN,
  startApplication,
  type Answer,
  type ApplicationOptions,
} from "../../support/application.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../../support/express-application.js";
import { leaksIn, secretsOf } from "../../support/secrets.js";
import { byStranger } from "../../support/foreign-signature.js";
import { watchedStore } from "../../support/watched-store.js";
import { untilTestEnds } from "../../support/until-test-ends.js";

const HOUR = 3_600_000;
const LOGIN = "/idpauth/login/";
const OUT = "/idpauth/logout/?response=json";
const SIGNED_OUT = { authenticated: false, user: null };

const start = (options: ApplicationOptions = {}) => untilTestEnds(startApplication(options));

const startExpress = (options: ExpressApplicationOptions = {}) =>
  untilTestEnds(startExpressApplication(options));

describe("[INC-60] CVE-2021-22119 Spring Security: authorization requests piled up in one session, and in the store, until it failed", () => {
  it("in one session", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    const user = application.user();
    const origin = encodeURIComponent(`${OWN_ORIGIN}/${"x".repeat(1_900)}`);
    const sizes: number[] = [];
    for (let round = 0; round < 300; round += 1) {
      await user.get(`${LOGIN}?scheme=PRESERVE_ORIGIN_QP&origin_url=${origin}`);
      sizes.push(JSON.stringify((await store.entries()).map(({ data }) => data)).length);
    }
    expect([(await store.entries()).length, user.cookies.size]).toEqual([1, 1]);
    // It has its full size after the eighth.
    expect(new Set(sizes.slice(8)).size).toBe(1);
    expect(sizes.at(-1)).toBeLessThan(40_000);
    await user.signIn();
    expect(await user.isSignedIn()).toBe(true);
  });

  it("without a session: each is small, and gone after ten minutes, and those who are signed in stay", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    const member = application.user();
    await member.signIn();
    for (let round = 0; round < 300; round += 1) await application.user().get(LOGIN);
    const entries = await store.entries();
    // The session, the trace of its sign-in, and the logins.
    expect(entries).toHaveLength(302);
    expect(Math.max(...entries.map((entry) => JSON.stringify(entry.data).length))).toBeLessThan(
      2_048,
    );
    clock.advance(600_000);
    expect(await store.entries()).toHaveLength(1);
    expect(await member.isSignedIn()).toBe(true);
  });
});

it("[INC-61] nextjs-auth0 2077: every login that nobody finished left a cookie, until no request came through", async () => {
  const app = await startExpress();
  const browser = app.browser();
  const sizes = new Set<number>();
  for (let round = 0; round < 200; round += 1) {
    expect((await browser.navigate(`${LOGIN}?round=${round}`)).status).toBe(302);
    sizes.add(browser.cookies.header(new URL(app.origin))?.length ?? 0);
  }
  expect([sizes.size, browser.cookies.all().length]).toEqual([1, 1]);
  // Nor do refusals, outages, sign-ins and sign-outs leave any.
  for (let round = 0; round < 5; round += 1) {
    await browser.get("/idpauth/login-callback?state=x&code=y");
    await browser.follow(LOGIN);
    await browser.navigate(LOGIN);
    sizes.add(browser.cookies.header(new URL(app.origin))?.length ?? 0);
    await browser.get(OUT);
    expect(browser.cookies.all()).toEqual([]);
  }
  expect(sizes.size).toBe(1);
});

describe("[INC-62] CVE-2024-24814 CVE-2023-28625 mod_auth_openidc: a crafted cookie made the server loop, or crash", () => {
  const value = "A".repeat(43);
  const CRAFTED: Readonly<Record<string, string>> = {
    "a number of parts that do not exist": `idpauth_chunks=99999999; idpauth.chunks=99999999; idpauth=99999999`,
    "no number of parts": "idpauth_chunks=-1; idpauth_chunks=; idpauth=",
    "parts without end": Array.from(
      { length: 20_000 },
      (_, index) => `idpauth_${index}=${value}`,
    ).join(";"),
    "our name without end": "idpauth=".repeat(50_000),
    "our name and value without end": `idpauth=${value};`.repeat(20_000),
    "spaces without end": `x=${" ".repeat(500_000)}idpauth=${value}`,
    "spaces between our names": `idpauth${" ".repeat(1_000)}`.repeat(500),
    "separators without end": ";".repeat(500_000),
    "a value of 8 KB": `idpauth=${"A".repeat(8_192)}`,
    "a zero byte": `idpauth=${value}\u0000; idpauth=\u0000`,
    "an object's own names": "__proto__=x; constructor=x; idpauth=__proto__; idpauth=constructor",
  };

  it.each(Object.entries(CRAFTED))("%s", async (_name, cookie) => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    for (const target of [
      "/idpauth/session",
      "/idpauth/",
      "/idpauth/login-callback?state=x&code=y",
      LOGIN,
      OUT,
    ]) {
      store.operations.length = 0;
      const answer = await application.user().get(target, { headers: { cookie } });
      expect(answer.status).toBeLessThan(500);
      // Bounded whatever the header is: at most four look-ups, and the login's own new entry.
      expect(
        store.operations.filter((operation) => operation === "get").length,
      ).toBeLessThanOrEqual(4);
      expect(store.writes).toEqual(target === LOGIN ? ["insert"] : []);
    }
  });

  it("what is done for a header grows no faster than the header", () => {
    // Counted, not timed: the characters that are looked at, in a text that tells.
    const looks = (header: string): number => {
      let count = 0;
      const counting = new Proxy(new String(header), {
        get(_text, name) {
          if (name === "length") return header.length;
          if (name === "slice") {
            return (from: number, to: number) => {
              count += to - from;
              return header.slice(from, to);
            };
          }
          if (name === "indexOf") {
            return (sought: string, from = 0) => {
              const at = header.indexOf(sought, from);
              count += (at < 0 ? header.length : at) - from + sought.length;
              return at;
            };
          }
          const index = Number(String(name));
          if (!Number.isInteger(index)) throw new Error(`nobody counts ${String(name)}`);
          count += 1;
          return header[index];
        },
      });
      cookieValues(counting as unknown as string, "idpauth");
      return count;
    };
    for (const unit of [
      "idpauth=",
      "idpauth=x; ",
      "idpauth ",
      "; idpauth",
      ";",
      " idpauth=x;",
      `idpauth${" ".repeat(50)}`,
    ]) {
      const [small, large] = [looks(unit.repeat(1_000)), looks(unit.repeat(10_000))];
      expect([unit, large < small * 11]).toEqual([unit, true]);
    }
  });

  it("over a socket the server goes on", async () => {
    const app = await startExpress();
    for (const cookie of Object.values(CRAFTED)) {
      const { status } = await rawRequest(
        app.port,
        `GET /idpauth/session HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
      );
      // 400 and 431 are Node's own.
      expect([200, 400, 431]).toContain(status);
    }
    expect((await app.browser().get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
    expect(app.caught).toEqual([]);
  });
});

describe("over a socket", () => {
  let app: ExpressApplication;
  let run = 0;
  beforeAll(async () => {
    app = await startExpressApplication({
      routes(express, auth) {
        express.use("/guarded", auth.idpRequired, (_request, response) => {
          run += 1;
          response.cookie("protected", "cookie").send("PROTECTED CONTENT");
        });
      },
    });
  });
  afterAll(() => app.stop());
  afterEach(() => {
    app.provider.clearFaults();
    app.clock.advance(60_000);
    run = 0;
  });

  const ask = (
    method: string,
    target: string,
    headers: readonly string[] = [],
    body = "",
  ): Promise<RawResponse> =>
    rawRequest(
      app.port,
      [
        `${method} ${target} HTTP/1.1`,
        `Host: 127.0.0.1:${String(app.port)}`,
        "Connection: close",
        ...headers,
        "",
        body,
      ].join("\r\n"),
    );

  async function signedIn(): Promise<CookieBrowser> {
    const browser = app.browser();
    await browser.follow(LOGIN);
    return browser;
  }

  describe("[INC-63] CVE-2025-31492 mod_auth_openidc: the protected page was sent along with the response that required a sign-in", () => {
    it.each([
      ["a navigation", "GET", ["Accept: text/html"], 302],
      ["a navigation's head", "HEAD", ["Accept: text/html"], 302],
      ["a script", "GET", ["Accept: application/json"], 401],
      [
        "a form",
        "POST",
        [
          "Accept: text/html",
          "Content-Type: application/x-www-form-urlencoded",
          "Content-Length: 3",
        ],
        401,
      ],
      ["an unknown method", "PROPFIND", [], 401],
      [
        "a preflight",
        "OPTIONS",
        ["Origin: https://evil.example", "Access-Control-Request-Method: GET"],
        401,
      ],
    ] as const)("%s", async (_name, method, headers, status) => {
      const answer = await ask(method, "/guarded", headers, method === "POST" ? "a=b" : "");
      expect([answer.status, run]).toEqual([status, 0]);
      expect(answer.raw).not.toMatch(/PROTECTED|protected=cookie/);
      // One answer, and nothing after it.
      expect(answer.raw.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    });

    it("while the provider is away", async () => {
      const browser = await signedIn();
      app.clock.advance(HOUR);
      app.provider.fault("token", { kind: "reset" });
      const answer = await browser.navigate("/guarded");
      expect([answer.status, run]).toEqual([503, 0]);
      expect(`${answer.text}${answer.setCookies.join()}`).not.toMatch(/PROTECTED|protected=/);
    });
  });

  describe("[INC-64] CVE-2025-3891 mod_auth_openidc: a POST without a content type ended the process", () => {
    const TYPES = [
      [],
      ["Content-Type:"],
      ["Content-Type: "],
      ["Content-Type: ;"],
      ["Content-Type: application/x-www-form-urlencoded"],
      ["Content-Type: multipart/form-data"],
      ["Content-Type: multipart/form-data; boundary="],
      ["Content-Type: application/json; charset=\xff"],
    ];
    const LENGTHS = [[], ["Content-Length: 0"], ["Transfer-Encoding: chunked"]];

    it.each([
      "/idpauth/",
      LOGIN,
      "/idpauth/login-callback?state=x&code=y",
      "/idpauth/session",
      OUT,
      "/idpauth/nothing",
      "/guarded",
    ])("%s", async (target) => {
      for (const type of TYPES) {
        for (const length of LENGTHS) {
          const body = length[0]?.startsWith("Transfer") ? "0\r\n\r\n" : "";
          const { status, header } = await ask("POST", target, [...type, ...length], body);
          const isForm = type[0]?.endsWith("urlencoded") === true;
          const others: Readonly<Record<string, number>> = {
            "/guarded": 401,
            "/idpauth/nothing": 404,
            // A form may start a login.
            [LOGIN]: isForm ? 303 : 400,
          };
          expect([type, status]).toEqual([type, others[target] ?? 405]);
          if (status === 405) expect(header("allow")).toMatch(/^GET(?:, HEAD)?$/);
        }
      }
      expect((await app.browser().get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
      expect([app.caught, run]).toEqual([[], 0]);
    });
  });

  describe("[INC-67] the guard decides on nothing that the client can restate", () => {
    const OPEN = ["/idpauth/", "/idpauth/login/", "/idpauth/session", "/public", "/style.css"];

    const RESTATED: Readonly<
      Record<string, readonly (readonly [target: string, headers: readonly string[]])[]>
    > = {
      "CVE-2025-54576 oauth2-proxy: the query was matched as if it were the path": OPEN.flatMap(
        (path) => [
          [`/guarded?${path}`, []],
          [`/guarded?x=/..${path}`, []],
          [`/guarded?x#${path}`, []],
        ],
      ),
      "CVE-2026-40575 oauth2-proxy: the path that a header names was believed": [
        "X-Forwarded-Uri",
        "X-Original-URI",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-Forwarded-Path",
        "X-Forwarded-Prefix",
      ].flatMap((name) => OPEN.map((path) => ["/guarded", [`${name}: ${path}`]] as const)),
      "CVE-2025-64484 oauth2-proxy: a header with underscores was taken for the one with dashes, and said who it was":
        [
          ...[
            "X_Forwarded_User",
            "X-Forwarded-User",
            "X_Forwarded_Email",
            "Remote_User",
            "Remote-User",
            "X-Auth-Request-Email",
            "X-Forwarded-Access-Token",
            "Idp_Auth",
          ].map((name) => ["/guarded", [`${name}: ada@example.com`]] as const),
          ["/guarded", ["X_Cookie: idpauth=x", "_Cookie: idpauth=x", "Cookie_: idpauth=x"]],
        ],
    };

    it.each(Object.entries(RESTATED))("%s", async (_incident, requests) => {
      for (const [target, headers] of requests) {
        const answer = await ask("GET", target, headers);
        expect([target, headers, answer.status]).toEqual([target, headers, 401]);
      }
      expect(run).toBe(0);
    });

    it("CVE-2025-64484 oauth2-proxy: X_ORIGIN_URL is not X-ORIGIN-URL, and a cookie under another name is none", async () => {
      const page = `http://127.0.0.1:${String(app.port)}/page`;
      const login = `${LOGIN}?scheme=PRESERVE_ORIGIN_HP&response=json`;
      for (const [name, lands] of [
        ["X-ORIGIN-URL", page],
        ["x-origin-url", page],
        ["X_ORIGIN_URL", "/idpauth/"],
        ["X-ORIGIN_URL", "/idpauth/"],
        ["X_Origin-Url", "/idpauth/"],
        ["XORIGINURL", "/idpauth/"],
        ["HTTP_X_ORIGIN_URL", "/idpauth/"],
      ] as const) {
        const answer = await ask("GET", login, [`${name}: ${page}`]);
        const cookie = (answer.header("set-cookie") ?? "").split(";")[0] ?? "";
        const callback = new URL(
          await app.provider.signInCode(
            (JSON.parse(answer.body) as { redirect_to: string }).redirect_to,
          ),
        );
        const end = await ask("GET", `${callback.pathname}${callback.search}`, [
          `Cookie: ${cookie}`,
        ]);
        expect([name, end.header("location")]).toEqual([name, lands]);
      }
      const cookie = (await signedIn()).cookies.value("idpauth") ?? "";
      expect((await ask("GET", "/guarded", [`Cookie: idpauth=${cookie}`])).status).toBe(200);
      for (const name of [
        "Idpauth",
        "IDPAUTH",
        "idp_auth",
        "__Host-Http-idpauth",
        "_idpauth",
        "idpauth_",
        "%69dpauth",
      ]) {
        expect([
          name,
          (await ask("GET", "/guarded", [`Cookie: ${name}=${cookie}`])).status,
        ]).toEqual([name, 401]);
      }
    });
  });
});

describe("what others say is never markup", () => {
  const PAYLOADS = [
    "<script>alert('owned')</script>",
    "\"><img src=x onerror=alert('owned')>",
    "'-alert('owned')-'",
    "javascript:alert('owned')",
    "</title></style><svg/onload=alert('owned')>",
    "&lt;script&gt;alert('owned')",
    "{{constructor.constructor('owned')()}}",
    "\u2028owned\u2029",
    "%3Cscript%3Eowned",
  ];

  function expectNoMarkup(answer: Answer): void {
    const body = answer.body ?? "";
    if (answer.headers["Content-Type"]?.startsWith("text/html") === true) {
      // Read more strictly than browsers do; throws where a browser might see what nobody meant.
      for (const { name, attributes } of tagsOf(body)) {
        expect(name).not.toBe("script");
        for (const [attribute, value] of attributes) {
          expect([attribute, attribute.startsWith("on")]).toEqual([attribute, false]);
          if (attribute === "src" || attribute === "href")
            expect(value).toMatch(/^(?:\/idpauth\/|https:\/\/)/);
        }
      }
      const policy = answer.headers["Content-Security-Policy"] ?? "";
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'/);
      expect(policy).not.toMatch(/script-src|unsafe/);
    }
    for (const value of Object.values(answer.headers)) expect(value).not.toContain("owned");
  }

  it("[INC-65] CVE-2021-32702 nextjs-auth0: the callback showed the error parameter as it came", async () => {
    const application = await start();
    for (const payload of PAYLOADS) {
      for (const accept of ["text/html", "application/json", "*/*"]) {
        const user = application.user();
        const login = new URL((await user.get(LOGIN)).location);
        const known = {
          state: login.searchParams.get("state") ?? "",
          iss: application.provider.issuer,
        };
        const all = {
          error: payload,
          error_description: payload,
          error_uri: payload,
          session_state: payload,
        };
        for (const parameters of [
          { state: payload, code: payload, iss: payload, ...all },
          { ...all },
          { ...known, ...all },
          { ...known, code: payload },
          { ...known, state: payload, code: payload },
        ]) {
          const query = new URLSearchParams(parameters).toString();
          const answer = await user.get(`/idpauth/login-callback?${query}`, {
            headers: { accept },
          });
          expectNoMarkup(answer);
          expect(answer.body ?? "").not.toContain("owned");
          if (answer.location !== "")
            expect(answer.location).toBe("/idpauth/?error=provider_error");
        }
        const query = new URLSearchParams({
          error: payload,
          error_description: payload,
          scheme: payload,
          response: payload,
        }).toString();
        for (const target of [
          `/idpauth/?${query}`,
          `${LOGIN}?${query}`,
          `/idpauth/logout/?${query}`,
          `/idpauth/${encodeURIComponent(payload)}`,
        ]) {
          const answer = await user.get(target, { headers: { accept } });
          expectNoMarkup(answer);
          expect(answer.body ?? "").not.toContain("owned");
        }
      }
    }
  });

  it("[INC-66] CVE-2021-32792 mod_auth_openidc: values of the provider stood unescaped in a page", async () => {
    const application = await start({ sessionMaxAge: 600, debug: true });
    for (const payload of PAYLOADS) {
      const user = application.user();
      await user.signIn(LOGIN, { sub: "x", email: payload, name: payload, picture: payload });
      for (const target of ["/idpauth/", "/idpauth/session", "/idpauth/debug"]) {
        const answer = await user.get(target, { headers: { accept: "text/html" } });
        // JSON holds the text as it is, and says that it is JSON.
        if (target !== "/idpauth/session") expectNoMarkup(answer);
        else
          expect(answer.headers).toMatchObject({
            "Content-Type": "application/json; charset=utf-8",
            "X-Content-Type-Options": "nosniff",
          });
      }
      application.clock.advance(601_000);
      expectNoMarkup(await user.get("/idpauth/"));
    }
    for (const picture of [
      "javascript:alert(1)",
      "data:text/html,x",
      "http://x y/'\"",
      "https://x.example/;script-src *",
      "//evil.example/",
      "https://*/x",
    ]) {
      const user = application.user();
      await user.signIn(LOGIN, { sub: "x", picture });
      expectNoMarkup(await user.get("/idpauth/"));
    }
  });
});

describe("[INC-68] mod_auth_openidc, August 2026: while its cache was away every token with an unknown key had the keys fetched", () => {
  it("with the store away all the while", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const { provider, ...application } = await start({ clock, store });
    const users = Array.from({ length: 50 }, () => application.user());
    const callbacks = await Promise.all(users.map((user) => user.approve()));
    provider.mutateIdToken = (draft) =>
      byStranger({ kid: `unknown-${String(Math.random())}` })(draft);
    store.isDown = true;
    const before = provider.requests.length;
    for (const [index, user] of users.entries())
      expect((await user.get(callbacks[index]!)).status).toBe(503);
    expect(provider.requests.length).toBe(before);
  });

  it("with the store failing under the tokens, again and again", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    const application = await start({ clock, store });
    const { provider } = application;
    await application.user().signIn();
    let kid = 0;
    for (let round = 0; round < 2; round += 1) {
      const users = Array.from({ length: 50 }, () => application.user());
      const callbacks = await Promise.all(users.map((user) => user.approve()));
      provider.mutateIdToken = (draft) =>
        byStranger({ kid: `unknown-${String((kid += 1))}` })(draft);
      const before = provider.requestsTo("jwks").length;
      const hold = provider.hold("token", { count: 50 });
      const answers = Promise.all(users.map((user, index) => user.get(callbacks[index]!)));
      await hold.arrived;
      store.isDown = true;
      hold.release();
      expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set([503]));
      store.isDown = false;
      // Within the same 30 s no user can make it fetch more often, although codes are exchanged.
      const exchanged = provider.requestsTo("token").length;
      for (let second = 1; second < 30; second += 1) {
        clock.advance(1_000);
        expect((await application.user().signIn()).status).toBe(503);
      }
      expect(provider.requestsTo("token").length).toBeGreaterThan(exchanged);
      expect(provider.requestsTo("jwks").length - before).toBe(10);
      clock.advance(60_000);
      // An honest one is good at once.
      provider.mutateIdToken = undefined;
      await application.user().signIn();
    }
  });
});

it("[INC-69] mod_auth_openidc, 2026: refresh tokens, codes and cookies were written to the log", async () => {
  const lines: LogEntry[] = [];
  const clock = new TestClock();
  const store = watchedStore(clock);
  const application = await start({ clock, store, debug: true, log: (entry) => lines.push(entry) });
  const { auth, provider } = application;
  const told: unknown[] = [];
  for (const name of ["login", "refresh", "logout", "blocked", "ended", "failure"] as const)
    auth.on(name, (event) => told.push({ name, ...event }));
  const cookies = new Set<string>();
  const user = application.user();
  const note = () => {
    for (const value of user.cookies.values()) cookies.add(value);
  };

  // All that can go well, and much of what cannot.
  const callback = await user.approve();
  note();
  await user.get(callback);
  note();
  await user.get(`${callback}&code=again`);
  clock.advance(HOUR);
  await user.isSignedIn();
  for (const fault of [
    { kind: "status", status: 401, body: { error: "invalid_client" } },
    { kind: "garbage" },
    { kind: "reset" },
  ] as const) {
    clock.advance(HOUR);
    const mended = provider.fault("token", fault);
    await user.get("/idpauth/session");
    const other = application.user();
    await other.signIn().catch(() => undefined);
    mended();
    clock.advance(60_000);
  }
  // A provider that repeats what it was sent.
  provider.fault("token", {
    kind: "status",
    status: 400,
    body: { error: "invalid_grant", error_description: `bad ${[...cookies].join(" ")}` },
    times: 1,
  });
  await user.get("/idpauth/session");
  await auth.guard(user.request("/guarded"));
  provider.mutateIdToken = (draft) => draft.sign({ alg: "none" }, draft.claims);
  await user.signIn();
  provider.mutateIdToken = undefined;
  await user.signIn();
  note();
  store.isDown = true;
  await user.get("/idpauth/session");
  await user.get(OUT);
  store.isDown = false;
  provider.fault("revoke", { kind: "status", status: 500, times: 1 });
  await user.get(OUT);
  await user.get(
    `/idpauth/login-callback?state=${[...cookies][0] ?? ""}&code=${[...cookies][0] ?? ""}`,
  );

  const text = [...lines, ...told].map((entry) => JSON.stringify(entry)).join("\n");
  expect(lines.length).toBeGreaterThan(8);
  expect(new Set(told.map((event) => (event as { name: string }).name)).size).toBe(6);
  const secrets = [
    ...secretsOf(application),
    ...[...cookies].map((value) => ({ kind: "cookie", value })),
  ];
  expect(new Set(secrets.map(({ kind }) => kind))).toEqual(
    new Set([
      "client secret",
      "SECRET_KEY",
      "code",
      "access_token",
      "refresh_token",
      "id_token",
      "state",
      "nonce",
      "verifier",
      "cookie",
    ]),
  );
  expect(leaksIn(text, secrets)).toEqual([]);
});

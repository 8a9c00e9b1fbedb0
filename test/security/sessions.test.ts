import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createIdpAuth, type IdpAuth } from "../../src/adapter.js";
import type { IdpRequest } from "../../src/index.js";
import { newCookieValue } from "../../src/sessions/cookie.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import {
  startTestProvider,
  type Endpoint,
  type Fault,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import { byStranger } from "../support/foreign-signature.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";
import { optionsFor } from "../support/options-for.js";

const HOUR = 3_600_000;
const SIGNED_OUT = '{"authenticated":false,"user":null}';

let application: Pick<Application, "stop">;

afterEach(() => application.stop());

async function start(options: ApplicationOptions = {}): Promise<Application> {
  const started = await startApplication(options);
  application = started;
  return started;
}

/** Somebody who holds on to the cookie as it is now, whatever the browser is told. */
function thief(user: TestUser, app: Application): TestUser {
  return user.at(app.auth);
}

describe("session identifiers", () => {
  it("[ASVS-7.2.1] [ASVS-11.5.1] are 256 random bits of the system's generator: 1,000,000 are distinct, and every place takes every letter", async () => {
    await start();
    using _random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    const seen = new Set<string>();
    const places = Array.from({ length: 43 }, () => new Set<string>());
    for (let made = 0; made < 1_000_000; made += 1) {
      const value = newCookieValue();
      seen.add(value);
      if (made < 5_000)
        for (const [place, letters] of places.entries()) letters.add(value[place] ?? "");
    }
    expect(seen.size).toBe(1_000_000);
    // The last of 43 letters carries four bits.
    expect(places.map(({ size }) => size)).toEqual([...Array.from({ length: 42 }, () => 64), 16]);
  });

  it("[ASVS-7.2.4] change with the first sign-in and with every further one, and the old one loads nothing", async () => {
    const app = await start();
    const user = app.user();
    await user.get("/idpauth/login/");
    const held: TestUser[] = [];
    const values = [user.cookies.get("idpauth")];
    for (const sub of ["ada", "ada", "bob"]) {
      const callback = await user.approve("/idpauth/login/", { sub, email: `${sub}@example.com` });
      held.push(thief(user, app));
      await user.get(callback);
      values.push(user.cookies.get("idpauth"));
    }
    expect(new Set(values).size).toBe(4);
    for (const old of held) {
      expect((await old.get("/idpauth/session")).body).toBe(SIGNED_OUT);
      expect(await app.auth.readSessionRecord(old.request("/"))).toBeNull();
    }
    expect((await user.get("/idpauth/session")).json().user.email).toBe("bob@example.com");
  });

  it("[ASVS-7.2.4] an attacker who knows the cookie from before the sign-in gets nothing of it, not even while the callback is under way", async () => {
    const app = await start();
    const victim = app.user();
    const target = await victim.approve();
    // The attacker began this login and planted its cookie: both are known, the code is not.
    const attacker = thief(victim, app);
    const exchange = app.provider.hold("token");
    const signedIn = victim.get(target);
    await exchange.arrived;
    const stolen = attacker.get(target.replace(/code=[^&]*/, "code=guessed"));
    exchange.release();
    expect((await signedIn).status).toBe(302);
    // A login of the attacker's own, under another key.
    const { location, setCookies = [] } = await stolen;
    expect([location.split("?")[0], setCookies]).toEqual(["/idpauth/login/", []]);
    expect([await victim.isSignedIn(), await attacker.isSignedIn()]).toEqual([true, false]);
  });

  it("[ASVS-7.2.4] [BCP-17] nor does a browser that comes with a code of its own end up in a sign-in that it did not make", async () => {
    const app = await start();
    const attacker = app.user();
    const login = await attacker.get("/idpauth/login/");
    const [first, second] = await Promise.all(
      ["attacker", "victim"].map(
        async (sub) => new URL(await app.provider.signInCode(login.location, { sub, email: sub })),
      ),
    );
    const victim = thief(attacker, app);
    const exchange = app.provider.hold("token");
    const attackers = attacker.get(`${first?.pathname ?? ""}${first?.search ?? ""}`);
    await exchange.arrived;
    const victims = victim.get(`${second?.pathname ?? ""}${second?.search ?? ""}`);
    exchange.release();
    expect((await attackers).status).toBe(302);
    const { location, setCookies = [] } = await victims;
    expect([location.split("?")[0], setCookies]).toEqual(["/idpauth/login/", []]);
    expect(new URL(location, "http://app.example").searchParams.get("cross_site")).toBe("true");
    expect(await victim.isSignedIn()).toBe(false);
  });

  it("[SM-1] one that the server has not issued is never adopted, and is dead after the sign-in", async () => {
    const app = await start();
    const chosen = "C".repeat(43);
    const user = app.user();
    user.cookies.set("idpauth", chosen);
    await user.get("/idpauth/login/");
    expect(user.cookies.get("idpauth")).not.toBe(chosen);
    user.cookies.set("idpauth", chosen);
    await user.signIn();
    const attacker = app.user();
    attacker.cookies.set("idpauth", chosen);
    expect((await attacker.get("/idpauth/session")).body).toBe(SIGNED_OUT);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("[SM-6] are taken from the cookie alone: query, path, headers and body are ignored", async () => {
    const app = await startExpressApplication();
    application = app;
    const browser = app.browser();
    const login = await browser.navigate("/idpauth/login/");
    await browser.navigate(await app.provider.signInCode(login.location ?? ""));
    const value = browser.cookies.value("idpauth") ?? "";
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
    const stranger = app.browser();
    const names = [
      "idpauth",
      "__Host-Http-idpauth",
      "sid",
      "session",
      "sessionid",
      "session_id",
      "PHPSESSID",
      "jsessionid",
      "token",
      "cookie",
    ];
    for (const name of names) {
      expect((await stranger.get(`/idpauth/session?${name}=${value}`)).text).toBe(SIGNED_OUT);
      const inPath = await stranger.get(`/idpauth/session;${name}=${value}`);
      expect([inPath.status === 404, inPath.setCookies]).toEqual([true, []]);
      for (const header of [name, `x-${name}`].filter((each) => each !== "cookie")) {
        expect(
          (await stranger.get("/idpauth/session", { headers: { [header]: value } })).text,
        ).toBe(SIGNED_OUT);
      }
    }
    for (const authorization of [
      `Bearer ${value}`,
      `Session ${value}`,
      `Basic ${Buffer.from(`idpauth:${value}`).toString("base64")}`,
      value,
    ]) {
      expect(
        (
          await stranger.get("/idpauth/session", {
            headers: { authorization, cookie2: `idpauth=${value}` },
          })
        ).text,
      ).toBe(SIGNED_OUT);
    }
    const posted = await stranger.get("/idpauth/session", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `idpauth=${value}`,
    });
    expect([posted.status, posted.text.includes("authenticated")]).toEqual([405, false]);
  });

  it("[SM-4] stand in no log line and no event, and neither does what the store calls them", async () => {
    const events: unknown[] = [];
    const app = await start({ sessionMaxAge: 7_000 });
    for (const name of ["login", "refresh", "logout", "blocked", "ended", "failure"] as const)
      app.auth.on(name, (event) => events.push(event));
    const user = app.user();
    const values: string[] = [];
    const note = () => values.push(...user.cookies.values());
    await user.get((await user.approve()).replace(/code=[^&]*/, "code=guessed"));
    note();
    await user.signIn();
    note();
    app.clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(true);
    app.clock.advance(HOUR);
    expect(await user.isSignedIn()).toBe(false);
    await app.auth.guard(user.request("/reports"));
    await user.get("/idpauth/logout/");
    expect(events.length).toBeGreaterThanOrEqual(5);
    expect(values).toHaveLength(2);
    const said = JSON.stringify([events, app.log]);
    for (const value of values) {
      for (const form of ["base64url", "base64", "hex"] as const) {
        expect(said).not.toContain(createHash("sha256").update(value).digest(form));
      }
      expect(said).not.toContain(value);
    }
  });
});

describe("the end of a session", () => {
  it.each<[string, ApplicationOptions, (user: TestUser, app: Application) => unknown]>([
    ["a logout", {}, (user) => user.get("/idpauth/logout/")],
    ["a logout as JSON", {}, (user) => user.get("/idpauth/logout/?response=json")],
    ["the maximum age", { sessionMaxAge: 600 }, (_user, { clock }) => clock.advance(601_000)],
    ["the idle timeout", { sessionIdleTimeout: 600 }, (_user, { clock }) => clock.advance(601_000)],
    [
      "the ID token's expiry without renewal",
      { sessionAutoRefresh: false },
      (_user, { clock }) => clock.advance(HOUR),
    ],
    ["the life of the record", { sessionTtl: 600 }, (_user, { clock }) => clock.advance(601_000)],
    ["a new sign-in", {}, (user) => user.signIn()],
    [
      "a refused refresh token",
      {},
      (_user, { provider, clock }) => {
        provider.revokeAll();
        clock.advance(HOUR);
      },
    ],
    [
      "endAllSessions",
      {},
      (_user, { auth, provider }) => auth.endAllSessions({ iss: provider.issuer, sub: "ada-1815" }),
    ],
  ])(
    "[ASVS-7.4.1] [ASVS-7.4.2] by %s: a browser that kept the cookie is signed out everywhere at the backend, and stays so",
    async (_name, options, end) => {
      const app = await start(options);
      const user = app.user();
      await user.signIn();
      const kept = thief(user, app);
      expect(await kept.isSignedIn()).toBe(true);
      await end(user, app);
      for (let again = 0; again < 3; again += 1) {
        expect((await kept.get("/idpauth/session")).body).toBe(SIGNED_OUT);
        expect(await app.auth.getCredentials(kept.request("/"))).toBeNull();
        expect(await app.auth.getSession(kept.request("/"))).toBeNull();
        expect(await app.auth.getAccessToken(kept.request("/"))).toBeNull();
        expect(await app.auth.guard(kept.request("/"))).toMatchObject({ kind: "unauthenticated" });
        app.clock.advance(10_000);
      }
    },
  );

  it.each([
    [{ sessionMaxAge: 3600, sessionIdleTimeout: 1800 }, 1800, "idle"],
    [{ sessionMaxAge: 1800, sessionIdleTimeout: 3600 }, 1800, "max_age"],
    [{ sessionMaxAge: 1800, sessionIdleTimeout: 1800 }, 1800, "max_age"],
  ])(
    "[ASVS-7.3.1] with %j the first to be over decides: valid to second %i, over in the next, by %s",
    async (options, end, reason) => {
      for (const [offset, authenticated] of [
        [-1, true],
        [0, true],
        [1, false],
      ] as const) {
        const app = await start(options);
        const user = app.user();
        await user.signIn();
        app.clock.advance((end + offset) * 1_000);
        const { authenticated: is, reason: why } = (
          await user.get("/idpauth/session?details=true")
        ).json() as Record<string, unknown>;
        expect([offset, is, why]).toEqual([offset, authenticated, authenticated ? null : reason]);
        if (offset < 1) await app.stop();
      }
    },
  );

  it("[ASVS-7.3.1] neither use nor refresh moves the absolute end, used every minute for two hours", async () => {
    const app = await start({ sessionMaxAge: 7_200, sessionIdleTimeout: 120 });
    const user = app.user();
    await user.signIn();
    for (let minute = 1; minute <= 120; minute += 1) {
      app.clock.advance(60_000);
      expect(await user.isSignedIn(), String(minute)).toBe(true);
    }
    expect(
      app.provider.requestsTo("token", { grant_type: "refresh_token" }).length,
    ).toBeGreaterThanOrEqual(1);
    app.clock.advance(1_000);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("[SM-5] a logout sends no Clear-Site-Data: what else the application keeps in the browser is its own", async () => {
    const app = await start();
    const user = app.user();
    await user.signIn();
    for (const target of ["/idpauth/logout/", "/idpauth/logout/?response=json"]) {
      expect(
        Object.keys((await user.get(target)).headers).map((name) => name.toLowerCase()),
      ).not.toContain("clear-site-data");
    }
  });
});

describe("the beginning of a session", () => {
  it("[ASVS-7.6.1] needs an action of the user: index, probe, guard and prefetch start no login and send the provider nothing", async () => {
    const app = await start();
    const user = app.user();
    for (let again = 0; again < 3; again += 1) {
      const index = await user.get("/idpauth/", { headers: { accept: "text/html" } });
      expect([index.status, index.body?.includes("http-equiv"), index.headers["Refresh"]]).toEqual([
        200,
        false,
        undefined,
      ]);
      expect((await user.get("/idpauth/session")).body).toBe(SIGNED_OUT);
      await app.auth.guard(user.request("/reports", { headers: { accept: "text/html" } }));
      expect(
        (await user.get("/idpauth/login/", { headers: { "sec-purpose": "prefetch" } })).status,
      ).toBe(503);
    }
    expect([app.provider.requests, user.cookies.size]).toEqual([[], 0]);
  });

  it("[ASVS-15.3.3] nothing of a query, a header or a claim becomes a key of the session", async () => {
    const app = await start({ debug: true });
    const user = app.user();
    const names = [
      "credentials",
      "id_info",
      "idp_login_at",
      "idp_last_active",
      "idp_state",
      "admin",
      "__proto__",
      "constructor",
      "prototype",
    ];
    const query = names
      .flatMap((name) => [`${name}=injected`, `${name}[token]=injected`, `${name}.token=injected`])
      .join("&");
    const headers = Object.fromEntries(names.map((name) => [name, "injected"]));
    app.provider.mutateIdToken = ({ header, claims, sign }) =>
      sign(
        header,
        JSON.stringify({ ...claims, credentials: "injected", idp_state: "injected" }).replace(
          /}$/,
          ',"__proto__":{"admin":"injected"}}',
        ),
      );
    const login = await user.get(`/idpauth/login/?${query}`, { headers });
    expect(login.location).not.toContain("injected");
    const callback = new URL(await app.provider.signInCode(login.location));
    expect(
      (await user.get(`${callback.pathname}${callback.search}&${query}`, { headers })).status,
    ).toBe(302);
    for (const target of ["/idpauth/session", "/idpauth/", "/idpauth/debug"])
      await user.get(`${target}?${query}`, { headers });
    const { id_info, ...session } = (await app.auth.readSessionRecord(user.request("/"))) as Record<
      string,
      unknown
    >;
    expect(Object.keys(session).sort()).toEqual([
      "credentials",
      "debug",
      "final_redirect",
      "idp_login_at",
    ]);
    expect(JSON.stringify(session)).not.toContain("injected");
    expect(Object.getPrototypeOf(id_info)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    expect(JSON.stringify((await user.get("/idpauth/session")).json())).not.toContain("injected");
  });
});

const MARK = "zq9MARKq9z";

/** Every endpoint of the provider, with what can go wrong there; each body carries the mark. */
const FAULTS: readonly Fault[] = [
  {
    kind: "status",
    status: 400,
    body: { error: MARK, error_description: `${MARK} at /srv/${MARK}.js:1:2` },
  },
  { kind: "status", status: 401, body: { error: "invalid_client", error_description: MARK } },
  { kind: "status", status: 500, body: `Error: ${MARK}\n    at /srv/app.js:1:2` },
  { kind: "status", status: 503, body: MARK, headers: { "Retry-After": MARK } },
  { kind: "garbage", body: `{"${MARK}` },
  { kind: "garbage", body: "null" },
  { kind: "wrong-type", body: `<html>${MARK}` },
  { kind: "redirect", location: `https://${MARK}.example/` },
  { kind: "truncated", body: `{"${MARK}": "cut short"}` },
  { kind: "oversized" },
  { kind: "reset" },
];
const ENDPOINTS: readonly Endpoint[] = ["discovery", "token", "jwks", "userinfo", "revoke"];

describe("failures", () => {
  it.each(ENDPOINTS)(
    "[ASVS-16.5.1] [ASVS-16.5.4] any failure at %s: own words only, no stack, path or provider's word, and nothing unhandled",
    async (endpoint) => {
      const unhandled: unknown[] = [];
      const take = (reason: unknown) => void unhandled.push(reason);
      for (const name of ["unhandledRejection", "uncaughtException"] as const)
        process.on(name, take);
      try {
        const store = memoryStore({ clock: new TestClock() });
        const app = await start({ store, provider: { claimsInIdToken: false } });
        for (const fault of FAULTS) {
          for (const accept of ["text/html", "application/json"]) {
            // A process that knows neither document nor keys, so that it must ask for both.
            const user = app.user().at(app.another());
            const headers = { accept };
            if (endpoint !== "discovery" && endpoint !== "jwks")
              expect((await user.signIn()).status).toBe(302);
            const before = app.provider.requestsTo(endpoint).length;
            app.provider.fault(endpoint, fault);
            const login = await user.get("/idpauth/login/", { headers });
            const answers = [login];
            if (login.status === 302) {
              const callback = new URL(await app.provider.signInCode(login.location));
              answers.push(await user.get(`${callback.pathname}${callback.search}`, { headers }));
            }
            app.clock.advance(HOUR);
            for (const target of ["/idpauth/session", "/idpauth/", "/idpauth/logout/"])
              answers.push(await user.get(target, { headers }));
            expect(app.provider.requestsTo(endpoint).length).toBeGreaterThan(before);
            expect(
              answers
                .map(({ status }) => status)
                .filter((status) => ![200, 302, 400, 503].includes(status)),
            ).toEqual([]);
            // The address of the provider is not one of its words.
            const said = JSON.stringify(
              answers.map((answer) => ({
                ...answer,
                location: "",
                headers: { ...answer.headers, Location: "" },
              })),
            );
            expect(said).not.toMatch(
              new RegExp(
                `${MARK}|node_modules|node:internal|\\.[jt]s:\\d|at (?:async )?[\\w.]+ \\(|/srv/|Error:`,
                "i",
              ),
            );
            // Where a discovery document redirects to is what an operator has to know.
            const lines = app.log.filter(({ details }) => details?.reason !== "redirect");
            expect(JSON.stringify(lines)).not.toContain(MARK);
            app.provider.clearFaults();
            app.clock.advance(121_000);
          }
        }
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled).toEqual([]);
      } finally {
        for (const name of ["unhandledRejection", "uncaughtException"] as const)
          process.off(name, take);
      }
    },
  );

  const SIGN_IN_FAILURES: readonly (readonly [
    string,
    (app: Application, user: TestUser) => Promise<unknown>,
  ])[] = [
    ["no state", async (_app, user) => user.get((await user.approve()).replace(/state=[^&]*/, ""))],
    [
      "a state that nobody knows",
      async (_app, user) => user.get((await user.approve()).replace(/state=[^&]*/, "state=x")),
    ],
    ["a state of another browser", async (app, user) => user.get(await app.user().approve())],
    [
      "a state of an expired login",
      async (app, user) => {
        const callback = await user.approve();
        app.clock.advance(600_000);
        return user.get(callback);
      },
    ],
    [
      "the provider's error",
      async (_app, user) =>
        user.get((await user.approve()).replace(/code=[^&]*/, "error=access_denied")),
    ],
    [
      "a wrong iss",
      async (_app, user) => user.get((await user.approve()).replace(/iss=[^&]*/, "iss=x")),
    ],
    [
      "neither code nor error",
      async (_app, user) => user.get((await user.approve()).replace(/code=[^&]*/, "")),
    ],
    [
      "a code that the provider refuses",
      async (_app, user) => user.get((await user.approve()).replace(/code=[^&]*/, "code=x")),
    ],
    [
      "an ID token with another nonce",
      async (app, user) => {
        app.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, nonce: "x" } });
        return user.signIn();
      },
    ],
    [
      "an ID token without a signature",
      async (app, user) => {
        app.provider.mutateIdToken = ({ header, claims, sign }) =>
          sign({ ...header, alg: "none" }, claims);
        return user.signIn();
      },
    ],
    [
      "a token endpoint that is away",
      async (app, user) => [app.provider.fault("token", { kind: "reset" }), await user.signIn()],
    ],
    [
      "keys that are away",
      async (app, user) => [app.provider.fault("jwks", { kind: "reset" }), await user.signIn()],
    ],
    [
      "a provider that cannot be discovered",
      async (app, user) => [
        app.provider.fault("discovery", { kind: "reset" }),
        await user.get("/idpauth/login/"),
      ],
    ],
    [
      "a refresh token that the provider refuses",
      async (app, user) => {
        await user.signIn();
        app.clock.advance(HOUR);
        app.provider.revokeAll();
        return user.get("/idpauth/session");
      },
    ],
    [
      "a token endpoint that is away at a refresh",
      async (app, user) => {
        await user.signIn();
        app.clock.advance(HOUR);
        app.provider.fault("token", { kind: "reset" });
        return user.get("/idpauth/session");
      },
    ],
  ];

  it.each(SIGN_IN_FAILURES)(
    "[ASVS-16.2.5] %s is reported by one failure event, and by the log at least once",
    async (name, fail) => {
      const app = await start();
      const failures: string[] = [];
      const logins: unknown[] = [];
      app.auth.on("failure", ({ reason }) => failures.push(reason));
      app.auth.on("login", (event) => logins.push(event));
      app.log.length = 0;
      await fail(app, app.user());
      // One whose refresh fails has signed in before.
      expect(logins).toHaveLength(name.includes("refresh") ? 1 : 0);
      expect(failures).toEqual([expect.stringMatching(/^[a-z_0-9]+$/)]);
      expect(app.log.length).toBeGreaterThanOrEqual(1);
    },
  );

  it("[ASVS-16.2.5] a sign-in that succeeds is reported by one event, with who and where", async () => {
    const app = await start();
    const told: unknown[] = [];
    const failures: unknown[] = [];
    app.auth.on("login", (event) => told.push(event));
    app.auth.on("failure", (event) => failures.push(event));
    await app.user().signIn();
    expect(failures).toEqual([]);
    expect(told).toEqual([
      expect.objectContaining({ issuer: app.provider.issuer, subject: "ada-1815" }),
    ]);
  });
});

describe("[ASVS-16.4.1] log injection", () => {
  const FAKE = `${MARK}\r\n2026-01-01 idpauth info: FAKE ${MARK}\u2028\u0085\u001b[31m`;

  it("[ASVS-16.4.1] line breaks and escapes in values from outside make no line of the log, and not a part of one", async () => {
    const clock = new TestClock();
    const provider = await startTestProvider({ clock });
    application = { stop: () => provider.stop() };
    const store: WatchedStore = watchedStore(clock);
    const lines: string[] = [];
    const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    try {
      const auth: IdpAuth<IdpRequest> = createIdpAuth<IdpRequest>(
        {
          ...optionsFor(provider),
          scope: ["openid"],
          sessionLabel: () => FAKE,
          clock,
          store,
        },
        { name: "plain", request: (raw) => raw },
      );
      auth.start();
      const cookies = new Map<string, string>();
      const get = async (
        target: string,
        headers: Record<string, string> = {},
        host = "app.example",
      ) => {
        const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
        const all: Record<string, string> = { cookie, ...headers };
        const reply = await auth.handle({
          method: "GET",
          target,
          scheme: "http",
          host,
          header: (name) => all[name],
        });
        for (const line of reply?.setCookies ?? [])
          cookies.set("idpauth", /idpauth=([^;]*)/.exec(line)?.[1] ?? "");
        return reply;
      };
      const approve = async () => {
        const { pathname, search } = new URL(
          await provider.signInCode((await get("/idpauth/login/"))?.headers["Location"] ?? ""),
        );
        return `${pathname}${search}`;
      };
      const fake = encodeURIComponent(FAKE);
      const named: Record<string, unknown> = { sub: FAKE, name: FAKE, email: FAKE };
      for (const name of [
        "user-agent",
        "referer",
        "origin",
        "x-origin-url",
        "accept",
        "x-forwarded-host",
        "cookie",
      ])
        await get("/idpauth/login-callback?state=x", { [name]: FAKE });
      await get("/idpauth/login/", {}, FAKE);
      for (const name of ["error", "error_description", "code", "iss", "state", "session_state"]) {
        await get(`/idpauth/login-callback?${name}=${fake}`);
        await get(
          `${(await approve()).replace(new RegExp(`([?&])${name}=[^&]*`), "$1")}&${name}=${fake}`,
        );
      }
      await get(
        `${(await approve()).replace(/code=[^&]*/, `error=${fake}`)}&error_description=${fake}`,
      );
      for (const status of [400, 401, 500]) {
        provider.fault("token", {
          kind: "status",
          status,
          times: 1,
          body: { error: FAKE, error_description: FAKE },
        });
        await get(await approve());
        clock.advance(61_000);
      }
      provider.mutateIdToken = (draft) =>
        byStranger({ kid: FAKE })({ ...draft, claims: { ...draft.claims, ...named, iss: FAKE } });
      await get(await approve());
      clock.advance(61_000);
      provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, ...named } });
      await get(await approve());
      provider.fault("revoke", { kind: "status", status: 400, body: { error: FAKE } });
      await get("/idpauth/logout/");
      store.get = () => Promise.reject(new Error(FAKE));
      await get("/idpauth/session", { cookie: `idpauth=${"A".repeat(43)}` });
    } finally {
      stderr.mockRestore();
    }
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      expect(line).toMatch(/^idpauth (?:info|warn|error) [\w-]+: [^\n\r\u2028\u0085\u001b]*\n$/);
      expect(line).not.toMatch(/FAKE|MARK/);
    }
  });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Express, Request, RequestHandler, Router } from "express";
import session from "express-session";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import {
  ConfigurationError,
  SessionMissingError,
  type Credentials,
  type IdpAuthOptions,
  type LogEntry,
} from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import {
  EXPRESS,
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";
import { PATIENCE } from "../support/eventually.js";
import { UNREACHED } from "../support/options-for.js";

const HOUR = 3_600_000;
const MADE_UP: IdpAuthOptions = {
  env: {},
  log: false,
  secretKey: "a secret key that is longer than thirty-two characters",
  clientId: "client",
  clientSecret: "secret",
  issuer: "https://login.example.com",
};
const ADA = { sub: "ada-1815", email: "ada@example.com", name: "Ada Lovelace" };
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

let app: ExpressApplication;
const running: ExpressApplication[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of running.splice(0)) await each.stop();
});

/** Routes as an application has them. */
function routes(express: Express, auth: ExpressIdpAuth): void {
  express.get("/", (_request, response) => void response.send("public"));
  express.get("/reports", auth.idpRequired, async (request, response) => {
    const [user, credentials] = [
      (await auth.clientState(request)).user,
      await auth.getCredentials(request),
    ];
    response.json({ user, token: credentials?.token });
  });
  // What the host itself keeps in its session.
  express.get("/cart/:item", (request, response) => {
    (request.session as unknown as Record<string, unknown>)["cart"] = request.params.item;
    response.send("in the cart");
  });
  express.get(
    "/host-session",
    (request, response) => void response.json({ ...request.session, id: request.sessionID }),
  );
}

async function start(options: ExpressApplicationOptions = {}): Promise<ExpressApplication> {
  app = await startExpressApplication({ routes, ...options });
  running.push(app);
  return app;
}

async function signedIn(browser = app.browser()): Promise<CookieBrowser> {
  const answer = await browser.follow("/idpauth/login/");
  expect([answer.status, answer.url.origin]).toEqual([200, app.origin]);
  return browser;
}

const probe = async (browser: CookieBrowser) => (await browser.get("/idpauth/session")).json();
const refreshRequests = () => app.provider.requestsTo("token", { grant_type: "refresh_token" });
const eventually = (claim: () => unknown) => vi.waitFor(claim, PATIENCE);
const newest = (kind: string) =>
  app.provider.issued.filter((each) => each.kind === kind).at(-1)?.value;

/** The one session that express-session keeps. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the test knows what lies in it
function onlyStored(): Record<string, any> {
  const sessions = Object.values(app.stored());
  expect(sessions).toHaveLength(1);
  return sessions[0]!;
}

const SETUPS = ([5, 4] as const).flatMap((version) => [
  { what: `Express ${version}, bundled sessions`, version, kind: "bundled" as const },
  { what: `Express ${version}, express-session`, version, kind: "host" as const },
]);

it.each([5, 4] as const)(
  "Express %s: mounted before a parser, the back-channel endpoint refuses a form of 64 KB before it has ended",
  async (version) => {
    const parser = EXPRESS[version].urlencoded({ extended: false, limit: "100kb" });
    await start({ version, backchannelLogout: true, routes: (into) => void into.use(parser) });
    const head = `POST /idpauth/backchannel-logout HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
    const response = await rawRequest(
      app.port,
      `${head}Content-Length: 70000\r\n\r\nlogout_token=${"a".repeat(66_000)}`,
    );
    expect([response.status, JSON.parse(response.body)]).toMatchObject([
      400,
      { error: "invalid_request" },
    ]);
  },
);

describe.each(SETUPS)("$what", ({ version, kind }) => {
  it("`routes` mounted by hand after the session middleware are the same endpoints", async () => {
    await start({ version, session: kind, mount: (express, auth) => express.use(auth.routes) });
    expect(await probe(await signedIn())).toMatchObject({ authenticated: true });
  });
});

describe.each([5, 4] as const)("Express %i", (version) => {
  it("a response that passes on by next() goes past the protected handler's guard only when the application says so", async () => {
    await start({
      version,
      routes: (express, auth) =>
        express
          .get(
            "/page",
            auth.idpRequiredWith({
              unauthenticated: (_request, _response, _blocked, next) => next("route"),
            }),
            (_request, response) => void response.send("for members"),
          )
          .get("/page", (_request, response) => void response.send("for everybody")),
    });
    expect((await app.browser().get("/page")).text).toBe("for everybody");
    expect((await (await signedIn()).get("/page")).text).toBe("for members");
  });

  it("express-session sets no cookie and stores no session for a user who hasn't started a login", async () => {
    await start({ version, session: "host" });
    const browser = app.browser();
    for (const path of [
      "/",
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/logout/",
      "/reports",
      "/idpauth/style.css",
      "/idpauth/nothing",
    ]) {
      expect((await browser.get(path)).setCookies, path).toEqual([]);
    }
    expect(app.stored()).toEqual({});
  });
});

describe.each([5, 4] as const)("behind a proxy, Express %i", (version) => {
  const redirectUri = (location: string | undefined) =>
    new URL(location!).searchParams.get("redirect_uri");
  const proxied = () => ({
    origin: "https://app.example",
    proxied: { "https://app.example": app.port },
  });

  it("the first value of X-Forwarded-Host counts when Express trusts the proxy", async () => {
    await start({ version, first: (express) => express.set("trust proxy", true) });
    const login = await app.browser(proxied()).navigate("/idpauth/login/", {
      headers: { "x-forwarded-host": "public.example, inner.example" },
    });
    expect(redirectUri(login.location)).toBe("https://public.example/idpauth/login-callback");
  });

  it("forwarded headers are ignored when Express trusts only another proxy", async () => {
    await start({ version, first: (express) => express.set("trust proxy", "10.0.0.0/8") });
    const login = await app
      .browser(proxied())
      .navigate("/idpauth/login/", { headers: { "x-forwarded-host": "evil.example" } });
    expect(redirectUri(login.location)).toBe("http://app.example/idpauth/login-callback");
  });
});

describe("the framework's own sessions: what they contain", () => {
  const options = { session: "host" } as const;

  it("the specified keys are readable as req.session.credentials and so on", async () => {
    await start({ ...options, sessionIdleTimeout: 600 });
    const browser = await signedIn();
    const {
      id,
      cookie: _cookie,
      idp_state: state,
      ...keys
    } = (await browser.get("/host-session")).json();
    expect(id).toBe(Object.keys(app.stored())[0]);
    expect(keys).toEqual({
      credentials: {
        token: newest("access_token"),
        refresh_token: newest("refresh_token"),
        token_uri: `${app.provider.issuer}/token`,
        client_id: app.provider.clientId,
        client_secret: app.provider.clientSecret,
        scopes: ["openid", "email", "profile", "offline_access"],
      },
      id_info: expect.objectContaining({
        iss: app.provider.issuer,
        sub: "ada-1815",
        email: "ada@example.com",
        email_verified: true,
      }),
      final_redirect: "/idpauth/",
      idp_login_at: app.clock.now() / 1000,
      idp_last_active: app.clock.now() / 1000,
    });
    expect(state.v).toBe(1);
  });

  it("and under the configured names", async () => {
    await start({
      ...options,
      credentialsSessionKeyName: "tokens",
      stateKeyName: "csrf",
      finalRedirectKeyName: "next",
    });
    const browser = app.browser();
    const login = await browser.navigate("/idpauth/login/");
    expect(onlyStored()).toMatchObject({
      csrf: new URL(login.location!).searchParams.get("state"),
      next: "/idpauth/",
    });
    await browser.navigate(await app.provider.signInCode(login.location!));
    const stored = onlyStored();
    expect(stored["tokens"].token).toBe(newest("access_token"));
    for (const name of ["credentials", "oauth_state", "csrf", "final_redirect"])
      expect(stored).not.toHaveProperty(name);
  });

  it("a handler sees the refreshed credentials in req.session, in every request that waited for them", async () => {
    await start({
      ...options,
      routes: (express, auth) =>
        express.get(
          "/token",
          auth.idpRequired,
          (request, response) =>
            void response.send(
              (request.session as unknown as { credentials: Credentials }).credentials.token,
            ),
        ),
    });
    const browser = await signedIn();
    app.clock.advance(HOUR);
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get("/token")));
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([newest("access_token")]));
  });

  it.each<[string, ExpressApplicationOptions]>([
    ["resave: true", { middleware: { resave: true } }],
    ["rolling", { middleware: { rolling: true } }],
    ["an idle timeout", { sessionIdleTimeout: 7200 }],
    ["a handler that changes the session", {}],
  ])(
    "with %s, requests that come together do not bring the spent refresh token back",
    async (_what, more) => {
      let visits = 0;
      await start({
        ...options,
        ...more,
        routes: (express, auth) =>
          express.get("/count", auth.idpRequired, (request, response) => {
            (request.session as unknown as Record<string, unknown>)["visits"] = visits += 1;
            response.end();
          }),
      });
      const browser = await signedIn();
      for (let hour = 1; hour <= 3; hour += 1) {
        app.clock.advance(HOUR);
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, number) =>
            browser.get(number % 2 === 0 ? "/count" : "/idpauth/session"),
          ),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
        expect(onlyStored()["credentials"]).toMatchObject({
          token: newest("access_token"),
          refresh_token: newest("refresh_token"),
        });
        expect(refreshRequests()).toHaveLength(hour);
      }
      expect(app.provider.reuses).toBe(0);
    },
  );

  it("a refresh that outlives its request puts only its own keys onto what others have stored since", async () => {
    await start(options);
    const browser = await signedIn();
    app.clock.advance(HOUR);
    const token = app.provider.hold("token");
    const waiting = browser.get("/reports");
    await token.arrived;
    await app.clock.advanceAsync(5_000);
    await waiting;
    await browser.get("/cart/book");
    const refreshed = new Promise((resolve) => app.auth.on("refresh", resolve));
    token.release();
    await refreshed;
    expect(onlyStored()).toMatchObject({
      cart: "book",
      credentials: { token: newest("access_token") },
    });
  });

  it("a refresh that outlives a logout brings nothing back, and its tokens are revoked", async () => {
    await start(options);
    const browser = await signedIn();
    app.clock.advance(HOUR);
    const token = app.provider.hold("token", { before: false });
    const waiting = browser.get("/reports");
    await token.arrived;
    await app.clock.advanceAsync(5_000);
    await waiting;
    await browser.navigate("/idpauth/logout/");
    expect(Object.keys(onlyStored())).toEqual(["cookie"]);
    token.release();
    await eventually(() => expect(app.provider.requestsTo("revoke")).toHaveLength(2));
    expect(Object.keys(onlyStored())).toEqual(["cookie"]);
    expect(app.provider.isActive(newest("refresh_token")!)).toBe(false);
  });

  it.each([
    { when: "nobody was signed in", before: [], kept: true },
    { when: "the same person was signed in", before: [ADA], kept: true },
    { when: "another person was signed in", before: [GRACE], kept: false },
  ])(
    "at the callback, when $when, the framework's own keys are kept: $kept",
    async ({ before, kept }) => {
      await start(options);
      const browser = app.browser();
      for (const person of before) {
        app.provider.person = person;
        await signedIn(browser);
      }
      app.provider.person = ADA;
      await browser.get("/cart/book");
      const [idBefore] = Object.keys(app.stored());
      await signedIn(browser);
      const [idAfter] = Object.keys(app.stored());
      expect(idAfter).not.toBe(idBefore);
      const stored = onlyStored();
      expect([stored["id_info"].sub, stored["cart"]]).toEqual([
        "ada-1815",
        kept ? "book" : undefined,
      ]);
      expect(stored).not.toHaveProperty("oauth_state");
    },
  );

  it.each([true, false])(
    "logout (signed in: %s) clears the framework's keys and gives a new id",
    async (isSignedIn) => {
      await start(options);
      const browser = app.browser();
      await browser.get("/cart/book");
      if (isSignedIn) await signedIn(browser);
      const before = (await browser.get("/host-session")).json();
      expect(before.cart).toBe("book");
      expect((await browser.get("/idpauth/logout/?response=json")).json()).toEqual({
        status: "logged_out",
      });
      const after = (await browser.get("/host-session")).json();
      expect(after.id).not.toBe(before.id);
      expect(Object.keys(after)).toEqual(["cookie", "id"]);
      expect(Object.keys(app.stored())).toEqual([after.id]);
    },
  );

  it("[SM-7] a stored record of another shape is no session, and the framework's own keys are left alone until the next login", async () => {
    await start(options);
    const browser = await signedIn();
    await browser.get("/cart/book");
    const { sessions } = app.hostStore as unknown as { sessions: Record<string, string> };
    const [id] = Object.keys(sessions);
    sessions[id!] = JSON.stringify({ ...JSON.parse(sessions[id!]!), idp_state: { v: 99 } });
    expect(await probe(browser)).toEqual({ authenticated: false, user: null });
    expect(onlyStored()["cart"]).toBe("book");
    await signedIn(browser);
    expect((await probe(browser)).authenticated).toBe(true);
    expect(onlyStored()).not.toHaveProperty("cart");
  });

  it("a store that fails is 503 store_unavailable, never signed out", async () => {
    await start(options);
    const browser = await signedIn();
    app.clock.advance(HOUR);
    vi.spyOn(app.hostStore, "set").mockImplementation((_id, _data, done) =>
      done?.(new Error("READONLY")),
    );
    expect((await browser.get("/idpauth/session")).status).toBe(503);
    const login = await app
      .browser()
      .get("/idpauth/login/?response=json", { headers: { accept: "application/json" } });
    expect([login.status, login.json().code]).toEqual([503, "store_unavailable"]);
    vi.restoreAllMocks();
    expect((await probe(browser)).authenticated).toBe(true);
  });
});

/**
 * Held by the handler of `/slow` after it has its credentials, so that others can come and go
 * before it answers.
 */
interface SlowHandler {
  readonly routes: (express: Express, auth: ExpressIdpAuth) => void;
  /** The handler has asked and waits, as everybody does, for the refresh that is under way. */
  readonly waits: Promise<void>;
  readonly hasCredentials: Promise<void>;
  readonly answer: () => void;
}

function slowHandler(): SlowHandler {
  const [waits, hasCredentials, answer] = [barrier(), barrier(), barrier()];
  return {
    routes: (express, auth) =>
      express.get("/slow", async (request, response) => {
        const credentials = auth.getCredentials(request);
        setImmediate(waits.open);
        await credentials;
        hasCredentials.open();
        await answer.opened;
        response.end();
      }),
    waits: waits.opened,
    hasCredentials: hasCredentials.opened,
    answer: answer.open,
  };
}

function barrier(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe.each([5, 4] as const)(
  "the framework's own sessions: a slow request that writes nothing, Express %i",
  (version) => {
    /** Two requests wait for one refresh, and the second one is still being answered. */
    async function slowRequest(resave: boolean) {
      const slow = slowHandler();
      await start({ version, session: "host", middleware: { resave }, routes: slow.routes });
      const browser = await signedIn();
      app.clock.advance(HOUR);
      const token = app.provider.hold("token", { times: 1 });
      const refreshing = browser.get("/idpauth/session");
      await token.arrived;
      const answered = browser.get("/slow");
      await slow.waits;
      token.release();
      await Promise.all([refreshing, slow.hasCredentials]);
      return {
        browser,
        async finish() {
          slow.answer();
          expect((await answered).status).toBe(200);
        },
      };
    }

    it.each([false, true])("does not undo a logout (resave: %s)", async (resave) => {
      const { browser, finish } = await slowRequest(resave);
      expect((await browser.get("/idpauth/logout/?response=json")).status).toBe(200);
      await finish();
      expect(Object.keys(onlyStored())).toEqual(["cookie"]);
    });

    it.each([false, true])("does not bring rotated tokens back (resave: %s)", async (resave) => {
      const { browser, finish } = await slowRequest(resave);
      app.clock.advance(HOUR);
      expect((await probe(browser)).authenticated).toBe(true);
      await finish();
      expect(refreshRequests()).toHaveLength(2);
      expect(onlyStored()["credentials"]).toMatchObject({
        token: newest("access_token"),
        refresh_token: newest("refresh_token"),
      });
    });
  },
);

const PARTIAL_OUTAGES = ([5, 4] as const).flatMap((version) =>
  [false, true].map((saveUninitialized) => ({ version, saveUninitialized })),
);

describe.each(PARTIAL_OUTAGES)(
  "the framework's own sessions: half of the store fails, Express $version, saveUninitialized: $saveUninitialized",
  ({ version, saveUninitialized }) => {
    const options: ExpressApplicationOptions = {
      version,
      session: "host",
      middleware: { saveUninitialized },
    };
    const outage = new Error("READONLY");

    it("a logout that cannot destroy the session is 503, and changes neither session nor cookie", async () => {
      await start(options);
      const browser = await signedIn();
      await browser.get("/cart/book");
      const before = app.stored();
      const set = vi.spyOn(app.hostStore, "set");
      vi.spyOn(app.hostStore, "destroy").mockImplementation((_id, done) => done?.(outage));
      const answer = await browser.get("/idpauth/logout/?response=json", {
        headers: { accept: "application/json" },
      });
      expect([answer.status, answer.json().code, answer.setCookies]).toEqual([
        503,
        "store_unavailable",
        [],
      ]);
      expect(set).not.toHaveBeenCalled();
      expect(app.stored()).toEqual(before);
      vi.restoreAllMocks();
      expect((await probe(browser)).authenticated).toBe(true);
      expect((await browser.get("/idpauth/logout/?response=json")).status).toBe(200);
      expect(Object.keys(onlyStored())).toEqual(["cookie"]);
    });

    const failures: readonly (readonly [string, (oldId: string) => void])[] = [
      [
        "the new session cannot be stored",
        (oldId) => {
          const set = app.hostStore.set.bind(app.hostStore);
          vi.spyOn(app.hostStore, "set").mockImplementation((id, data, done) => {
            if (id === oldId) set(id, data, done);
            else done?.(outage);
          });
        },
      ],
      [
        "the new session is stored, but the store does not say so",
        (oldId) => {
          const set = app.hostStore.set.bind(app.hostStore);
          vi.spyOn(app.hostStore, "set").mockImplementation((id, data, done) => {
            set(id, data, id === oldId ? done : () => done?.(outage));
          });
        },
      ],
      [
        "the old session cannot be destroyed",
        (oldId) => {
          const destroy = app.hostStore.destroy.bind(app.hostStore);
          vi.spyOn(app.hostStore, "set");
          vi.spyOn(app.hostStore, "destroy").mockImplementation((id, done) => {
            if (id === oldId) done?.(outage);
            else destroy(id, done);
          });
        },
      ],
    ];

    it.each(failures)(
      "a callback is 503, and who was signed in before still is: %s",
      async (_what, fail) => {
        await start(options);
        const browser = await signedIn();
        await browser.get("/cart/book");
        const [oldId] = Object.keys(app.stored());
        const { credentials } = onlyStored();
        const login = await browser.navigate("/idpauth/login/");
        const callback = await app.provider.signInCode(login.location!);
        fail(oldId!);
        const answer = await browser.get(callback);
        expect([answer.status, answer.setCookies]).toEqual([503, []]);
        // The spent login is taken out of the old session, then the new one is written; nothing
        // comes after that.
        expect(vi.mocked(app.hostStore.set).mock.calls.map(([id]) => id === oldId)).toEqual([
          true,
          false,
        ]);
        expect(Object.keys(app.stored())).toEqual([oldId]);
        expect(onlyStored()).toMatchObject({ cart: "book", credentials });
        vi.restoreAllMocks();
        expect((await probe(browser)).authenticated).toBe(true);
        await signedIn(browser);
        expect(onlyStored()).toMatchObject({
          cart: "book",
          credentials: { token: newest("access_token") },
        });
        expect(Object.keys(app.stored())).not.toEqual([oldId]);
      },
    );
  },
);

describe("the framework's own sessions: a request without one", () => {
  const missing: readonly (readonly [string, ExpressApplicationOptions])[] = [
    ["no middleware has run", { mount: (express, auth) => express.use(auth.routes) }],
    [
      "the middleware comes after idpauth",
      {
        mount(express, auth) {
          express.use(auth.routes);
          express.use(session({ secret: "s", resave: false, saveUninitialized: false }));
        },
        routes: (express, auth) => {
          express.get(
            "/reports",
            auth.idpRequired,
            (_request, response) => void response.send("secret"),
          );
        },
      },
    ],
  ];

  /** Without the middleware that `startExpressApplication` would install. */
  const without = (options: ExpressApplicationOptions): ExpressApplicationOptions => ({
    session: "host",
    first: (express) =>
      express.use((request, _response, next) => {
        // express-session stands aside when somebody else has set a session; taken away again,
        // nobody has.
        Object.defineProperty(request, "session", {
          value: {},
          configurable: true,
          writable: true,
        });
        next();
      }),
    ...options,
    mount(express, auth) {
      express.use((request, _response, next) => {
        Reflect.deleteProperty(request, "session");
        next();
      });
      options.mount?.(express, auth);
    },
  });

  it.each(missing)(
    "when %s: 503 session_missing everywhere, never signed out",
    async (_when, options) => {
      await start(without(options));
      for (const path of [
        "/idpauth/",
        "/idpauth/login/?response=json",
        "/idpauth/login-callback?state=x&code=y",
        "/idpauth/logout/?response=json",
      ]) {
        const answer = await app.browser().get(path, { headers: { accept: "application/json" } });
        expect([path, answer.status, answer.json().code]).toEqual([path, 503, "session_missing"]);
      }
      const probed = await app.browser().get("/idpauth/session");
      expect([probed.status, probed.headers["retry-after"]]).toEqual([503, "1"]);
      expect(probed.text).not.toContain("logged_out");
    },
  );

  it("the guard responds with 503 and does not run the handler; getCredentials rejects", async () => {
    let ran = 0;
    const outcomes: unknown[] = [];
    await start(
      without({
        mount: (express, auth) => express.use(auth.routes),
        routes(express, auth) {
          express.get(
            "/reports",
            auth.idpRequired,
            (_request, response) => void response.json({ ran: (ran += 1) }),
          );
          express.get("/asks", async (request, response) => {
            outcomes.push(await auth.getCredentials(request).catch((error: unknown) => error));
            response.end();
          });
        },
      }),
    );
    const answer = await app.browser().get("/reports");
    expect([answer.status, answer.json().code, ran]).toEqual([503, "session_missing", 0]);
    expect((await app.browser().navigate("/reports")).status).toBe(503);
    await app.browser().get("/asks");
    expect(outcomes[0]).toBeInstanceOf(SessionMissingError);
  });

  it("a session that is stored in the cookie itself (no store) counts as none", async () => {
    await start({
      session: "host",
      // express-session stands aside when there is a session already.
      first: (express) =>
        express.use((request, _response, next) => {
          Object.defineProperty(request, "session", { value: { credentials: { token: "x" } } });
          next();
        }),
      mount: (express, auth) => express.use(auth.routes),
    });
    expect((await app.browser().get("/idpauth/session")).status).toBe(503);
  });
});

describe("an error in the configuration of an application that was mounted by hand", () => {
  it("is an error at the first request, never signed out", async () => {
    await start({ secretKey: "", mount: (express, auth) => express.use(auth.routes) });
    for (const path of ["/idpauth/session", "/reports"]) {
      const answer = await app.browser().get(path);
      expect([answer.status, answer.json().caught]).toEqual([500, expect.stringContaining("E001")]);
    }
  });
});

describe("errors that are no outage", () => {
  it("of the guard reach the application's error handler", async () => {
    await start({
      routes: (express, auth) =>
        express.get(
          "/reports",
          (request: Request, _response, next) => {
            Object.defineProperty(request.headers, "cookie", {
              get: () => {
                throw new TypeError("a bug");
              },
            });
            next();
          },
          auth.idpRequired,
          (_request, response) => void response.send("secret"),
        ),
    });
    const answer = await app.browser().get("/reports");
    expect([answer.status, answer.json().caught]).toEqual([500, "a bug"]);
  });
});

describe.each([5, 4] as const)("startup checks, Express %i", (version) => {
  const express = EXPRESS[version];
  const installed = () => session({ secret: "s", resave: false, saveUninitialized: false });
  const wrapped: RequestHandler = (request, response, next) =>
    void installed()(request, response, next);
  function _cookieSession(_request: unknown, _response: unknown, next: () => void): void {
    next();
  }

  /** The codes of what `mount` finds, or throws. */
  function codesOf(
    arrange: (app: Express) => Express | Router | undefined,
    options: IdpAuthOptions = { session: "host" },
  ): string[] {
    const log: LogEntry[] = [];
    const auth = idpAuth({
      env: {},
      secretKey: "a secret key of at least 32 bytes",
      clientId: "client.apps.googleusercontent.com",
      clientSecret: "secret",
      scope: ["openid"],
      baseUrl: "https://app.example",
      log: (entry) => log.push(entry),
      ...options,
    });
    const application = express();
    try {
      const findings = auth.mount(arrange(application) ?? application);
      expect(log.map(({ code }) => code)).toEqual([...findings.map(({ code }) => code), "started"]);
      return findings.map(({ code }) => code);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.findings.map(({ code }) => code);
    }
  }

  it.each<[string, (app: Express) => Express | Router | undefined, string[]]>([
    ["an empty application", () => undefined, ["E002"]],
    [
      "only middleware that is no session",
      (into) => void into.use(express.json()).use(express.urlencoded({ extended: false })),
      ["E002"],
    ],
    ["express-session", (into) => void into.use(installed()), []],
    [
      "express-session after body parsers",
      (into) => void into.use(express.json()).use(installed()),
      [],
    ],
    ["express-session mounted at /", (into) => void into.use("/", installed()), []],
    [
      "express-session mounted under a path only",
      (into) => void into.use("/api", installed()),
      ["W008"],
    ],
    ["express-session wrapped by a function", (into) => void into.use(wrapped), ["W008"]],
    [
      "express-session in a nested router",
      (into) => void into.use(express.Router().use(installed())),
      ["W008"],
    ],
    [
      "a nested router with routes only",
      (into) => void into.use(express.Router().get("/x", (_q, s) => void s.end())),
      ["E002"],
    ],
    ["a router whose parent has it", () => express.Router(), ["W008"]],
    ["a router that has it itself", () => express.Router().use(installed()), []],
    ["a cookie-only session", (into) => void into.use(_cookieSession), ["E002"]],
    ["routes before it", (into) => void into.get("/x", (_q, s) => void s.end()), ["E002"]],
  ])('session: "host" with %s', (_what, arrange, expected) => {
    const codes = codesOf(arrange);
    expect(codes.filter((code) => code === "E002" || code === "W008")).toEqual(expected);
    if (!expected.includes("E002")) expect(codes).toContain("W006");
  });

  it("express-session that comes after idpauth comes too late: E002", () => {
    const application = express();
    const auth = idpAuth({ ...UNREACHED, session: "host", log: false });
    expect(() => auth.mount(application)).toThrow(/E002[^]*express-session/);
  });

  it("a cookie-only session is refused by name", () => {
    const application = express();
    application.use(_cookieSession);
    const auth = idpAuth({ ...UNREACHED, session: "host", log: false });
    expect(() => auth.mount(application)).toThrow(/cookie-only/);
  });

  it("bundled sessions need no middleware", () => {
    expect(codesOf(() => undefined, {}).filter((code) => code.startsWith("E"))).toEqual([]);
  });
});

describe.each([5, 4] as const)(
  "a router that serves without an application, Express %i",
  (version) => {
    it("has no trust-proxy setting, so it believes no forwarded header, and guards as ever", async () => {
      const router = EXPRESS[version].Router();
      const auth = idpAuth({
        env: {},
        secretKey: "a secret key of at least 32 bytes",
        clientId: "c",
        clientSecret: "s",
        issuer: "https://login.example",
        log: false,
      });
      auth.mount(router);
      router.get("/reports", auth.idpRequired, (_request, response) => void response.end("secret"));
      const server = createServer((request, response) => {
        router(request as Request, response as never, (error: unknown) =>
          response.writeHead(500).end(String(error)),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      try {
        const answer = await rawRequest(
          port,
          `GET /reports HTTP/1.1\r\nHost: app.example\r\nX-Forwarded-Host: evil.example\r\nAccept: text/html\r\n\r\n`,
        );
        expect([answer.status, answer.header("location")]).toEqual([
          302,
          expect.stringContaining(encodeURIComponent("http://app.example/reports")),
        ]);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  },
);

describe("a fake request that shares its header lines with another one", () => {
  it("never gets the other one's session", async () => {
    const own = idpAuth(MADE_UP);
    own.start();
    const rawHeaders: string[] = [];
    const madeUp = (cookie: string | undefined) =>
      ({
        method: "GET",
        url: "/",
        originalUrl: "/",
        headers: { host: "app.example", cookie },
        rawHeaders,
        socket: {},
      }) as unknown as Request;
    const [ada, nobody] = [madeUp(await signedInAs(own, { sub: "ada" })), madeUp(undefined)];
    expect(await own.getSession(ada)).not.toBeNull();
    expect(await own.getSession(nobody)).toBeNull();
    expect(await own.getSession(ada)).not.toBeNull();
  });

  it("and a copy of a guarded request keeps the guard's session for the request itself", async () => {
    const own = idpAuth(MADE_UP);
    own.start();
    const cookie = await signedInAs(own, { sub: "ada" });
    const request = {
      method: "GET",
      url: "/",
      originalUrl: "/",
      headers: { cookie },
      rawHeaders: [],
      socket: {},
    } as unknown as Request;
    const response = {
      hasHeader: () => false,
      setHeader: () => undefined,
      getHeader: () => undefined,
      writeHead: () => undefined,
    };
    expect(
      await new Promise((resolve) => void own.idpRequired(request, response as never, resolve)),
    ).toBeUndefined();
    for (const copy of [
      Object.create(request) as Request,
      new Proxy(request, {}),
      Object.assign({}, request),
    ]) {
      expect(await own.getSession(copy)).not.toBeNull();
    }
    expect((await own.requireSession(request)).claims.sub).toBe("ada");
  });
});

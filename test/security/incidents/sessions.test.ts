/**
 * Incidents of other projects with sessions, cookies and caches, each replayed here. Ids are those
 * of the advisories.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { memoryStore, type SessionStore } from "../../../src/index.js";
import { postgresStore } from "../../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../../src/stores/redis/redis-store.js";
import { newCookieValue, storeKeyOf } from "../../../src/sessions/cookie.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { CookieBrowser } from "../../../src/testing/browser/cookie-browser.js";
import type { PersonClaims } from "../../../src/testing/provider/test-provider.js";
import { TestClock } from "../../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../../support/application.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../../support/express-application.js";
import { startFastifyApplication } from "../../support/fastify-application.js";
import { ensureFaketime, ensurePostgres, startPostgres } from "../../support/postgres-server.js";
import { CLIENTS } from "../../support/redis-clients.js";
import { faketimeForTests, redisForTests, startRedis } from "../../support/redis-server.js";
import { untilTestEnds } from "../../support/until-test-ends.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ADA = { sub: "ada-1815", email: "ada@example.com", name: "Ada Lovelace" };
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
const SIGNED_OUT = { authenticated: false, user: null };
const LOGIN = "/idpauth/login/";
const OUT = "/idpauth/logout/?response=json";

const refreshes = ({ provider }: Application) =>
  provider.requestsTo("token", { grant_type: "refresh_token" });

const start = (options: ApplicationOptions = {}) => untilTestEnds(startApplication(options));

const startExpress = (options: ExpressApplicationOptions = {}) =>
  untilTestEnds(startExpressApplication(options));

/** A store and the clock that its entries age by. */
interface Place {
  readonly store: SessionStore;
  readonly clock: TestClock;
  /** Both the component's clock and the store's own. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
}

/** Undefined: what it needs is not on this machine, which has been said. */
const PLACES: Readonly<Record<string, () => Promise<Place | undefined>>> = {
  memory() {
    const clock = new TestClock();
    return Promise.resolve({
      store: memoryStore({ clock }),
      clock,
      ...advancing(clock),
      close: () => Promise.resolve(),
    });
  },
  SQLite() {
    const clock = new TestClock();
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-incidents-"));
    const store = sqliteStore(path.join(folder, "sessions.db"), { clock });
    const close = async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return Promise.resolve({ store, clock, ...advancing(clock), close });
  },
  async Redis() {
    if ((await redisForTests()) === undefined || (await faketimeForTests()) === undefined)
      return undefined;
    const server = await startRedis({ faketime: true });
    const { client, close } = await CLIENTS["node-redis"](server);
    const clock = new TestClock(server.now() * 1000);
    return {
      store: redisStore(client),
      clock,
      ...advancing(clock, (seconds) => {
        server.advance(seconds);
      }),
      async close() {
        close();
        await server.stop();
      },
    };
  },
  async PostgreSQL() {
    if ((await ensurePostgres()) === undefined || (await ensureFaketime()) === undefined)
      return undefined;
    const server = await startPostgres({ faketime: true });
    const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
    const store = postgresStore(pool);
    await store.migrate();
    const clock = new TestClock(server.now() * 1000);
    return {
      store,
      clock,
      ...advancing(clock, (seconds) => server.advance(seconds)),
      async close() {
        await store.close();
        await pool.end();
        await server.stop();
      },
    };
  },
};

function advancing(
  clock: TestClock,
  also: (seconds: number) => unknown = () => undefined,
): Pick<Place, "advance"> {
  return {
    async advance(seconds) {
      clock.advance(seconds * 1000);
      await also(seconds);
    },
  };
}

describe.each(Object.entries(PLACES))("in the store %s", (_name, open) => {
  let place: Place | undefined;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place?.close());

  function inPlace(name: string, test: (place: Place) => Promise<void>): void {
    it(name, async ({ skip }) => {
      if (place === undefined) skip("what it needs is not on this machine");
      else await test(place);
    });
  }

  inPlace(
    "[INC-40] CVE-2021-41246 express-openid-connect: the session id from before the sign-in stayed, with a store of the application's own",
    async ({ store, clock }) => {
      const { auth, another, user: newUser } = await start({ store, clock });
      const user = newUser();
      const attacker = newUser();
      const ids: string[] = [];
      // Before, after the sign-in, and after a second one.
      await user.get(LOGIN);
      for (let round = 0; round < 3; round += 1) {
        ids.push(user.cookies.get("idpauth") ?? "");
        if (round < 2) await user.signIn();
      }
      expect(new Set(ids).size).toBe(3);
      for (const old of ids.slice(0, 2)) {
        // No session, only the trace of the sign-in.
        expect((await store.get(storeKeyOf(old)))?.subject).toBeUndefined();
        attacker.cookies.set("idpauth", old);
        for (const process of [auth, another()])
          expect(await attacker.at(process).isSignedIn()).toBe(false);
      }
      expect(await user.isSignedIn()).toBe(true);
    },
  );

  inPlace(
    "[INC-46] CVE-2024-35220 @fastify/session: loading a session moved its end, so that none ever ended",
    async (its) => {
      const { store, clock, advance } = its;
      const application = await start({
        store,
        clock,
        sessionTtl: 4 * 3600,
        sessionMaxAge: 3 * 3600,
      });
      const user = application.user();
      await user.signIn();
      const key = storeKeyOf(user.cookies.get("idpauth") ?? "");
      const { expiresAt } = (await store.get(key))!;
      // Read, and asked, again and again; only an access within the caps renews its life, and that
      // was the last at 3 hours.
      for (let quarter = 1; quarter <= 12; quarter += 1) {
        await advance(900);
        await store.get(key);
        expect(await user.isSignedIn()).toBe(true);
      }
      await advance(1);
      const last = (await store.get(key))!.expiresAt;
      expect(last).toBeGreaterThan(expiresAt);
      for (let quarter = 0; quarter < 16; quarter += 1) {
        expect((await user.get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
        const found = await store.get(key);
        expect(found === undefined || found.expiresAt === last).toBe(true);
        await advance(900);
      }
      expect(await store.get(key)).toBeUndefined();
    },
  );

  inPlace(
    "[INC-54] nextjs-auth0 2530: a write that only prolonged the session brought it back after a logout at the same moment",
    async (its) => {
      const { store, clock } = its;
      const key = storeKeyOf(newCookieValue());
      const now = Math.floor(clock.now() / 1000);
      const application = await start({ store, clock, sessionIdleTimeout: 600 });
      const user = application.user();
      await user.signIn();
      const ownKey = storeKeyOf(user.cookies.get("idpauth") ?? "");
      const late = (await store.get(ownKey))!;
      const { cookies } = user.at(application.auth);
      await user.get(OUT);
      // What a request would still write that had read before the logout.
      expect(await store.touch(ownKey, now + 1, now + 9_999)).toBe(false);
      expect(await store.replace(ownKey, late, late.version)).toBe(false);
      expect(await store.touch(key, now, now + 9_999)).toBe(false);
      for (const each of [ownKey, key]) expect(await store.get(each)).toBeUndefined();
      for (const [name, value] of cookies) user.cookies.set(name, value);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  inPlace(
    "[INC-59] express-session, connect-redis: a save, or a touch, after the end must not make the session again",
    async ({ store, clock }) => {
      const application = await start({ store, clock });
      const user = application.user();
      await user.signIn();
      const old = new Map(user.cookies);
      clock.advance(HOUR);
      // A refresh is under way, in another process, when the user signs out here.
      const hold = application.provider.hold("token");
      const probe = user.at(application.another()).get("/idpauth/session");
      await hold.arrived;
      await user.get(OUT);
      hold.release();
      expect((await probe).json()).toEqual(SIGNED_OUT);
      expect(await store.get(storeKeyOf(old.get("idpauth") ?? ""))).toBeUndefined();
      for (const [name, value] of old) user.cookies.set(name, value);
      expect(await user.isSignedIn()).toBe(false);
    },
  );
});

describe("in the framework's own session", () => {
  /** What lies in each session that express-session keeps; `cookie` is its own. */
  const onlyKeys = (app: ExpressApplication) =>
    Object.values(app.stored()).map((session) => Object.keys(session));

  const routes: ExpressApplicationOptions["routes"] = (express) => {
    express.get("/keep/:item", (request, response) => {
      (request.session as unknown as Record<string, unknown>)["kept"] = request.params.item;
      response.send("kept");
    });
    express.get(
      "/host-session",
      (request, response) => void response.json({ ...request.session, id: request.sessionID }),
    );
  };

  it("[INC-40] CVE-2021-41246 express-openid-connect: the session id from before the sign-in stayed, with express-session", async () => {
    const app = await startExpress({ session: "host", routes });
    const browser = app.browser();
    await browser.get("/keep/this");
    const before = app.browser();
    for (const cookie of browser.cookies.all()) before.cookies.plant(cookie);
    const [old] = Object.keys(app.stored());
    await browser.follow(LOGIN);
    expect(Object.keys(app.stored())).not.toContain(old);
    expect((await before.get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
  });

  it("[INC-41] CVE-2022-25896 passport: the session id stayed at login and logout, and what lay in the session with it", async () => {
    const app = await startExpress({ session: "host", routes });
    const browser = app.browser();
    const idNow = async () => (await browser.get("/host-session")).json().id as string;
    await browser.get("/keep/before");
    const ids = [await idNow()];
    await browser.follow(LOGIN);
    await browser.get("/keep/signed-in");
    ids.push(await idNow());
    await browser.get(OUT);
    expect(onlyKeys(app)).toEqual([["cookie"]]);
    expect((await browser.get("/host-session")).json()).not.toHaveProperty("kept");
    ids.push(await idNow());
    // And somebody else's sign-in begins with nothing of it.
    app.provider.person = GRACE;
    await browser.follow(LOGIN);
    ids.push(await idNow());
    expect(new Set(ids).size).toBe(4);
    expect(JSON.stringify(app.stored())).not.toMatch(/kept|ada@/);
  });

  it("[INC-42] CVE-2023-29019 @fastify/passport: the same, in @fastify/session", async () => {
    const app = await startFastifyApplication({
      session: "host",
      routes(instance) {
        instance.get("/keep", (request) => {
          (request.session as unknown as Record<string, unknown>)["kept"] = "this";
          return "kept";
        });
      },
    });
    onTestFinished(() => app.stop());
    const browser = app.browser();
    const attacker = app.browser();
    await browser.get("/keep");
    const ids = Object.keys(app.hostStore.all());
    for (const cookie of browser.cookies.all()) attacker.cookies.plant(cookie);
    await browser.follow(LOGIN);
    const signedIn = Object.keys(app.hostStore.all());
    expect([ids.length, signedIn.length]).toEqual([1, 1]);
    expect(signedIn).not.toEqual(ids);
    expect((await attacker.get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
    await browser.get(OUT);
    expect(app.hostStore.all()).toEqual({});
  });

  it("[INC-43] CVE-2023-29020 @fastify/passport: the secret against forged requests stayed the same through a sign-in", async () => {
    const app = await startExpress({ session: "host", routes });
    const browser = app.browser();
    const only = () => {
      const [[id, data] = ["", {}], ...others] = Object.entries(app.stored());
      expect(others).toEqual([]);
      return { id, data, text: JSON.stringify(data) };
    };
    await browser.get("/keep/the-secret-of-ada");
    const login = await browser.navigate(LOGIN);
    const query = new URL(login.location ?? "").searchParams;
    const [state, nonce] = [query.get("state") ?? "", query.get("nonce") ?? ""];
    const before = only();
    for (const secret of [state, nonce]) expect(before.text).toContain(secret);
    expect(state.length).toBeGreaterThan(40);
    const callback = await app.provider.signInCode(login.location ?? "", ADA);
    await browser.get(callback);
    const verifier = app.provider.requestsTo("token")[0]?.params.get("code_verifier") ?? "";
    expect(before.text).toContain(verifier);
    expect(verifier.length).toBeGreaterThan(42);

    // Under a new id. What the component itself needed for the login is gone, but for the page to
    // come back to.
    const signedIn = only();
    expect(signedIn.id).not.toBe(before.id);
    for (const secret of [state, verifier]) expect(signedIn.text).not.toContain(secret);
    // The nonce is a claim of the ID token, which a refreshed one is compared with.
    expect(signedIn.text.split(nonce)).toHaveLength(2);
    expect(signedIn.data).toMatchObject({ id_info: { nonce } });
    expect(Object.keys(signedIn.data).sort()).toEqual(
      [
        "cookie",
        "credentials",
        "final_redirect",
        "id_info",
        "idp_login_at",
        "idp_state",
        "kept",
      ].sort(),
    );
    expect(signedIn.data).toMatchObject({ final_redirect: "/idpauth/", kept: "the-secret-of-ada" });
    expect(signedIn.data["idp_state"]).not.toHaveProperty("logins");

    // The same person again keeps them, under a new id again; another person's sign-in drops them.
    app.provider.person = ADA;
    await browser.follow(LOGIN);
    const again = only();
    expect(again.data).toMatchObject({ kept: "the-secret-of-ada" });
    expect([before.id, signedIn.id]).not.toContain(again.id);
    app.provider.person = GRACE;
    await browser.follow(LOGIN);
    const other = only();
    expect(other.data).toMatchObject({ id_info: { sub: GRACE.sub } });
    expect(other.data).not.toHaveProperty("kept");
    expect(other.text).not.toMatch(/the-secret-of-ada|ada@/);
    expect([before.id, signedIn.id, again.id]).not.toContain(other.id);
  });

  it("[INC-59] express-session: a request that ends after the logout must not save the session again", async () => {
    const app = await startExpress({ session: "host", sessionIdleTimeout: 7_200, routes });
    const browser = app.browser();
    await browser.follow(LOGIN);
    const [old] = Object.keys(app.stored());
    app.clock.advance(HOUR);
    const hold = app.provider.hold("token");
    const late = browser.get("/idpauth/session");
    await hold.arrived;
    await browser.get(OUT);
    const left = app.stored();
    expect(onlyKeys(app)).toEqual([["cookie"]]);
    expect(left).not.toHaveProperty(old!);
    hold.release();
    expect((await late).json()).toEqual(SIGNED_OUT);
    expect(app.stored()).toEqual(left);
  });

  it("[INC-59] CVE-2025-7339 express-session, on-headers: headers that were handed over as a list were changed on their way", async () => {
    // A middleware that waits for the head, as express-session does, before answers of the
    // component that set cookies.
    const app = await startExpress({
      middleware: { saveUninitialized: true, rolling: true, resave: true },
      routes,
    });
    const browser = app.browser();
    const login = await browser.navigate(LOGIN);
    expect(login.setCookies.map((cookie) => cookie.split("=")[0]).sort()).toEqual([
      "connect.sid",
      "idpauth",
    ]);
    await browser.get(await app.provider.signInCode(login.location ?? ""));
    for (const target of [
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/style.css",
      "/idpauth/nothing",
    ]) {
      const { headers, rawHeaders } = await browser.get(target);
      expect([headers["cache-control"], headers.vary, headers["x-content-type-options"]]).toEqual([
        "no-store",
        "Cookie",
        "nosniff",
      ]);
      const names = rawHeaders
        .filter((_, index) => index % 2 === 0)
        .map((name) => name.toLowerCase());
      expect(names).toHaveLength(new Set(names).size);
    }
  });
});

it("[INC-44] CVE-2024-52553 Jenkins oic-auth, CVE-2023-24426 Jenkins Azure AD: the session from before a sign-in stayed valid next to the new one", async () => {
  const application = await start();
  const user = application.user();
  await user.signIn(LOGIN, ADA);
  const old = user.at(application.auth);
  const oldRequest = old.request("/");
  await user.signIn(LOGIN, GRACE);
  expect(await old.isSignedIn()).toBe(false);
  expect(await application.auth.getCredentials(oldRequest)).toBeNull();
  expect((await user.get("/idpauth/session")).json().user.email).toBe("grace@example.com");
});

it("[INC-45] mod_auth_openidc, August 2026: the new identity was written into any session that the browser came with", async () => {
  const application = await start();
  const attacker = application.user();
  await attacker.signIn(LOGIN, GRACE);
  const planted = attacker.cookies.get("idpauth") ?? "";
  const other = application.user();
  await other.get(LOGIN);
  for (const [name, value] of [
    ["the attacker's session", planted],
    ["a login that the attacker began", other.cookies.get("idpauth") ?? ""],
    ["a value that nobody gave out", newCookieValue()],
  ] as const) {
    const victim = application.user();
    victim.cookies.set("idpauth", value);
    await victim.signIn(LOGIN, ADA);
    expect([name, victim.cookies.get("idpauth") === value]).toEqual([name, false]);
    const holder = application.user();
    holder.cookies.set("idpauth", value);
    expect([name, (await holder.get("/idpauth/session")).json()]).toEqual([name, SIGNED_OUT]);
  }
});

describe("a cookie that an attacker saved", () => {
  const ENDS: readonly (readonly [string, ApplicationOptions, number])[] = [
    ["after the maximum age", { sessionMaxAge: 7_200 }, 7_201_000],
    ["after the idle timeout", { sessionIdleTimeout: 600 }, 601_000],
    ["after the ID token, without refresh", { sessionAutoRefresh: false }, HOUR],
    ["after the record's own life", { sessionTtl: 3_000 }, 3_000_000],
    ["after two weeks", {}, 15 * DAY],
    ["after ten years", { sessionMaxAge: 86_400 }, 3_650 * DAY],
  ];

  describe("[INC-47] CVE-2025-46344 nextjs-auth0: its session had no end of its own, and was good for ever", () => {
    it.each(ENDS)("%s", async (_name, options, milliseconds) => {
      const application = await start(options);
      const user = application.user();
      await user.signIn();
      const thief = user.at(application.auth);
      application.clock.advance(milliseconds);
      // Whatever the browser made of Max-Age: the thief's does not forget it.
      expect(thief.cookies.get("idpauth")).toMatch(/^[\w-]{43}$/);
      expect(await thief.isSignedIn()).toBe(false);
      expect(await application.auth.getCredentials(thief.request("/"))).toBeNull();
      expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toEqual([]);
    });
  });

  describe("[INC-48] nextjs-auth0 2081: an expired session got a 500", () => {
    it.each(ENDS)("%s", async (_name, options, milliseconds) => {
      const application = await start(options);
      const user = application.user();
      await user.signIn();
      application.clock.advance(milliseconds);
      const probe = await user.get("/idpauth/session");
      expect([probe.status, probe.json()]).toEqual([200, SIGNED_OUT]);
      expect(await application.auth.guard(user.request("/reports"))).toMatchObject({
        kind: "unauthenticated",
        reply: { status: 401 },
      });
      expect((await user.get("/idpauth/")).status).toBe(200);
      expect((await user.get(OUT)).json()).toEqual({ status: "logged_out" });
      await user.signIn();
      expect(await user.isSignedIn()).toBe(true);
    });
  });

  it("[INC-55] CVE-2025-4643 Payload: a logout only made the browser forget", async () => {
    const application = await start();
    const user = application.user();
    await user.signIn();
    const thief = user.at(application.auth);
    expect(await thief.isSignedIn()).toBe(true);
    await user.get(OUT);
    expect(await thief.isSignedIn()).toBe(false);
    application.clock.advance(HOUR);
    expect(await thief.isSignedIn()).toBe(false);
    expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toEqual([]);
  });
});

describe("[INC-49] CVE-2025-48947 nextjs-auth0, CVE-2025-64762 authkit-nextjs: a cache on the way kept a response with Set-Cookie and gave it to others", () => {
  it("through a cache that keeps all that is not forbidden", async () => {
    let made = 0;
    const app = await startExpress({
      routes(express, auth) {
        express.get("/public", (_request, response) =>
          response.set("Cache-Control", "public, max-age=60").send(String((made += 1))),
        );
        express.get("/guarded", auth.idpRequired, (_request, response) =>
          response.set("Cache-Control", "private").send("guarded"),
        );
      },
    });
    const cache = await startCache(app.port);
    onTestFinished(() => cache.stop());
    const browser = () => new CookieBrowser({ origin: cache.origin, now: () => app.clock.now() });
    const [ada, other] = [browser(), browser()];
    // It is a cache.
    expect([(await ada.get("/public")).text, (await other.get("/public")).text]).toEqual([
      "1",
      "1",
    ]);

    const targets = [
      "/idpauth/",
      "/idpauth/session",
      "/guarded",
      LOGIN,
      "/idpauth/login/?response=json",
      "/idpauth/nothing",
      "/idpauth/?error=access_denied",
    ];
    const login = await ada.navigate(LOGIN);
    const callback = await app.provider.signInCode(login.location ?? "", ADA);
    const finished = await ada.get(callback);
    expect([finished.status, finished.setCookies.length]).toEqual([302, 1]);
    // Old enough that the next answer renews its life, and sets its cookie again: what the
    // incidents' caches kept.
    app.clock.advance(2 * DAY);
    const renewed = await ada.navigate("/idpauth/session");
    expect([renewed.json().authenticated, renewed.setCookies.length]).toEqual([true, 1]);
    for (const target of targets) await ada.navigate(target);
    const adasCookie = ada.cookies.value("idpauth") ?? "";
    for (const target of [...targets, callback]) {
      const answer = await other.navigate(target);
      expect(answer.headers["x-cache"]).toBe("miss");
      expect(`${answer.text} ${JSON.stringify(answer.headers)}`).not.toMatch(
        /ada@example|Ada Lovelace/,
      );
      expect(JSON.stringify(answer.headers)).not.toContain(adasCookie);
    }
    expect((await other.get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
    await ada.navigate("/idpauth/logout/");
    expect((await other.navigate("/idpauth/logout/")).headers["x-cache"]).toBe("miss");
    expect(cache.kept()).toEqual(["/public"]);
  });
});

/**
 * A careless cache: keeps every answer to GET by its target alone, whatever Vary and Set-Cookie
 * say, unless Cache-Control forbids it.
 */
async function startCache(
  port: number,
): Promise<{ readonly origin: string; kept(): string[]; stop(): Promise<void> }> {
  const kept = new Map<string, { status: number; headers: IncomingHttpHeaders; body: Buffer }>();
  const server = createServer((request, response) => {
    const target = request.url ?? "/";
    const answer = kept.get(target);
    if (answer !== undefined) {
      response.writeHead(answer.status, { ...answer.headers, "x-cache": "hit" }).end(answer.body);
      return;
    }
    const onward = httpRequest(
      { port, host: "127.0.0.1", path: target, method: request.method, headers: request.headers },
      (message) => {
        const chunks: Buffer[] = [];
        message.on("data", (chunk: Buffer) => chunks.push(chunk));
        message.on("end", () => {
          const { statusCode: status = 502, headers } = message;
          const body = Buffer.concat(chunks);
          if (!/no-store|no-cache|private/.test(headers["cache-control"] ?? ""))
            kept.set(target, { status, headers, body });
          response.writeHead(status, { ...headers, "x-cache": "miss" }).end(body);
        });
      },
    );
    onward.on("error", () => response.destroy());
    onward.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    kept: () => [...kept.keys()],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

describe("200 people at once", () => {
  const PEOPLE: readonly PersonClaims[] = Array.from({ length: 200 }, (_, index) => ({
    sub: `person-${index}`,
    email: `person-${index}@example.com`,
    name: `Person ${index}`,
  }));

  let application: Application;
  let users: readonly TestUser[];
  /** Whom each access token that the provider handed out is for. */
  const owners = new Map<string, unknown>();
  // One of them for all tests: each begins an hour later, when everybody's ID token has expired.
  beforeAll(async () => {
    // An ID token that says only who it is: so each sign-in also asks userinfo, with the access
    // token.
    application = await startApplication({ provider: { claimsInIdToken: false } });
    application.provider.tokenResponse = (answer) => {
      const [, claims = ""] = String(answer["id_token"]).split(".");
      owners.set(
        String(answer["access_token"]),
        (JSON.parse(Buffer.from(claims, "base64url").toString()) as { sub: unknown }).sub,
      );
      return answer;
    };
    outOfOrder(application);
    users = PEOPLE.map(() => application.user());
    await Promise.all(users.map((user, index) => user.signIn(LOGIN, PEOPLE[index])));
  });
  afterAll(() => application.stop());

  /** The provider answers in another order than it was asked. */
  function outOfOrder({ provider }: Application): void {
    let turn = 0;
    provider.mutateIdToken = async (draft) => {
      turn += 1;
      for (let left = (turn * 7) % 31; left > 0; left -= 1) await nextTurn();
      return draft;
    };
  }

  /**
   * What each one is told of themselves, by every accessor; and whom the provider knows by the
   * access token they have.
   */
  async function expectOwn(): Promise<void> {
    const { auth } = application;
    const told = await Promise.all(
      users.map(async (user) => {
        const request = user.request("/");
        const [session, credentials, token, record] = await Promise.all([
          auth.getSession(request),
          auth.getCredentials(request),
          auth.getAccessToken(request),
          auth.readSessionRecord(request),
        ]);
        return [
          session?.user.email,
          token === credentials?.token,
          (record?.["id_info"] as { sub?: string } | undefined)?.sub,
          owners.get(credentials?.token ?? ""),
        ];
      }),
    );
    expect(told).toEqual(PEOPLE.map(({ sub, email }) => [email, true, sub, sub]));
  }

  it("[INC-52] CVE-2024-51987 Duende AccessTokenManagement: a shared HTTP client kept the token of the first user", async () => {
    const asked = application.provider
      .requestsTo("userinfo")
      .map(({ headers }) => headers.authorization?.replace("Bearer ", "") ?? "");
    expect(new Set(asked.map((token) => owners.get(token))).size).toBe(200);
    expect(asked).toHaveLength(200);
    await expectOwn();
  });

  it("[INC-50] CVE-2025-67490 nextjs-auth0: requests at the same moment were given each other's tokens", async () => {
    application.clock.advance(HOUR);
    const before = refreshes(application).length;
    const asked = users.flatMap((user) => [user, user]);
    const answers = await Promise.all(asked.map((user) => user.get("/idpauth/session")));
    expect(
      answers.map((answer) => (answer.json() as { user: { email: string } | null }).user?.email),
    ).toEqual(PEOPLE.flatMap(({ email }) => [email, email]));
    expect([refreshes(application).length - before, application.provider.reuses]).toEqual([200, 0]);
    await expectOwn();
  });

  it("[INC-51] CVE-2026-40155 GHSA-xq8m-7c5p-c2r6 nextjs-auth0: and again, when the first try had failed", async () => {
    const { provider, clock } = application;
    const statuses = async () =>
      new Set(
        (await Promise.all(users.map((user) => user.get("/idpauth/session")))).map(
          ({ status }) => status,
        ),
      );
    clock.advance(HOUR);
    // The first try fails before the provider has done anything, the second after, with tokens that
    // cannot be verified yet.
    const mend = provider.fault("token", { kind: "status", status: 503 });
    expect(await statuses()).toEqual(new Set([503]));
    mend();
    clock.advance(60_000);
    await provider.rotateKeys({ keepOld: false });
    const publish = provider.fault("jwks", { kind: "reset" });
    expect(await statuses()).toEqual(new Set([503]));
    publish();
    clock.advance(60_000);
    const answers = await Promise.all(users.map((user) => user.get("/idpauth/session")));
    expect(
      answers.map((answer) => (answer.json() as { user: { email: string } | null }).user?.email),
    ).toEqual(PEOPLE.map(({ email }) => email));
    expect(provider.reuses).toBe(0);
    await expectOwn();
  });
});

it("[INC-53] CVE-2025-26620 Duende AccessTokenManagement: requests for tokens were taken for one although they were several", async () => {
  const application = await start();
  const { provider, clock } = application;
  // Two sessions of one person, and two people with one name.
  const twin = { ...ADA, sub: "ada-the-second" };
  const users = [application.user(), application.user(), application.user()];
  for (const [index, person] of [ADA, ADA, twin].entries())
    await users[index]!.signIn(LOGIN, person);
  const before = await Promise.all(
    users.map((user) => application.auth.getCredentials(user.request("/"))),
  );
  clock.advance(HOUR);
  const hold = provider.hold("token", { count: 3 });
  const probes = users.flatMap((user) => [user.isSignedIn(), user.isSignedIn()]);
  await hold.arrived;
  hold.release();
  expect(await Promise.all(probes)).toEqual(Array<boolean>(6).fill(true));
  const spent = refreshes(application).map(({ params }) => params.get("refresh_token"));
  expect([...spent].sort()).toEqual(before.map((credentials) => credentials?.refresh_token).sort());
  const after = await Promise.all(
    users.map((user) => application.auth.getCredentials(user.request("/"))),
  );
  expect(
    new Set(after.flatMap((credentials) => [credentials?.token, credentials?.refresh_token])).size,
  ).toBe(6);
  const subs = await Promise.all(
    users.map((user) => application.auth.readSessionRecord(user.request("/"))),
  );
  expect(subs.map((session) => (session?.["id_info"] as { sub: string }).sub)).toEqual([
    ADA.sub,
    ADA.sub,
    twin.sub,
  ]);
});

it("[INC-56] CVE-2022-3916 Keycloak: a refresh token outlived its session's id and served another user", async () => {
  const application = await start();
  const { provider, clock } = application;
  const user = application.user();
  await user.signIn(LOGIN, ADA);
  clock.advance(HOUR);
  // The provider mixes people up: the answer to Ada's refresh token is about Grace.
  provider.mutateIdToken = ({ claims, grant, header }) => ({
    header,
    claims: grant === "refresh_token" ? { ...claims, ...GRACE } : claims,
  });
  expect((await user.get("/idpauth/session")).json()).toEqual(SIGNED_OUT);
  const session = JSON.stringify(await application.auth.readSessionRecord(user.request("/")));
  expect(session).not.toContain("grace");
  // Nor is an id ever used again: everyone who signs in gets one that nobody had.
  provider.mutateIdToken = undefined;
  const ids = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    await user.signIn(LOGIN, round % 2 === 0 ? GRACE : ADA);
    ids.add(user.cookies.get("idpauth") ?? "");
    await user.get(OUT);
  }
  expect(ids.size).toBe(20);
});

it("[INC-57] GHSA-f24x-5g9q-753f oauth2-proxy: a sign-in began without the old session being cleared, and the two were mixed", async () => {
  const application = await start({ sessionIdleTimeout: 7_200 });
  const { auth, clock, provider } = application;
  const user = application.user();
  await user.signIn(LOGIN, {
    ...ADA,
    picture: "https://pictures.example.com/ada.png",
    hd: "ada.example",
  });
  const before = (await auth.getCredentials(user.request("/")))!;
  clock.advance(600_000);
  const callback = await user.approve(LOGIN, GRACE);
  // Until the callback it is Ada alone.
  expect((await user.get("/idpauth/session")).json().user.email).toBe("ada@example.com");
  await user.get(callback);
  const session = (await auth.readSessionRecord(user.request("/")))!;
  expect(session["id_info"]).toMatchObject(GRACE);
  expect(session).toMatchObject({
    idp_login_at: clock.now() / 1000,
    idp_last_active: clock.now() / 1000,
  });
  // Whole words: a random token may contain three of these letters.
  for (const word of [...Object.values(ADA), "ada.png", "ada.example"])
    expect(JSON.stringify(session)).not.toContain(word);
  for (const token of [before.token, before.refresh_token ?? ""])
    expect(JSON.stringify(session)).not.toContain(token);
  clock.advance(HOUR);
  expect((await user.get("/idpauth/session")).json().user).toEqual({
    email: GRACE.email,
    name: GRACE.name,
    picture: null,
  });
  expect(
    provider
      .requestsTo("token", { grant_type: "refresh_token" })
      .map(({ params }) => params.get("refresh_token")),
  ).not.toContain(before.refresh_token);
});

it("[INC-58] GHSA-xg6x-h9c9-2m83 better-auth: a session was remembered as good before the sign-in was finished, and after it had ended", async () => {
  const application = await start();
  const { auth } = application;
  const user = application.user();
  const ask = async () => [
    (await auth.getCredentials(user.request("/"))) !== null,
    (await auth.getSession(user.request("/"))) !== null,
  ];
  expect(await ask()).toEqual([false, false]);
  const callback = await user.approve();
  expect(await ask()).toEqual([false, false]);
  const hold = application.provider.hold("token", { before: false });
  const finishing = user.get(callback);
  await hold.arrived;
  expect(await ask()).toEqual([false, false]);
  hold.release();
  await finishing;
  expect(await ask()).toEqual([true, true]);
  const signedIn = user.at(auth);
  await user.get(OUT);
  expect(await auth.getCredentials(signedIn.request("/"))).toBeNull();
  expect(await ask()).toEqual([false, false]);
  await user.signIn();
  expect(await ask()).toEqual([true, true]);
});

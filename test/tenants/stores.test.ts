import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import {
  providerSource,
  type IdpAuthOptions,
  type IdpRequest,
  type SessionStore,
  type SourcedProviderOptions,
} from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import type { TestProvider } from "../../src/testing/provider/test-provider.js";
import { settled } from "../../src/testing/settled.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import { ensurePostgres, startPostgres } from "../support/postgres-server.js";
import { CLIENTS } from "../support/redis-clients.js";
import { redisForTests, startRedis } from "../support/redis-server.js";
import { whileTimePasses } from "../support/while-time-passes.js";

const HOUR = 3_600_000;

/** Where sessions are stored. Each process opens it for itself. */
interface Place {
  open(): Promise<SessionStore>;
  close(): Promise<unknown>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  memory() {
    // One process has several applications at most, which share the store.
    const store = memoryStore();
    return Promise.resolve({
      open: () => Promise.resolve(store),
      close: () => Promise.resolve(),
    });
  },
  SQLite() {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-tenants-"));
    const opened: ReturnType<typeof sqliteStore>[] = [];
    return Promise.resolve({
      open() {
        const store = sqliteStore(path.join(folder, "sessions.db"));
        opened.push(store);
        return Promise.resolve(store);
      },
      async close() {
        for (const store of opened) await store.close();
        rmSync(folder, { recursive: true });
      },
    });
  },
  async Redis() {
    const server = await startRedis();
    const closers: (() => unknown)[] = [() => server.stop()];
    return {
      async open() {
        const { client, close } = await CLIENTS["node-redis"](server);
        closers.unshift(close);
        return redisStore(client);
      },
      async close() {
        for (const close of closers) await close();
      },
    };
  },
  async PostgreSQL() {
    const server = await startPostgres();
    const closers: (() => Promise<unknown>)[] = [() => server.stop()];
    return {
      async open() {
        const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
        const store = postgresStore(pool, { sweepInterval: 0 });
        closers.unshift(
          () => store.close(),
          () => pool.end(),
        );
        await store.migrate();
        return store;
      },
      async close() {
        for (const close of closers) await close();
      },
    };
  },
};

const missing = {
  Redis: (await redisForTests()) === undefined,
  PostgreSQL: (await ensurePostgres()) === undefined,
};

const clientOf = ({ issuer, clientId, clientSecret }: TestProvider) => ({
  ...{ issuer, clientId, clientSecret },
});

/** A process of the application, with a memory of its own. */
interface Process {
  readonly auth: IdpAuth<IdpRequest>;
  /** What its source has: it may lag behind the other one's. */
  readonly found: Record<string, SourcedProviderOptions | undefined>;
  readonly asked: string[];
}

describe.each(
  Object.entries(PLACES).map(([name, create]) => ({
    ...{ name, create },
    isMissing: name in missing && missing[name as keyof typeof missing],
  })),
)("customers with sessions in $name", ({ create, isMissing }) => {
  if (isMissing) {
    it.skip("have sessions in two processes", () => undefined);
    return;
  }
  let place: Place;
  let application: Application;
  let one: Process;
  let other: Process;

  beforeAll(async () => {
    place = await create();
  });
  afterAll(() => place.close());

  async function startProcess(options: Partial<IdpAuthOptions> = {}): Promise<Process> {
    const client = clientOf(application.provider);
    const found: Process["found"] = { acme: client, mallory: client };
    const asked: string[] = [];
    const find = (key: string) => {
      asked.push(key);
      return found[key];
    };
    const auth = application.another({
      ...{ issuer: undefined, clientId: undefined, clientSecret: undefined },
      providers: providerSource({ find, internalHosts: ["127.0.0.1"] }),
      store: await place.open(),
      backchannelLogout: true,
      ...options,
    });
    return { auth, found, asked };
  }

  beforeEach(async () => {
    // Servers of databases know the system's time alone.
    application = await startApplication({ clock: new TestClock(Date.now()) });
    one = await startProcess();
    other = await startProcess();
  });
  afterEach(async () => {
    await Promise.all([settled(one.auth), settled(other.auth)]);
    await application.stop();
  });

  async function signIn(key: string, { auth }: Process): Promise<TestUser> {
    const browser = application.user().at(auth);
    await browser.signIn(`/idpauth/login/?provider=${key}`);
    return browser;
  }
  const isSignedIn = (browser: TestUser, { auth }: Process) => browser.at(auth).isSignedIn();
  const sessionOf = (browser: TestUser, { auth }: Process) => auth.getSession(browser.request("/"));
  async function subjectOf(browser: TestUser, at: Process, provider: string) {
    const { sub = "" } = (await sessionOf(browser, at))?.claims ?? {};
    return { iss: application.provider.issuer, sub, provider };
  }
  const refreshes = () =>
    application.provider.requestsTo("token", { grant_type: "refresh_token" }).length;
  const logout = (key: string, token: string, { auth }: Process) =>
    application.user().at(auth).post(`/idpauth/backchannel-logout/${key}`, { logout_token: token });

  it("that one process has created are read by another, which asks its own source", async () => {
    const ada = await signIn("acme", one);
    expect(other.asked).toEqual([]);
    expect(await sessionOf(ada, other)).toMatchObject({
      provider: "acme",
      user: { provider: "acme" },
    });
    expect(other.asked).toEqual(["acme"]);
  });

  it("begun in one process are signed in by another", async () => {
    const began = application.user().at(one.auth);
    const target = await began.approve("/idpauth/login/?provider=acme");
    const finished = began.at(other.auth);
    expect((await finished.get(target)).status).toBe(302);
    expect(await isSignedIn(finished, one)).toBe(true);
  });

  it("that both processes refresh at once take one token request", async () => {
    const ada = await signIn("acme", one);
    application.clock.advance(HOUR);
    // The process without the lease looks for the result again and again.
    const sessions = await whileTimePasses(
      application.clock,
      Promise.all([one, other, one, other].map((each) => sessionOf(ada, each))),
    );
    expect(sessions.map((session) => session?.provider)).toEqual(
      Array.from({ length: 4 }, () => "acme"),
    );
    expect(refreshes()).toBe(1);
    expect(await isSignedIn(ada, other)).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it("of two customers with the same issuer and client are ended apart by logout tokens, at either process", async () => {
    const [ada, impostor] = [await signIn("acme", one), await signIn("mallory", one)];
    const { sub } = await subjectOf(ada, one, "acme");
    const token = () => application.provider.logoutToken({ sub });
    expect((await logout("acme", token(), other)).status).toBe(200);
    await settled(other.auth);
    expect(await isSignedIn(ada, one)).toBe(false);
    expect(await isSignedIn(ada, other)).toBe(false);
    expect(await isSignedIn(impostor, one)).toBe(true);
    expect((await logout("mallory", token(), other)).status).toBe(200);
    await settled(other.auth);
    expect(await isSignedIn(impostor, one)).toBe(false);
  });

  it("of one session at their provider are ended apart as well", async () => {
    const [ada, impostor] = [await signIn("acme", one), await signIn("mallory", one)];
    const sid = (await sessionOf(ada, one))?.claims["sid"];
    expect(typeof sid).toBe("string");
    // Both have signed in to the same session at their provider.
    expect((await sessionOf(impostor, one))?.claims["sid"]).toBe(sid);
    const token = () => application.provider.logoutToken({ sid: String(sid) });
    expect((await logout("acme", token(), other)).status).toBe(200);
    await settled(other.auth);
    expect(await isSignedIn(ada, one)).toBe(false);
    expect(await isSignedIn(impostor, one)).toBe(true);
    expect((await logout("mallory", token(), other)).status).toBe(200);
    await settled(other.auth);
    expect(await isSignedIn(impostor, one)).toBe(false);
  });

  it("stay where a process doesn't find their provider: only its own requests are signed out", async () => {
    const ada = await signIn("acme", one);
    other.found["acme"] = undefined;
    expect(await isSignedIn(ada, other)).toBe(false);
    expect((await ada.at(other.auth).get("/idpauth/session?details=true")).json()).toMatchObject({
      reason: "provider_removed",
    });
    await settled(other.auth);
    expect(await isSignedIn(ada, one)).toBe(true);
    application.clock.advance(HOUR);
    expect(await isSignedIn(ada, other)).toBe(false);
    await settled(other.auth);
    // Nobody's tokens were refreshed or revoked, and the other process still can.
    expect(refreshes()).toBe(0);
    expect(application.provider.requestsTo("revoke")).toEqual([]);
    expect(await isSignedIn(ada, one)).toBe(true);
    expect(refreshes()).toBe(1);
    other.found["acme"] = one.found["acme"];
    application.clock.advance(10_000);
    expect(await isSignedIn(ada, other)).toBe(true);
  });

  it("stay where the source fails in one process: it responds 503", async () => {
    const ada = await signIn("acme", one);
    Object.defineProperty(other.found, "acme", {
      get() {
        throw new Error("the replica is away");
      },
    });
    expect((await ada.at(other.auth).get("/idpauth/session")).status).toBe(503);
    await settled(other.auth);
    expect(await isSignedIn(ada, one)).toBe(true);
  });

  it("are listed and ended by their provider, at the process that hasn't seen them", async () => {
    const [first, second] = [await signIn("acme", one), await signIn("acme", other)];
    const impostor = await signIn("mallory", one);
    const [acme, mallory] = [
      await subjectOf(first, one, "acme"),
      await subjectOf(impostor, one, "mallory"),
    ];
    const late = await startProcess();
    expect(await late.auth.listSessions(acme)).toHaveLength(2);
    expect(await late.auth.listSessions(mallory)).toHaveLength(1);
    expect(await late.auth.listSessions({ ...acme, provider: "globex" })).toEqual([]);
    expect(await late.auth.endAllSessions({ ...acme, provider: "globex" })).toBe(0);
    expect(await late.auth.endAllSessions(acme)).toBe(2);
    await settled(late.auth);
    expect(await isSignedIn(first, other)).toBe(false);
    expect(await isSignedIn(second, one)).toBe(false);
    expect(await isSignedIn(impostor, other)).toBe(true);
    expect(await late.auth.listSessions(acme)).toEqual([]);
  });

  it("are ended by their provider although no source has it any more", async () => {
    const ada = await signIn("acme", one);
    const acme = await subjectOf(ada, one, "acme");
    const late = await startProcess();
    late.found["acme"] = undefined;
    expect(await late.auth.endAllSessions(acme)).toBe(1);
    await settled(late.auth);
    expect(await isSignedIn(ada, one)).toBe(false);
  });
});

describe("customers with sessions of the framework", () => {
  const found: Record<string, SourcedProviderOptions | undefined> = {};
  const source = () => providerSource({ find: (key) => found[key], internalHosts: ["127.0.0.1"] });
  const options = () => ({
    ...{ issuer: undefined, clientId: undefined, clientSecret: undefined },
    session: "host" as const,
    providers: source(),
  });

  it("sign in at one process, and are read by another, each by its own source", async () => {
    const one = await startExpressApplication(options());
    const other = await startExpressApplication({
      ...options(),
      middleware: { store: one.hostStore },
    });
    try {
      const { issuer, clientId, clientSecret } = one.provider;
      found["acme"] = found["mallory"] = { issuer, clientId, clientSecret };
      const browser = one.browser();
      const probe = async ({ origin }: { readonly origin: string }) =>
        (await browser.get(`${origin}/idpauth/session?details=true`)).json() as Readonly<
          Record<string, unknown>
        >;
      await browser.follow("/idpauth/login/?provider=acme");
      const ada = await probe(one);
      expect(ada).toMatchObject({ authenticated: true, provider: "acme" });
      expect(await probe(other)).toMatchObject({ authenticated: true, provider: "acme" });
      // A process that doesn't find it deletes nothing.
      found["acme"] = undefined;
      other.auth.forgetProvider("acme");
      expect(await probe(other)).toMatchObject({
        authenticated: false,
        reason: "provider_removed",
      });
      expect(await probe(one)).toMatchObject({ authenticated: true });
      await browser.follow("/idpauth/login/?provider=mallory");
      const impostor = await probe(one);
      expect(impostor).toMatchObject({ authenticated: true, provider: "mallory" });
      expect(impostor["account"]).not.toBe(ada["account"]);
    } finally {
      await one.stop();
      await other.stop();
    }
  });
});

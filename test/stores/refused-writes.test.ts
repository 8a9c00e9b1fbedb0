import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { SessionStore } from "../../src/ports/session-store.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication } from "../support/application.js";
import { eventually } from "../support/eventually.js";
import { startExpressApplication } from "../support/express-application.js";
import { ensurePostgres, startPostgres } from "../support/postgres-server.js";
import { CLIENTS, control } from "../support/redis-clients.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";

// A store that can be read but not written: the idle stamp, the extension of a session's life and
// the note of its end fail no request.

const noRedis = (await redisForTests()) === undefined;
const noPostgres = (await ensurePostgres()) === undefined;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A store with the way to refuse its writes, and to accept them again. */
interface Refusing {
  readonly store: SessionStore;
  refuse(): Promise<unknown>;
  accept(): Promise<unknown>;
}

async function redisThat(
  refuse: (server: RedisServer, send: (...command: string[]) => Promise<unknown>) => unknown,
  ...accepting: string[][]
): Promise<Refusing> {
  const server = await startRedis();
  closers.push(() => server.stop());
  const { client, close } = await CLIENTS["node-redis"](server);
  closers.push(close);
  const send = (...command: string[]) =>
    control(server, (connected) => connected.sendCommand(command));
  return {
    store: redisStore(client),
    refuse: async () => refuse(server, send),
    accept: async () => {
      for (const command of accepting) await send(...command);
    },
  };
}

const REDIS: Readonly<Record<string, () => Promise<Refusing>>> = {
  "Redis without memory (OOM)": () =>
    redisThat(
      (_server, send) => send("CONFIG", "SET", "maxmemory", "1"),
      ["CONFIG", "SET", "maxmemory", "0"],
    ),
  "Redis without its replicas (NOREPLICAS)": () =>
    redisThat(
      (_server, send) => send("CONFIG", "SET", "min-replicas-to-write", "3"),
      ["CONFIG", "SET", "min-replicas-to-write", "0"],
    ),
  "a Redis primary that was demoted (READONLY)": () =>
    redisThat((_server, send) => send("REPLICAOF", "127.0.0.1", "1"), ["REPLICAOF", "NO", "ONE"]),
  "Redis that can't save (MISCONF)": () =>
    redisThat(
      async (server, send) => {
        const { dir: folder = "" } = await control(server, (client) => client.configGet("dir"));
        // A folder in its place: the snapshot can't be written.
        rmSync(path.join(folder, "dump.rdb"), { force: true, recursive: true });
        mkdirSync(path.join(folder, "dump.rdb"));
        await send("CONFIG", "SET", "save", "3600 1");
        await send("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes");
        await send("BGSAVE");
        await eventually(async () => {
          expect(String(await send("INFO", "persistence"))).toContain("rdb_last_bgsave_status:err");
        });
      },
      ["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"],
    ),
};

const SQLITE: Readonly<Record<string, () => Promise<Refusing>>> = {
  "a SQLite database that has become read-only": () => {
    const database = new DatabaseSync(":memory:");
    closers.push(() => {
      database.close();
    });
    const set = (value: string): Promise<void> => {
      database.exec(`PRAGMA query_only = ${value}`);
      return Promise.resolve();
    };
    return Promise.resolve({
      store: sqliteStore(database),
      refuse: () => set("ON"),
      accept: () => set("OFF"),
    });
  },
};

const POSTGRES: Readonly<Record<string, () => Promise<Refusing>>> = {
  "PostgreSQL whose transactions are read-only": async () => {
    const server = await startPostgres();
    closers.push(() => server.stop());
    const pool = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 2_000 });
    closers.push(() => pool.end());
    const store = postgresStore(pool, { sweepInterval: 0 });
    await store.migrate();
    const set = async (value: string) => {
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await admin.query("SELECT pg_reload_conf()");
      await admin.end();
      await eventually(async () => {
        const { rows } = await pool.query<{ value: string }>(
          "SELECT current_setting('default_transaction_read_only') AS value",
        );
        expect(rows[0]?.value).toBe(value);
      });
    };
    return { store, refuse: () => set("on"), accept: () => set("off") };
  },
};

const ALL = [
  ...Object.entries(SQLITE).map(([name, create]) => ({ name, create, missing: false })),
  ...Object.entries(REDIS).map(([name, create]) => ({ name, create, missing: noRedis })),
  ...Object.entries(POSTGRES).map(([name, create]) => ({ name, create, missing: noPostgres })),
];

describe.each(ALL)("$name", ({ create, missing }) => {
  it.skipIf(missing)(
    "refuses writes: signed-in users pass, and the stamp and the note of an end are written later",
    async () => {
      const { store, refuse, accept } = await create();
      const clock = new TestClock(Date.now());
      const ended: string[] = [];
      const app = await startApplication({ store, clock, sessionIdleTimeout: 600 });
      closers.push(() => app.stop());
      app.auth.on("ended", ({ reason }) => ended.push(reason));
      const [user, idle] = [app.user(), app.user()];
      await user.signIn();
      await idle.signIn();
      await refuse();
      // Without the stamp, the session idles out by what was stored last.
      for (const seconds of [200, 200]) {
        clock.advance(seconds * 1_000);
        expect((await user.get("/idpauth/session")).status).toBe(200);
        expect(await user.isSignedIn()).toBe(true);
      }
      const lines = app.log.filter(({ code }) => code === "store_unavailable");
      expect(lines.length).toBeGreaterThan(0);
      await accept();
      clock.advance(1_000);
      expect(await user.isSignedIn()).toBe(true);
      await refuse();
      clock.advance(590_000);
      expect(await user.isSignedIn()).toBe(true);
      const late = await idle.get("/idpauth/session");
      expect([late.status, late.json().authenticated]).toEqual([200, false]);
      expect(ended).toEqual([]);
      await accept();
      clock.advance(1_000);
      expect(await idle.isSignedIn()).toBe(false);
      expect(ended).toEqual(["idle"]);
    },
  );
});

it.skipIf(noRedis)(
  "a refused extension of a session's life fails no request, and comes later",
  async () => {
    const { store, refuse, accept } = await REDIS["Redis without memory (OOM)"]!();
    const clock = new TestClock(Date.now());
    const app = await startApplication({ store, clock, provider: { idTokenSeconds: 700_000 } });
    closers.push(() => app.stop());
    const user = app.user();
    await user.signIn();
    await refuse();
    clock.advance(2 * 86_400_000);
    expect(await user.isSignedIn()).toBe(true);
    await accept();
    clock.advance(1_000);
    const cookies = (await user.get("/idpauth/session")).setCookies;
    expect(cookies).toHaveLength(1);
  },
);

it("a framework's store that refuses writes, or hangs on them, fails no request", async () => {
  const app = await startExpressApplication({ session: "host", sessionIdleTimeout: 600 });
  closers.push(() => app.stop());
  const browser = app.browser();
  await browser.follow("/idpauth/login/");
  const probe = async () => {
    const { status, json } = await browser.get("/idpauth/session");
    return [status, (json() as { authenticated: boolean }).authenticated];
  };
  const { set } = app.hostStore;
  const writes: string[] = [];
  app.hostStore.set = (id, _data, done) => {
    writes.push(id);
    done?.(new Error("READONLY"));
  };
  app.clock.advance(60_000);
  expect(await probe()).toEqual([200, true]);
  expect(await probe()).toEqual([200, true]);
  expect(writes).toHaveLength(1);
  app.hostStore.set = (id) => void writes.push(id);
  app.clock.advance(1_000);
  const slow = probe();
  await eventually(() => {
    expect(writes).toHaveLength(2);
    return Promise.resolve();
  });
  app.clock.advance(100);
  expect(await slow).toEqual([200, true]);
  // The write still hangs, so there is no second one.
  expect(await probe()).toEqual([200, true]);
  expect(writes).toHaveLength(2);
  app.hostStore.set = set;
  expect(app.caught).toEqual([]);
});

import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  postgresStore,
  type PostgresListener,
  type PostgresStore,
} from "../../src/stores/postgres/postgres-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { ensurePgBouncer, startPgBouncer } from "../support/pgbouncer.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";
import { last, told } from "./told-ends.js";

const isHere = (await ensurePostgres()) !== undefined;
const hasPooler = isHere && (await ensurePgBouncer()) !== undefined;

describe.skipIf(!isHere)("announced ends over PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  function poolTo(url: string): pg.Pool {
    const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 2000 });
    onTestFinished(() => pool.end());
    return pool;
  }

  async function clientTo(url: string): Promise<pg.Client> {
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end().catch(() => undefined));
    return client;
  }

  function watched(listen: pg.Client, url = server.url) {
    const [clock, watcher] = [new TestClock(), told()];
    const store = postgresStore(poolTo(url), { listen, clock, sweepInterval: 0 });
    store.watchEnds?.(watcher);
    onTestFinished(() => store.close());
    return { clock, store, watcher };
  }

  it("a store without `listen` announces to the others, and has no watchEnds itself", async () => {
    const { watcher } = watched(await clientTo(server.url));
    await last(watcher, "true");
    const other: PostgresStore = postgresStore(poolTo(server.url), { sweepInterval: 0 });
    expect(other.watchEnds).toBeUndefined();
    await other.announceEnd?.("key", "reason with blanks");
    await last(watcher, "key reason with blanks");
  });

  it("a reason that no notification can carry is dropped without an error", async () => {
    const { store, watcher } = watched(await clientTo(server.url));
    await last(watcher, "true");
    await store.announceEnd?.("key", "x".repeat(9000));
    await store.announceEnd?.("key", "next");
    await last(watcher, "key next");
    expect(watcher.log).toEqual(["true", "key next"]);
  });

  it("a client that loses its connection ends no process, and the watcher learns of it", async () => {
    const listen = await clientTo(server.url);
    const { clock, store, watcher } = watched(listen);
    await last(watcher, "true");
    const { rows } = await listen.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    await poolTo(server.url).query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await last(watcher, "false");
    await clock.advanceAsync(120_000);
    expect(watcher.log).toEqual(["true", "false"]);
    await store.announceEnd?.("key", "reason");
  });

  it("a subscription that is lost without a word is found by the missing proof, and made again", async () => {
    const listen = await clientTo(server.url);
    const { clock, store, watcher } = watched(listen);
    await last(watcher, "true");
    await listen.query("UNLISTEN *");
    await clock.advanceAsync(30_000);
    await clock.advanceAsync(5_000);
    expect(watcher.log.slice(0, 2)).toEqual(["true", "false"]);
    await last(watcher, "true");
    await store.announceEnd?.("key", "again");
    await last(watcher, "key again");
  });

  it("a client of another database is never connected", async () => {
    await poolTo(server.url).query("CREATE DATABASE elsewhere");
    const url = new URL(server.url);
    url.pathname = "/elsewhere";
    const { clock, store, watcher } = watched(await clientTo(url.href));
    await store.announceEnd?.("key", "reason");
    await clock.advanceAsync(60_000);
    expect(watcher.log).toEqual([]);
  });

  it("removing the last watcher and close() leave the client to the application", async () => {
    const listen = await clientTo(server.url);
    const { clock, store, watcher } = watched(listen);
    await last(watcher, "true");
    await store.close();
    expect(clock.pendingTimers).toBe(0);
    const { rows } = await listen.query("SELECT * FROM pg_listening_channels()");
    expect(rows).toEqual([]);
    expect(listen.listenerCount("notification")).toBe(0);
  });

  it.skipIf(!hasPooler)(
    "a client that goes through a transaction-mode pooler is never connected",
    async () => {
      for (const connections of [1, 3]) {
        const bouncer = await startPgBouncer(server, connections);
        onTestFinished(() => bouncer.stop());
        const { clock, store, watcher } = watched(await clientTo(bouncer.url), bouncer.url);
        for (let round = 0; round < 10; round += 1) {
          await store.announceEnd?.("key", "reason");
          await clock.advanceAsync(30_000);
        }
        expect(watcher.log, `${connections} connections`).not.toContain("true");
      }
    },
  );

  it("a pool or something else as `listen` is a problem that startup reports", () => {
    const pool = poolTo(server.url);
    for (const listen of [pool, {}, "postgres://"]) {
      const store = postgresStore(pool, {
        listen: listen as unknown as PostgresListener,
        sweepInterval: 0,
      });
      expect(store.problems?.map(({ message }) => message)).toEqual([
        expect.stringContaining("The option listen of postgresStore isn't"),
      ]);
      expect(store.watchEnds).toBeUndefined();
    }
  });
});

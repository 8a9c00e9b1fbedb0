import { randomBytes } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry } from "../../src/ports/session-store.js";
import {
  postgresMigration,
  postgresStore,
  type PostgresPool,
  type PostgresStore,
} from "../../src/stores/postgres/postgres-store.js";
import { SWEEP_SLICE_ROWS } from "../../src/stores/postgres/table.js";
import { testStore } from "../../packages/idpauth-conformance/src/index.js";
import { ensurePgBouncer, startPgBouncer, type PgBouncer } from "../support/pgbouncer.js";
import {
  dumpPostgres,
  ensureFaketime,
  ensurePostgres,
  startPostgres,
  type PostgresServer,
} from "../support/postgres-server.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { keysBySubject } from "../support/listed-keys.js";

const isHere = (await ensurePostgres()) !== undefined;
const hasOwnTime = isHere && (await ensureFaketime()) !== undefined;
const hasPooler = hasOwnTime && (await ensurePgBouncer()) !== undefined;

const DAY = 86_400;
const inADay = (): number => Math.floor(Date.now() / 1000) + DAY;

function poolTo(url: string, config: pg.PoolConfig = {}): pg.Pool {
  return new pg.Pool({ connectionString: url, connectionTimeoutMillis: 2000, ...config });
}

function entryOf(bytes: number, fields: Partial<Entry> = {}): Entry {
  return { data: new Uint8Array(randomBytes(bytes)), expiresAt: inADay(), ...fields };
}

/** One value of one row. */
async function ask(pool: pg.Pool, text: string, values: unknown[] = []): Promise<string> {
  const { rows } = await pool.query<unknown[]>({ text, values, rowMode: "array" });
  return String(rows[0]?.[0]);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A store under test over pools of its own; nobody sweeps but the tests of the sweep. */
function underTest(
  place: () => { server: PostgresServer; url: string },
  config: pg.PoolConfig = {},
) {
  return () => {
    const { server, url } = place();
    const opened: { pool: pg.Pool; listen: pg.Client; store: PostgresStore }[] = [];
    const open = (): PostgresStore => {
      const pool = poolTo(url, config);
      // Not through a pooler, which would lose the subscription.
      const listen = new pg.Client(server.url);
      const store = postgresStore(pool, { sweepInterval: 0, listen });
      listen.connect().catch(() => undefined);
      opened.push({ pool, listen, store });
      return store;
    };
    return {
      store: open(),
      now: () => server.now(),
      advance: (seconds: number) => server.advance(seconds),
      another: open,
      outage: {
        begin: () => server.kill(),
        async end() {
          await server.restart();
          // A pooler refuses until its next attempt to log in.
          await until(() => answers(url));
        },
      },
      async close() {
        for (const { pool, listen, store } of opened) {
          await store.close();
          await listen.end().catch(() => undefined);
          await pool.end();
        }
      },
    };
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

describe.skipIf(!hasOwnTime)("the server's own clock decides", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  const direct = () => ({ server, url: server.url });

  beforeAll(async () => {
    server = await startPostgres({ faketime: true });
    pool = poolTo(server.url);
    await postgresStore(pool, { sweepInterval: 0 }).migrate();
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  testStore({ name: "postgres", test: it, create: underTest(direct) });
  testStore({
    name: "postgres, serializable by default,",
    test: it,
    create: underTest(direct, { options: "-c default_transaction_isolation=serializable" }),
  });

  describe.skipIf(!hasPooler)("through a transaction-mode pooler with three connections", () => {
    let bouncer: PgBouncer;
    beforeAll(async () => {
      bouncer = await startPgBouncer(server, 3);
    });
    afterAll(() => bouncer.stop());

    testStore({
      name: "postgres",
      test: it,
      create: underTest(() => ({ server, url: bouncer.url }), { max: 20 }),
    });

    it("the pooler gives a client whichever connection is free: a session's setting and a named statement are lost", async () => {
      const pooled = poolTo(bouncer.url);
      const [one, other] = [await pooled.connect(), await pooled.connect()];
      try {
        const first = await serverProcessOf(one);
        await one.query({ name: "mine", text: "SELECT 1" });
        // Somebody else takes that connection for a transaction.
        await other.query("BEGIN");
        expect(await serverProcessOf(other)).toBe(first);
        expect(await serverProcessOf(one)).not.toBe(first);
        await expect(one.query({ name: "mine", text: "SELECT 1" })).rejects.toThrow(
          /prepared statement "mine" does not exist/,
        );
      } finally {
        one.release(true);
        other.release(true);
        await pooled.end();
      }
    });

    it("a statement whose name the pooler has lost runs again, and none gets a name afterwards", async () => {
      const pooled = poolTo(bouncer.url);
      const store = postgresStore(pooled, { sweepInterval: 0 });
      const entry = entryOf(100, { expiresAt: server.now() + DAY });
      // Two clients of the pooler at once share its connections, so each meets the other's names or
      // misses its own.
      for (let round = 0; round < 20; round += 1) {
        const keys = Array.from({ length: 5 }, (_, index) => `named ${round} ${index}`);
        expect(await Promise.all(keys.map((key) => store.insert(key, entry)))).not.toContain(false);
        expect(await Promise.all(keys.map((key) => store.get(key)))).not.toContain(undefined);
      }
      await pooled.end();
    });

    it("migrates through it, five at once", async () => {
      const pooled = poolTo(bouncer.url);
      const store = postgresStore(pooled, { table: "through_the_pooler", sweepInterval: 0 });
      await Promise.all(Array.from({ length: 5 }, () => store.migrate()));
      expect(await store.insert("key", entryOf(100, { expiresAt: server.now() + DAY }))).toBe(true);
      await pooled.end();
    });
  });

  it("for the sweep as well", async () => {
    const table = "swept_by_the_server";
    const store = postgresStore(pool, { table, sweepInterval: 0 });
    await store.migrate();
    await store.insert("short", entryOf(100, { expiresAt: server.now() + 10 }));
    await store.insert("long", entryOf(100, { expiresAt: server.now() + 1_000 }));
    await server.advance(10);
    const sweeping = postgresStore(pool, { table, sweepInterval: 5 });
    await until(async () => (await ask(pool, `SELECT count(*) FROM ${table}`)) === "1");
    expect(await store.get("long")).toBeDefined();
    await sweeping.close();
  });
});

async function serverProcessOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]!.pid;
}

describe.skipIf(!isHere)("on a server with the real time", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let store: PostgresStore;

  beforeAll(async () => {
    server = await startPostgres({ settings: { autovacuum: "off" } });
    pool = poolTo(server.url);
    store = postgresStore(pool, { sweepInterval: 0 });
    await store.migrate();
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  describe("a clock that is given", () => {
    const clock = new TestClock();
    testStore({
      name: "postgres",
      test: it,
      // The same code; the outage is checked above.
      without: ["outage"],
      create: () => ({
        store: postgresStore(pool, { clock, sweepInterval: 0 }),
        now: () => clock.now() / 1000,
        advance: async (seconds) => clock.advance(seconds * 1000),
        another: () => postgresStore(poolOfAnother(), { clock, sweepInterval: 0 }),
      }),
    });
    const others: pg.Pool[] = [];
    const poolOfAnother = (): pg.Pool => {
      const other = poolTo(server.url);
      others.push(other);
      return other;
    };
    afterAll(() => Promise.all(others.map((other) => other.end())));
  });

  describe("migration", () => {
    it("by five processes at once, and again: one table, nothing lost", async () => {
      for (let round = 0; round < 5; round += 1) {
        const table = `made_by_five_${round}`;
        const pools = Array.from({ length: 5 }, () => poolTo(server.url, { max: 1 }));
        await Promise.all(
          pools.map((each) => postgresStore(each, { table, sweepInterval: 0 }).migrate()),
        );
        const made = postgresStore(pools[0]!, { table, sweepInterval: 0 });
        await made.insert("key", entryOf(10));
        await made.migrate();
        expect(await made.get("key")).toBeDefined();
        await Promise.all(pools.map((each) => each.end()));
      }
    });

    it("makes the primary key and the three indexes", async () => {
      const { rows } = await pool.query<{ indexdef: string }>(
        "SELECT indexdef FROM pg_indexes WHERE tablename = 'idpauth_sessions' ORDER BY indexname",
      );
      expect(rows.map(({ indexdef }) => indexdef.replace(/^.*USING /, ""))).toEqual([
        "btree (expires_at)",
        "btree (key)",
        "btree (sid, key) WHERE (sid IS NOT NULL)",
        "btree (subject, key) WHERE (subject IS NOT NULL)",
      ]);
    });

    it("on a table that is there locks nothing: it does not wait for a writer, nor for a vacuum", async () => {
      const client = await pool.connect();
      await client.query("BEGIN; LOCK TABLE idpauth_sessions IN SHARE ROW EXCLUSIVE MODE");
      await store.migrate();
      await client.query("ROLLBACK");
      client.release();
    });

    it("in a schema, with a name whose case counts; the same names in other schemas are other tables", async () => {
      await pool.query('CREATE SCHEMA auth; CREATE SCHEMA "Other"');
      const [one, other] = ["auth.Sessions", "Other.Sessions"].map((table) =>
        postgresStore(pool, { table, sweepInterval: 0 }),
      );
      await one!.migrate();
      await other!.migrate();
      await one!.insert("key", entryOf(10));
      expect(await one!.get("key")).toBeDefined();
      expect(await other!.get("key")).toBeUndefined();
      expect(await ask(pool, 'SELECT count(*) FROM auth."Sessions"')).toBe("1");
    });

    it("the SQL runs in a migration tool's transaction, and goes with it", async () => {
      const client = await pool.connect();
      await client.query("BEGIN");
      await client.query(postgresMigration("taken_back"));
      await client.query("ROLLBACK");
      expect(await ask(pool, "SELECT to_regclass('taken_back')")).toBe("null");
      client.release();
    });

    it("in a schema that is not there says so", async () => {
      const lost = postgresStore(pool, { table: "nowhere.sessions", sweepInterval: 0 });
      await expect(lost.migrate()).rejects.toThrow(
        /schema of table "nowhere"\."sessions" doesn't exist: create it first/,
      );
      await expect(lost.get("key")).rejects.toThrow(
        /no table "nowhere"\."sessions": run the store's migrate\(\)/,
      );
    });

    it("a role with the four privileges on the table, and no others, is enough for the store", async () => {
      await pool.query(`CREATE ROLE app LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
        GRANT SELECT, INSERT, UPDATE, DELETE ON idpauth_sessions TO app`);
      const app = poolTo(server.url.replace("postgres@", "app@"));
      const narrow = postgresStore(app, { sweepInterval: 0 });
      await narrow.insert("of a narrow role", entryOf(10, { subject: "s" }));
      const version = (await narrow.get("of a narrow role"))!.version;
      expect(await narrow.replace("of a narrow role", entryOf(10), version)).toBe(true);
      expect(await narrow.touch("of a narrow role", 1, 1)).toBe(true);
      expect(await narrow.delete("of a narrow role")).toBeDefined();
      await narrow.migrate();
      const other = postgresStore(app, { table: "not_for_app", sweepInterval: 0 });
      await expect(other.migrate()).rejects.toThrow(/lacks rights on table "not_for_app"/);
      await app.end();
    });

    it.each([
      "",
      ".",
      "a.b.c",
      "a.",
      ".a",
      "1a",
      "a b",
      'a"b',
      "a;--",
      "a$b",
      "x".repeat(64),
      "ä",
      5,
      null,
    ])("the name %j is a TypeError", (table) => {
      expect(() => postgresMigration(table as string)).toThrow(TypeError);
      expect(() => postgresStore(pool, { table: table as string })).toThrow(TypeError);
    });
  });

  describe("what is kept", () => {
    it("any finite time, to the last digit; others are refused before a query is sent", async () => {
      for (const time of [4_102_444_800.123456, 2 ** 53, 1e300, 4_102_444_800]) {
        const key = `time ${time}`;
        await store.insert(key, entryOf(10, { expiresAt: time, lastActive: time / 3 }));
        expect(await store.get(key)).toMatchObject({ expiresAt: time, lastActive: time / 3 });
        await store.touch(key, time / 2, 0);
        expect((await store.delete(key))?.lastActive).toBe(time / 2);
      }
      for (const time of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        await expect(store.insert("none", entryOf(10, { expiresAt: time }))).rejects.toThrow(
          TypeError,
        );
        await expect(store.insert("none", entryOf(10, { lastActive: time }))).rejects.toThrow(
          TypeError,
        );
        await expect(
          store.replace("none", entryOf(10, { expiresAt: time }), "version"),
        ).rejects.toThrow(TypeError);
        await expect(store.touch("none", time, 0)).rejects.toThrow(TypeError);
        await expect(store.touch("none", null, time)).rejects.toThrow(TypeError);
      }
    });

    it("a record that is not encrypted is refused", async () => {
      await expect(
        store.insert("none", { data: { idp_state: { v: 1 } } as never, expiresAt: inADay() }),
      ).rejects.toThrow(TypeError);
    });

    it.each([
      ["parsers of the application's own", { types: { getTypeParser: () => () => "spoilt" } }],
      ["binary results", { binary: true }],
      [
        "another bytea_output and fewer float digits",
        { options: "-c bytea_output=escape -c extra_float_digits=0" },
      ],
    ])("comes back the same from a pool with %s", async (_what, config) => {
      const odd = poolTo(server.url, config as pg.PoolConfig);
      const entry = entryOf(3000, {
        lastActive: 1_700_000_000,
        subject: "sübject",
        summary: new Uint8Array([0, 92, 255]),
      });
      const through = postgresStore(odd, { sweepInterval: 0 });
      await through.insert("odd", entry);
      const stored = (await through.get("odd"))!;
      expect(stored).toMatchObject({
        expiresAt: entry.expiresAt,
        lastActive: 1_700_000_000,
        subject: "sübject",
      });
      expect([...(stored.data as Uint8Array)]).toEqual([...(entry.data as Uint8Array)]);
      expect([...stored.summary!]).toEqual([0, 92, 255]);
      expect(await keysBySubject(through, "sübject")).toEqual(["odd"]);
      expect(await through.delete("odd")).toBeDefined();
      await odd.end();
    });

    it.each([
      [true, "one prepared statement of each kind"],
      [false, "no prepared statement"],
    ])(
      "with namedStatements %s a connection keeps %s, and no transaction",
      async (namedStatements) => {
        const single = poolTo(server.url, { max: 1 });
        const through = postgresStore(single, { sweepInterval: 0, namedStatements });
        for (const key of ["one", "other"]) {
          await through.insert(key, entryOf(10));
          await through.delete(key);
        }
        const prepared = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'idpauth_%'";
        expect(await ask(single, prepared)).toBe(namedStatements ? "2" : "0");
        expect(
          await ask(single, "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'"),
        ).toBe("0");
        await single.end();
      },
    );

    it("a dump shows bytes as they are, so a secret among them would be found", async () => {
      await store.insert("dumped", {
        data: new TextEncoder().encode("not sealed at all"),
        expiresAt: inADay(),
      });
      expect(await dumpPostgres(server.url)).toContain("not sealed at all");
      await store.delete("dumped");
    });
  });

  describe("a touch does not write the data again", () => {
    const SESSIONS = 200;
    const ROUNDS = 10;

    it.each([300, 1200, 3000])("of %i bytes", async (bytes) => {
      const table = `touched_${bytes}`;
      // One connection, which is told to report its statistics before they are read on it.
      const single = poolTo(server.url, { max: 1 });
      const touched = postgresStore(single, { table, sweepInterval: 0 });
      await touched.migrate();
      const keys = Array.from({ length: SESSIONS }, (_, index) => `${"k".repeat(39)}${index}`);
      const stamp = inADay() - DAY;
      const fields = {
        lastActive: stamp,
        subject: "s".repeat(43),
        summary: new Uint8Array(randomBytes(120)),
      };
      for (const key of keys) await touched.insert(key, entryOf(bytes, fields));
      const measure = async () => {
        await single.query("SELECT pg_stat_force_next_flush()");
        const { rows } = await single.query<
          Record<"updates" | "hot" | "toast_writes" | "heap" | "toast" | "wal", number>
        >(
          `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot, pg_relation_size(c.oid)::int AS heap,
             pg_relation_size(c.reltoastrelid)::int AS toast,
             (SELECT (t.n_tup_ins + t.n_tup_del + t.n_tup_upd)::int FROM pg_stat_all_tables t WHERE t.relid = c.reltoastrelid) AS toast_writes,
             (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal
           FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.relname = $1`,
          [table],
        );
        return rows[0]!;
      };
      const touchAll = async (round: number): Promise<void> => {
        for (const key of keys) await touched.touch(key, stamp + round, 0);
      };
      // After a checkpoint the first write to a page logs all of it; that is not what is measured.
      await touchAll(1);
      const before = await measure();
      for (let round = 2; round < 2 + ROUNDS; round += 1) await touchAll(round);
      const after = await measure();
      const touches = after.updates - before.updates;
      const hot = (after.hot - before.hot) / touches;
      const walPerTouch = (after.wal - before.wal) / touches;
      expect(touches).toBe(SESSIONS * ROUNDS);
      expect(hot).toBeGreaterThan(0.95);
      expect(after.toast_writes).toBe(before.toast_writes);
      expect(after.toast).toBe(before.toast);
      expect(after.heap).toBeLessThan(before.heap * 1.2);
      // The row itself is out of line by then: far smaller than its data.
      expect(after.heap / SESSIONS).toBeLessThan(900);
      expect(walPerTouch).toBeLessThan(260);

      // The same ways of measuring see a write of the data.
      for (const key of keys)
        await touched.replace(key, entryOf(bytes, fields), (await touched.get(key))!.version);
      const replaced = await measure();
      expect(replaced.toast_writes).toBeGreaterThanOrEqual(after.toast_writes + 2 * SESSIONS);
      const walPerReplace = (replaced.wal - after.wal) / SESSIONS;
      expect(walPerReplace).toBeGreaterThan(bytes);
      console.log(
        `${bytes} bytes: HOT ${(100 * hot).toFixed(1)} %, WAL ${walPerTouch.toFixed(0)} B a touch, ${walPerReplace.toFixed(0)} B a replace, ` +
          `heap ${(before.heap / SESSIONS).toFixed(0)} -> ${(after.heap / SESSIONS).toFixed(0)} B a session, toast ${(after.toast / SESSIONS).toFixed(0)} B`,
      );
      await single.end();
    });
  });

  describe("sweep", () => {
    /** Rows of another program's making, expired since long. */
    async function fill(table: string, expired: number): Promise<void> {
      await postgresStore(pool, { table, sweepInterval: 0 }).migrate();
      await pool.query(
        `INSERT INTO ${table} (key, version, expires_at, data)
         SELECT 'expired ' || n, gen_random_uuid(), n / 1000, '\\x00'::bytea || decode(repeat(md5(n::text), 20), 'hex') FROM generate_series(1, ${expired}) n`,
      );
    }
    const rowsIn = async (table: string): Promise<number> =>
      Number(await ask(pool, `SELECT count(*) FROM ${table}`));

    it("one slice at a turn, the next soon while there is more, then after the interval; one timer, and none after close", async () => {
      await fill("slices", 2 * SWEEP_SLICE_ROWS + 10);
      const clock = new TestClock();
      const sweeping = postgresStore(pool, { table: "slices", clock, sweepInterval: 60_000 });
      await sweeping.insert("live", entryOf(10));
      const rest: number[] = [];
      clock.advance(60_000);
      for (let turn = 0; turn < 3; turn += 1) {
        expect(clock.pendingTimers).toBe(0);
        await until(async () => clock.pendingTimers === 1);
        rest.push(await rowsIn("slices"));
        clock.advance(100);
      }
      expect(rest).toEqual([SWEEP_SLICE_ROWS + 11, 11, 1]);
      expect(clock.pendingTimers).toBe(1);
      clock.advance(29_000);
      expect(clock.pendingTimers).toBe(1);
      await sweeping.close();
      expect(clock.pendingTimers).toBe(0);
    });

    it("close waits for the slice that runs, and sets no timer after it", async () => {
      await fill("closed", 10);
      const clock = new TestClock();
      const sweeping = postgresStore(pool, { table: "closed", clock, sweepInterval: 1000 });
      clock.advance(1000);
      await sweeping.close();
      expect(await rowsIn("closed")).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    });

    it("an interval of 0 sets no timer; a pool that is none sets none either", () => {
      const clock = new TestClock();
      postgresStore(pool, { clock, sweepInterval: 0 });
      postgresStore(undefined as unknown as PostgresPool, { clock });
      expect(clock.pendingTimers).toBe(0);
    });

    it("goes on after an outage", async () => {
      const clock = new TestClock();
      const sweeping = postgresStore(pool, { table: "not_there_yet", clock, sweepInterval: 1000 });
      clock.advance(1000);
      await until(async () => clock.pendingTimers === 1);
      await fill("not_there_yet", 10);
      clock.advance(1000);
      await until(async () => clock.pendingTimers === 1);
      expect(await rowsIn("not_there_yet")).toBe(0);
      await sweeping.close();
    });

    it("waits for no row that another client has locked, and takes it the next time", async () => {
      await fill("locked", 20);
      const client = await pool.connect();
      await client.query("BEGIN; SELECT 1 FROM locked ORDER BY expires_at LIMIT 5 FOR UPDATE");
      const clock = new TestClock();
      const sweeping = postgresStore(pool, { table: "locked", clock, sweepInterval: 1000 });
      clock.advance(1000);
      await until(async () => clock.pendingTimers === 1);
      expect(await rowsIn("locked")).toBe(5);
      await client.query("COMMIT");
      client.release();
      clock.advance(1000);
      await until(async () => clock.pendingTimers === 1);
      expect(await rowsIn("locked")).toBe(0);
      await sweeping.close();
    });

    it("never takes a key that an insert takes over at the same moment", async () => {
      const clock = new TestClock(Date.now());
      const sweeping = postgresStore(pool, { table: "taken_over", clock, sweepInterval: 1000 });
      await sweeping.migrate();
      for (let round = 0; round < 20; round += 1) {
        const keys = Array.from({ length: 20 }, (_, index) => `${round} ${index}`);
        for (const key of keys) await sweeping.insert(key, entryOf(10, { expiresAt: 1 }));
        clock.advance(1000);
        const taken = await Promise.all(keys.map((key) => sweeping.insert(key, entryOf(10))));
        expect(taken).not.toContain(false);
        await until(async () => clock.pendingTimers === 1);
        for (const key of keys) expect(await sweeping.get(key)).toBeDefined();
      }
      await sweeping.close();
    });

    it("100,000 expired rows go, by two processes, while others write", async () => {
      await fill("flood", 100_000);
      const [one, other, writing] = [poolTo(server.url), poolTo(server.url), poolTo(server.url)];
      const writer = postgresStore(writing, { table: "flood", sweepInterval: 0 });
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const started = performance.now();
      const sweeping = [one, other].map((each) =>
        postgresStore(each, { table: "flood", sweepInterval: 20 }),
      );
      const latencies: number[] = [];
      let live = 0;
      while ((await rowsIn("flood")) > live) {
        const key = `live ${live}`;
        const begun = performance.now();
        await writer.insert(key, entryOf(1200));
        await writer.touch(key, inADay() - DAY, 0);
        latencies.push((performance.now() - begun) / 2);
        live += 1;
      }
      const seconds = (performance.now() - started) / 1000;
      delay.disable();
      await Promise.all(sweeping.map((each) => each.close()));
      latencies.sort((a, b) => a - b);
      expect(await ask(pool, "SELECT count(*) FROM flood WHERE key LIKE 'live %'")).toBe(
        String(live),
      );
      expect(live).toBeGreaterThan(10);
      console.log(
        `100,000 expired rows gone in ${seconds.toFixed(1)} s; event loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, ` +
          `max ${(delay.max / 1e6).toFixed(1)} ms; ${2 * live} writes meanwhile, p50 ${at(latencies, 0.5)}, p99 ${at(latencies, 0.99)}, max ${at(latencies, 1)} ms`,
      );
      await Promise.all([one, other, writing].map((each) => each.end()));
    });
  });
});

function at(sorted: readonly number[], share: number): string {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(1);
}

describe("setup", () => {
  const address = "postgres://nobody@127.0.0.1:1/none";
  const messages = (given: unknown): string[] =>
    (postgresStore(given as PostgresPool, { sweepInterval: 0 }).problems ?? []).map(
      ({ message, remedy }) => `${message} ${remedy}`,
    );

  it("a pool with a time limit for connecting is in order", () => {
    expect(
      messages(new pg.Pool({ connectionString: address, connectionTimeoutMillis: 1000 })),
    ).toEqual([]);
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an address", address],
    ["an object", {}],
    ["a single client", new pg.Client(address)],
  ])("%s is no pool, and every method says so", async (_what, given) => {
    expect(messages(given)).toEqual([
      expect.stringMatching(/wasn't given a Pool of pg.*new pg\.Pool\(/s),
    ]);
    const store = postgresStore(given as unknown as PostgresPool);
    await expect(store.get("key")).rejects.toThrow(TypeError);
    await expect(store.migrate()).rejects.toThrow(/wasn't given a Pool/);
    await store.close();
  });

  it.each([undefined, 0, -1, Number.NaN])(
    "a pool with connectionTimeoutMillis %s is refused",
    (connectionTimeoutMillis) => {
      const given = new pg.Pool({
        connectionString: address,
        ...(connectionTimeoutMillis !== undefined && { connectionTimeoutMillis }),
      });
      expect(messages(given)).toEqual([
        expect.stringMatching(/no connectionTimeoutMillis.*connectionTimeoutMillis: 2000/s),
      ]);
    },
  );

  it("a pool that has been ended is refused, and says 503", async () => {
    const given = poolTo(address);
    await given.end();
    expect(messages(given)).toEqual([expect.stringMatching(/has been ended/)]);
    await expect(postgresStore(given, { sweepInterval: 0 }).get("key")).rejects.toThrow(
      StoreUnavailableError,
    );
  });

  it("listens once to a pool's lost connections, however many stores use it", () => {
    const given = poolTo(address);
    for (let count = 0; count < 20; count += 1) postgresStore(given, { sweepInterval: 0 });
    expect(given.listenerCount("error")).toBe(1);
  });

  it.each([
    { timeout: 0 },
    { timeout: -1 },
    { timeout: Number.NaN },
    { timeout: 2_001 },
    { sweepInterval: -1 },
    { sweepInterval: Number.NaN },
    { sweepInterval: 86_400_001 },
  ])("%j is a TypeError", (options) => {
    expect(() => postgresStore(poolTo(address), options)).toThrow(TypeError);
  });
});

import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore, Stored } from "../../src/ports/session-store.js";
import { postgresStore, type PostgresStore } from "../../src/stores/postgres/postgres-store.js";
import { ensurePgBouncer, startPgBouncer, type PgBouncer } from "../support/pgbouncer.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";

const isHere = (await ensurePostgres()) !== undefined;
const hasPooler = isHere && (await ensurePgBouncer()) !== undefined;

/** Short, because most of these tests wait for it. */
const TIMEOUT = 400;
const STAMP = 1_700_000_000;
const LATER = 4_000_000_000;
const POOL_SIZE = 4;

function entryOf(fields: Partial<Entry> = {}): Entry {
  return {
    data: new Uint8Array(randomBytes(1200)),
    expiresAt: LATER,
    lastActive: STAMP,
    subject: "subject",
    ...fields,
  };
}

const newKey = (): string => randomBytes(32).toString("base64url");

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Every method's refusal; a method without a time limit would let the test run out of its own. */
async function refusals(
  store: SessionStore,
  key: string,
  version: string,
): Promise<StoreUnavailableError[]> {
  const calls: (() => Promise<unknown>)[] = [
    () => store.get(key),
    () => store.insert(`${key} new`, entryOf()),
    () => store.replace(key, entryOf(), version),
    () => store.touch(key, STAMP + 5, LATER + 5),
    () => store.delete(key),
    () => store.listBySubject("subject"),
  ];
  return Promise.all(calls.map((call) => refusal(call)));
}

async function refusal(call: () => Promise<unknown>): Promise<StoreUnavailableError> {
  const outcome = await call().then(
    (answer) => `answered ${inspect(answer)}`,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(StoreUnavailableError);
  return outcome as StoreUnavailableError;
}

function codesOf(errors: readonly StoreUnavailableError[]): (string | undefined)[] {
  return [...new Set(errors.map(({ cause }) => (cause as { code?: string } | undefined)?.code))];
}

async function kept(
  store: SessionStore,
  key = newKey(),
): Promise<{ key: string; version: string; stored: Stored }> {
  // Before the outage, the short time limit is not under test.
  await answer(() => store.insert(key, entryOf()));
  const stored = (await answer(() => store.get(key)))!;
  return { key, version: stored.version, stored };
}

/** The server after an outage: asked until it answers. */
async function answer<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe.skipIf(!isHere)("PostgreSQL", () => {
  let server: PostgresServer;
  /** Of the test itself, not of the store. */
  let admin: pg.Pool;
  let pool: pg.Pool;
  let store: PostgresStore;
  /** What a test that fails must not leave behind. */
  const leftovers: (() => Promise<void>)[] = [];

  function open(url: string, config: pg.PoolConfig = {}): { pool: pg.Pool; store: PostgresStore } {
    // Nobody but the store listens to this pool's errors.
    const opened = new pg.Pool({
      connectionString: url,
      max: POOL_SIZE,
      connectionTimeoutMillis: TIMEOUT,
      ...config,
    });
    return { pool: opened, store: postgresStore(opened, { timeout: TIMEOUT, sweepInterval: 0 }) };
  }

  beforeAll(async () => {
    server = await startPostgres({
      settings: { max_connections: "30", superuser_reserved_connections: "5" },
    });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    admin = new pg.Pool({ connectionString: server.url, max: 2 });
    admin.on("error", () => undefined);
    ({ pool, store } = open(server.url));
    await store.migrate();
  });
  afterEach(async () => {
    for (const end of leftovers.splice(0)) await end();
    await pool.end();
    await admin.end();
  });

  const others = async (what: string): Promise<number> => {
    const { rows } = await admin.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%idpauth_sessions%' AND ${what}`,
    );
    return rows[0]!.count;
  };

  /** Keeps the table from everybody else until the function it gives is called. */
  const lockTable = async (): Promise<() => Promise<void>> => {
    const client = new pg.Client(server.url);
    client.on("error", () => undefined);
    await client.connect();
    await client.query("BEGIN; LOCK TABLE idpauth_sessions");
    const unlock = (): Promise<void> => client.end();
    leftovers.push(unlock);
    return unlock;
  };

  it("killed with idle connections and with statements running, then back: 503 until then, nothing lost, the process lives", async () => {
    const { key, version, stored } = await kept(store);
    await Promise.all(Array.from({ length: POOL_SIZE }, () => answer(() => store.get(key))));
    const unlock = await lockTable();
    const running = refusals(store, key, version);
    await until(async () => (await others("state = 'active'")) === POOL_SIZE);
    await server.kill();
    await running;
    await unlock();
    expect(codesOf(await refusals(store, key, version))).toEqual(["ECONNREFUSED"]);
    await server.restart();
    expect(await answer(() => store.get(key))).toEqual(stored);
    expect(await answer(() => store.get(`${key} new`))).toBeUndefined();
  });

  it("killed and restarted under load: every write that was confirmed is there, and none that was refused more than once", async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, async () => (await kept(store)).key));
    const confirmed = new Map<string, string>();
    let isOver = false;
    const writers = keys.map(async (key) => {
      for (let count = 0; !isOver; count += 1) {
        const text = `${key} ${count}`;
        const isWritten = await store
          .get(key)
          .then((stored) =>
            store.replace(key, entryOf({ data: new TextEncoder().encode(text) }), stored!.version),
          )
          .catch(() => undefined);
        if (isWritten === true) confirmed.set(key, text);
        // Unknown: from here on only what is read counts.
        if (isWritten === undefined) {
          const stored = await answer(() => store.get(key));
          confirmed.set(key, new TextDecoder().decode(stored!.data as Uint8Array));
        }
      }
    });
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      await server.kill();
      await server.restart();
    }
    isOver = true;
    await Promise.all(writers);
    for (const key of keys)
      expect(new TextDecoder().decode((await store.get(key))!.data as Uint8Array)).toBe(
        confirmed.get(key),
      );
  });

  it("[S2] frozen: every method says so in time, and again; thawed: it works, and what came late undoes nothing", async () => {
    const [gone, other] = [await kept(store), await kept(store)];
    await Promise.all(Array.from({ length: POOL_SIZE }, () => answer(() => store.get(gone.key))));
    await server.pause();
    await refusal(() => store.replace(gone.key, entryOf(), gone.version));
    await refusal(() => store.touch(gone.key, STAMP + 5, LATER + 5));
    await refusal(() =>
      store.replace(other.key, entryOf({ data: new Uint8Array([1]) }), other.version),
    );
    await refusals(store, newKey(), other.version);
    await server.resume();
    // A logout that is confirmed now is for ever, whatever still lies in the server's sockets.
    expect(await answer(() => store.delete(gone.key))).toBeDefined();
    const seen = (await answer(() => store.get(other.key)))!;
    const isWritten = await store.replace(
      other.key,
      entryOf({ data: new Uint8Array([2]) }),
      seen.version,
    );
    await until(async () => (await others("state = 'active'")) === 0);
    expect(await store.get(gone.key)).toBeUndefined();
    expect(isWritten && [...((await store.get(other.key))!.data as Uint8Array)]).toEqual([2]);
  });

  it("a pool without a free connection: refused in time, never sent later, and the connection goes back to the pool", async () => {
    const { key, version, stored } = await kept(store);
    const clients = await Promise.all(Array.from({ length: POOL_SIZE }, () => pool.connect()));
    // The pool itself would wait for longer than the store does.
    const patient = open(server.url, { max: 1, connectionTimeoutMillis: 5000 });
    const only = await patient.pool.connect();
    for (const refused of await refusals(patient.store, key, version))
      expect(refused.message).toMatch(/No connection .* free in time/);
    await refusals(store, key, version);
    expect(patient.pool.waitingCount).toBe(6);
    for (const client of [...clients, only]) client.release();
    // Whoever comes next waits behind those six.
    expect(await patient.store.get(key)).toEqual(stored);
    expect(await answer(() => store.get(key))).toEqual(stored);
    expect(await answer(() => store.get(`${key} new`))).toBeUndefined();
    expect([patient.pool.waitingCount, patient.pool.idleCount, patient.pool.totalCount]).toEqual([
      0, 1, 1,
    ]);
    await patient.pool.end();
  });

  it("a locked table: refused in time, its connections leave the pool, and what runs late undoes nothing", async () => {
    const [gone, other] = [await kept(store), await kept(store)];
    const unlock = await lockTable();
    await refusal(() => store.replace(gone.key, entryOf(), gone.version));
    await refusal(() => store.touch(gone.key, STAMP + 5, LATER + 5));
    await refusal(() =>
      store.replace(other.key, entryOf({ data: new Uint8Array([1]) }), other.version),
    );
    await refusal(() => store.touch(other.key, STAMP - 5, LATER - 5));
    await until(async () => pool.totalCount === 0);
    await unlock();
    expect(await answer(() => store.delete(gone.key))).toBeDefined();
    // The one late replacement may come between the two, once; then the version tells.
    await until(async () => {
      const seen = (await answer(() => store.get(other.key)))!;
      return store.replace(other.key, entryOf({ data: new Uint8Array([2]) }), seen.version);
    });
    await until(async () => (await others("state = 'active'")) === 0);
    expect(await store.get(gone.key)).toBeUndefined();
    const last = (await store.get(other.key))!;
    expect([...(last.data as Uint8Array)]).toEqual([2]);
    expect([last.lastActive, last.expiresAt]).toEqual([STAMP, LATER]);
  });

  it("a role with a statement_timeout: given-up statements of a locked table do not pile up on the server", async () => {
    const { key } = await kept(store);
    await admin.query(
      `CREATE ROLE patient LOGIN; GRANT ALL ON idpauth_sessions TO patient; ALTER ROLE patient SET statement_timeout = '${TIMEOUT}ms'`,
    );
    const limited = open(server.url.replace("postgres@", "patient@"));
    const unlock = await lockTable();
    for (let round = 0; round < 3; round += 1) await refusals(limited.store, key, "version");
    await until(async () => (await others("wait_event_type = 'Lock'")) === 0);
    await unlock();
    expect(await answer(() => limited.store.get(key))).toBeDefined();
    await limited.pool.end();
  });

  it("[S2] a row that another transaction has locked holds up only its own session", async () => {
    const [one, other] = [await kept(store), await kept(store)];
    const client = await admin.connect();
    await client.query("BEGIN");
    await client.query("SELECT 1 FROM idpauth_sessions WHERE key = $1 FOR UPDATE", [one.key]);
    await refusal(() => store.touch(one.key, STAMP + 5, 0));
    expect(await answer(() => store.get(one.key))).toEqual(one.stored);
    expect(await answer(() => store.touch(other.key, STAMP + 5, 0))).toBe(true);
    await client.query("COMMIT");
    client.release();
    expect(await answer(() => store.touch(one.key, STAMP + 6, 0))).toBe(true);
  });

  it("no table: the message says what to do, and it works once that is done", async () => {
    const bare = postgresStore(pool, { table: "not_yet", timeout: TIMEOUT, sweepInterval: 0 });
    for (const refused of await refusals(bare, newKey(), "version")) {
      expect(refused.message).toMatch(/no table "not_yet": run the store's migrate\(\)/);
      expect(refused.cause).toMatchObject({ code: "42P01" });
    }
    await bare.migrate();
    expect((await kept(bare)).stored.lastActive).toBe(STAMP);
  });

  it("a table of another layout, and one without privileges, are distinguished", async () => {
    await admin.query("CREATE TABLE foreign_table (id int); CREATE ROLE stranger LOGIN");
    await expect(
      postgresStore(pool, { table: "foreign_table", sweepInterval: 0 }).get("key"),
    ).rejects.toThrow(/has other columns than/);
    const stranger = open(server.url.replace("postgres@", "stranger@"));
    await expect(stranger.store.get("key")).rejects.toThrow(
      /lacks rights on table "idpauth_sessions"/,
    );
    await stranger.pool.end();
  });

  it("read-only, as a standby: reads go on, writes say so, and the connection is given up, since the next may find the primary", async () => {
    const { key, version, stored } = await kept(store);
    const standby = open(server.url, { max: 1, options: "-c default_transaction_read_only=on" });
    expect(await answer(() => standby.store.get(key))).toEqual(stored);
    for (const call of [
      () => standby.store.touch(key, STAMP + 5, 0),
      () => standby.store.replace(key, entryOf(), version),
      () => standby.store.insert(newKey(), entryOf()),
      () => standby.store.delete(key),
    ]) {
      const refused = await refusal(call);
      expect(refused.message).toMatch(/read-only.*primary/);
      expect(codesOf([refused])).toEqual(["25006"]);
      expect(standby.pool.totalCount).toBe(0);
    }
    expect(await answer(() => store.get(key))).toEqual(stored);
    await standby.pool.end();
  });

  it("no connection left on the server, and a wrong name: refused with the server's code", async () => {
    const { key, stored } = await kept(store);
    await admin.query("CREATE ROLE crowd LOGIN");
    const crowd = new pg.Pool({
      connectionString: server.url.replace("postgres@", "crowd@"),
      max: 40,
    });
    const taken: pg.PoolClient[] = [];
    for (const attempt of await Promise.allSettled(
      Array.from({ length: 40 }, () => crowd.connect()),
    )) {
      if (attempt.status === "fulfilled") taken.push(attempt.value);
    }
    const late = open(server.url.replace("postgres@", "crowd@"));
    expect(codesOf([await refusal(() => late.store.get(key))])).toEqual(["53300"]);
    for (const client of taken) client.release();
    await crowd.end();
    await late.pool.end();
    const nobody = open(server.url.replace("postgres@", "nobody_of_that_name@"));
    expect(codesOf([await refusal(() => nobody.store.get(key))])).toEqual(["28000"]);
    await nobody.pool.end();
    expect(await answer(() => store.get(key))).toEqual(stored);
  });

  it("connections that an administrator ends, idle and at work: refused with 57P01 at most, and the next operation has a new one", async () => {
    const { key, stored } = await kept(store);
    const unlock = await lockTable();
    const running = refusal(() => store.touch(key, STAMP + 5, 0));
    await until(async () => (await others("wait_event_type = 'Lock'")) === 1);
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    );
    expect(codesOf([await running])).toEqual(["57P01"]);
    await unlock();
    expect(await answer(() => store.get(key))).toEqual(stored);
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%idpauth_sessions%' AND pid <> pg_backend_pid()",
    );
    await until(async () => pool.totalCount === 0);
    expect(await answer(() => store.get(key))).toEqual(stored);
  });

  it("[S6] a full disk, and every other error of the server: refused, without a byte of what was to be stored in the error", async () => {
    const full = postgresStore(pool, {
      table: "on_a_full_disk",
      timeout: TIMEOUT,
      sweepInterval: 0,
    });
    await full.migrate();
    const secret = "sealed bytes and stored fields";
    await admin.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION USING ERRCODE = TG_ARGV[0], MESSAGE = CASE WHEN TG_ARGV[0] LIKE '22%' THEN NEW.subject ELSE 'could not extend file' END, DETAIL = 'row ' || NEW.subject || encode(NEW.data, 'escape'), HINT = NEW.subject;
      END $$`);
    for (const code of ["53100", "53200", "XX000", "23514", "58030", "22001"]) {
      await admin.query(
        `CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON on_a_full_disk FOR EACH ROW EXECUTE FUNCTION refuse('${code}')`,
      );
      const refused = await refusal(() =>
        full.insert("key", entryOf({ data: new TextEncoder().encode(secret), subject: secret })),
      );
      expect(codesOf([refused])).toEqual([code]);
      expect(inspect(refused, { depth: 10, showHidden: true })).not.toContain(secret);
    }
    // PostgreSQL knows no text with a zero byte.
    const refused = await refusal(() => store.get(`${secret}\0`));
    expect(inspect(refused, { depth: 10, showHidden: true })).not.toContain(secret);
  });

  it("many at once on one row under SERIALIZABLE: those that lost are repeated, and none is refused", async () => {
    const strict = open(server.url, {
      max: 10,
      options: "-c default_transaction_isolation=serializable",
    });
    const patient = postgresStore(strict.pool, { sweepInterval: 0 });
    const { key, version } = await kept(patient);
    const won = await Promise.all(
      Array.from({ length: 10 }, () => patient.replace(key, entryOf(), version)),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    const touched = await Promise.all(
      Array.from({ length: 10 }, (_, index) => patient.touch(key, STAMP + index, 0)),
    );
    expect(touched).not.toContain(false);
    expect((await patient.get(key))?.lastActive).toBe(STAMP + 9);
    await strict.pool.end();
  });

  describe.skipIf(!hasPooler)("behind a transaction-mode pooler with one connection", () => {
    let bouncer: PgBouncer;
    let pooled: ReturnType<typeof open>;
    beforeEach(async () => {
      bouncer = await startPgBouncer(server, 1);
      pooled = open(bouncer.url);
    });
    afterEach(async () => {
      await pooled.pool.end();
      await bouncer.stop();
    });

    it("that another client holds: refused in time, and what waited in the pooler never runs", async () => {
      const { key, version, stored } = await kept(store);
      const holder = new pg.Client(bouncer.url);
      await holder.connect();
      await holder.query("BEGIN");
      await refusals(pooled.store, key, version);
      // Until its connection is closed, which takes a few milliseconds, a statement may still run.
      await until(async () => pooled.pool.totalCount === 0);
      await holder.query("COMMIT");
      await holder.end();
      expect(await answer(() => pooled.store.get(key))).toEqual(stored);
      expect(await pooled.store.get(`${key} new`)).toBeUndefined();
      expect(await answer(() => store.get(key))).toEqual(stored);
    });

    it("that is stopped and started again: 503 in that time, and then all is there", async () => {
      const { key, version, stored } = await kept(pooled.store);
      await bouncer.stop();
      await refusals(pooled.store, key, version);
      bouncer = await startPgBouncer(server, 1);
      const again = open(bouncer.url);
      expect(await again.store.get(key)).toEqual(stored);
      await again.pool.end();
    });
  });
});

// One Express application per process over one store outside it. A bare route beside idpauth's does
// one plain read by key on the same store, through the same driver, and sends the same JSON.
import { createHash, randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import express from "express";
import { idpAuth } from "idpauth/express";
import { serveCalls, childOptions } from "./children.mjs";

const { kind, url, provider, idleTimeout = null, refreshConcurrency } = childOptions();

const SECRET_KEY = "a secret key of the benchmark, longer than it must be";
const USER = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
/** Rows or commands in one round trip while the store is filled. */
const BATCH = 1_000;

/**
 * How each store is opened, read by hand, filled with copies of one session, and measured in bytes.
 *
 * @type {Record<string, () => Promise<{ store: any, plain: { put(key: string, value: Buffer): Promise<unknown>, get(key: string): Promise<unknown> }, copy(key: string, to: readonly { key: string, subject: string }[]): Promise<void>, bytes(): Promise<number> }>>}
 */
const kinds = {
  async sqlite() {
    const { DatabaseSync } = await import("node:sqlite");
    const { sqliteStore } = await import("idpauth/sqlite");
    for (const file of [url, `${url}-wal`, `${url}-shm`]) rmSync(file, { force: true });
    const store = sqliteStore(url);
    const database = new DatabaseSync(url, { timeout: 5_000 });
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("CREATE TABLE bare (key TEXT PRIMARY KEY, value BLOB)");
    const put = database.prepare("INSERT OR REPLACE INTO bare VALUES (?, ?)");
    const get = database.prepare("SELECT value FROM bare WHERE key = ?");
    const { name: table } = database
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'bare'",
      )
      .get();
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
    const given = columns
      .map((name) => (name === "key" ? "@to" : name === "subject" ? "@subject" : name))
      .join();
    const copy = database.prepare(
      `INSERT INTO ${table} (${columns.join()}) SELECT ${given} FROM ${table} WHERE key = @key`,
    );
    const copyAll = (key, to) => {
      database.exec("BEGIN");
      for (const { key: other, subject } of to) copy.run({ key, to: other, subject });
      database.exec("COMMIT");
    };
    return {
      store,
      plain: { put: async (key, value) => put.run(key, value), get: async (key) => get.get(key) },
      copy: async (key, to) => copyAll(key, to),
      async bytes() {
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        return statSync(url).size;
      },
    };
  },

  async redis() {
    const { createClient, RESP_TYPES } = await import("redis");
    const { redisStore } = await import("idpauth/redis");
    const client = createClient({ url, disableOfflineQueue: true });
    client.on("error", () => {});
    await client.connect();
    const store = redisStore(client);
    const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    return {
      store,
      plain: {
        put: (key, value) => client.set(`bare:${key}`, value),
        get: (key) => binary.get(`bare:${key}`),
      },
      async copy(key, to) {
        const name = `idpauth:session:${key}`;
        const dump = await binary.dump(name);
        const ttl = await client.pTTL(name);
        await Promise.all(
          to.map((other) => client.restore(name.replace(key, other.key), ttl, dump)),
        );
      },
      bytes: async () => Number(/used_memory:(\d+)/.exec(await client.info("memory"))[1]),
    };
  },

  async ioredis() {
    const { Redis } = await import("ioredis");
    const { redisStore } = await import("idpauth/redis");
    const client = new Redis(url, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      commandTimeout: 2_000,
      lazyConnect: true,
      maxRetriesPerRequest: 0,
    });
    client.on("error", () => {});
    await client.connect();
    return {
      store: redisStore(client),
      plain: {
        put: (key, value) => client.set(`bare:${key}`, value),
        get: (key) => client.getBuffer(`bare:${key}`),
      },
      async copy(key, to) {
        const name = `idpauth:session:${key}`;
        const dump = await client.dumpBuffer(name);
        const ttl = await client.pttl(name);
        await Promise.all(
          to.map((other) => client.restore(name.replace(key, other.key), ttl, dump)),
        );
      },
      bytes: async () => Number(/used_memory:(\d+)/.exec(await client.info("memory"))[1]),
    };
  },

  async postgres() {
    const { Pool } = (await import("pg")).default;
    const { postgresStore } = await import("idpauth/postgres");
    const pool = new Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 2_000 });
    pool.on("error", () => {});
    const store = postgresStore(pool);
    await store.migrate();
    await pool.query(
      "TRUNCATE idpauth_sessions; CREATE TABLE IF NOT EXISTS bare (key text PRIMARY KEY, value bytea); TRUNCATE bare",
    );
    return {
      store,
      plain: {
        put: (key, value) =>
          pool.query(
            "INSERT INTO bare VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2",
            [key, value],
          ),
        get: (key) => pool.query("SELECT value FROM bare WHERE key = $1", [key]),
      },
      async copy(key, to) {
        const { rows } = await pool.query(
          "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'idpauth_sessions' AND is_generated = 'NEVER' ORDER BY ordinal_position",
        );
        const columns = rows.map(({ name }) => name);
        const given = columns.map((name) =>
          name === "key" ? "o.key" : name === "subject" ? "o.subject" : `s.${name}`,
        );
        await pool.query(
          `INSERT INTO idpauth_sessions (${columns.join()}) SELECT ${given.join()} FROM idpauth_sessions s, unnest($2::text[], $3::text[]) AS o(key, subject) WHERE s.key = $1`,
          [key, to.map((other) => other.key), to.map((other) => other.subject)],
        );
      },
      async bytes() {
        await pool.query("VACUUM ANALYZE idpauth_sessions");
        return Number(
          (await pool.query("SELECT pg_total_relation_size('idpauth_sessions') AS size")).rows[0]
            .size,
        );
      },
    };
  },
};

const { store, plain, copy, bytes } = await kinds[kind]();
if (store.problems?.length > 0)
  throw new Error(store.problems.map(({ message }) => message).join("\n"));

/** Moves idpauth's clock forward. The store's server keeps its own time. */
let ahead = 0;
const clock = {
  now: () => Date.now() + ahead,
  monotonic: () => performance.now() + ahead,
  timer(milliseconds, task) {
    const timer = setTimeout(task, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

const auth = idpAuth({
  env: {},
  log: false,
  clock,
  secretKey: SECRET_KEY,
  ...provider,
  sessionIdleTimeout: idleTimeout,
  ...(refreshConcurrency && { refreshConcurrency }),
  store,
});
const app = express();
auth.mount(app);
app.get("/bare", async (request, response) => {
  const value = await plain.get(request.headers.cookie.slice("idpauth=".length));
  response.json({ authenticated: value !== undefined, user: USER });
});
const server = app.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

/** The last signed-in entry that the real sign-in wrote: the pattern for the copies. */
let pattern;
/** The latest expiry of a pending login, in seconds after its start. */
let longestLife = 0;
const insert = store.insert.bind(store);
store.insert = (key, entry) => {
  if (entry.subject !== undefined) pattern = { key, entry };
  else longestLife = Math.max(longestLife, entry.expiresAt - Math.floor(clock.now() / 1000));
  return insert(key, entry);
};

const { createSealer } = await import("../build/sessions/seal.js");
const sealer = createSealer(SECRET_KEY, []);
const hashOf = (value) => createHash("sha256").update(value).digest("base64url");

serveCalls({
  port: () => server.address().port,

  /** Microseconds of processor time so far, garbage collection included. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },

  /**
   * Stores sessions of that many users, copied from the pattern, and returns their cookies. Each is
   * also stored under a plain key.
   */
  async users({ cookie, count }) {
    const value = cookie.slice("idpauth=".length);
    const plainText = sealer.open(pattern.entry.data, value, pattern.key);
    const cookies = [];
    for (let done = 0; done < count; done += BATCH) {
      await Promise.all(
        Array.from({ length: Math.min(BATCH, count - done) }, async () => {
          const another = randomBytes(32).toString("base64url");
          const key = hashOf(another);
          cookies.push(`idpauth=${another}`);
          const data = sealer.seal(plainText, another, key);
          const entry = { ...pattern.entry, data, subject: randomBytes(32).toString("base64url") };
          await Promise.all([insert(key, entry), plain.put(another, data)]);
        }),
      );
    }
    return { cookies, sealedBytes: pattern.entry.data.length };
  },

  /**
   * Stores that many more records, whose cookies are not kept. Returns the bytes of the whole store
   * per record.
   */
  async fill({ count }) {
    const before = await bytes();
    for (let done = 0; done < count; done += BATCH) {
      const others = Array.from({ length: Math.min(BATCH, count - done) }, () => ({
        key: hashOf(randomBytes(32)),
        subject: randomBytes(32).toString("base64url"),
      }));
      await copy(pattern.key, others);
    }
    return { bytesPerSession: count === 0 ? 0 : ((await bytes()) - before) / count };
  },

  /** Returns the bytes of a session that idpauth wrote, including its index by subject. */
  async weigh({ count }) {
    const before = await bytes();
    for (let done = 0; done < count; done += BATCH) {
      await Promise.all(
        Array.from({ length: Math.min(BATCH, count - done) }, () =>
          insert(hashOf(randomBytes(32)), {
            ...pattern.entry,
            subject: randomBytes(32).toString("base64url"),
          }),
        ),
      );
    }
    return { bytesPerSession: ((await bytes()) - before) / count };
  },

  advance({ seconds }) {
    ahead += seconds * 1000;
  },

  /** Starts that many logins over HTTP, each without a cookie. */
  async abandon({ count }) {
    const before = await bytes();
    const started = performance.now();
    const origin = `http://127.0.0.1:${server.address().port}`;
    let begun = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (begun < count) {
          begun += 1;
          const response = await fetch(`${origin}/idpauth/login/`, { redirect: "manual" });
          await response.arrayBuffer();
          if (response.status !== 302) throw new Error(`a login was answered ${response.status}`);
        }
      }),
    );
    return {
      bytesEach: ((await bytes()) - before) / count,
      elapsed: performance.now() - started,
      longestLife,
    };
  },
});

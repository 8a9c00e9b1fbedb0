// What a read of the PostgreSQL store costs, taken apart: the same row, read in one way more with
// each variant. Called by bench/cases/postgres-reads.mjs.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";
import { postgresStore } from "idpauth/postgres";
import { childOptions, serveCalls } from "./children.mjs";

const { url, records, recordBytes } = childOptions();

/** Reads under way at a time, one for each connection. */
const CONNECTIONS = 10;

const pool = new pg.Pool({
  connectionString: url,
  max: CONNECTIONS,
  connectionTimeoutMillis: 2_000,
});
pool.on("error", () => {});
const store = postgresStore(pool, { sweepInterval: 0 });
await store.migrate();
await pool.query("CREATE TABLE bare (key text PRIMARY KEY, value bytea)");

const keys = [];
for (let done = 0; done < records; done += 500) {
  await Promise.all(
    Array.from({ length: Math.min(500, records - done) }, async () => {
      const key = randomBytes(32).toString("base64url");
      const data = randomBytes(recordBytes);
      const [subject, sid] = [randomBytes(32).toString("base64url"), undefined];
      const expiresAt = Math.floor(Date.now() / 1000) + 86_400;
      await store.insert(key, { data, expiresAt, subject, sid, summary: undefined });
      await pool.query("INSERT INTO bare VALUES ($1, $2)", [key, data]);
      keys.push(key);
    }),
  );
}
await pool.query("VACUUM ANALYZE");

const TEXT = { getTypeParser: () => (value) => value };
const COLUMNS =
  "version::text, expires_at::text, last_active::text, subject, sid, encode(summary, 'base64'), encode(data, 'base64')";
const NOT_EXPIRED =
  "expires_at > COALESCE($2::float8, extract(epoch FROM clock_timestamp())::float8)";

const named = (name, text, values) =>
  pool.query({ name, text, values, rowMode: "array", types: TEXT });

/** Each reads the record of one key. */
const VARIANTS = {
  "the bare route's read: one column, unnamed": (key) =>
    pool.query("SELECT value FROM bare WHERE key = $1", [key]),
  "the same, named": (key) => named("bare", "SELECT value FROM bare WHERE key = $1", [key]),
  "the same, as Base64": (key) =>
    named("base64", "SELECT encode(value, 'base64') FROM bare WHERE key = $1", [key]),
  "the store's table, only data, as Base64": (key) =>
    named("data", "SELECT encode(data, 'base64') FROM idpauth_sessions WHERE key = $1", [key]),
  "the store's table, all but data": (key) =>
    named(
      "others",
      `SELECT ${COLUMNS.replace(/, encode\(data.*/, "")} FROM idpauth_sessions WHERE key = $1`,
      [key],
    ),
  "the store's table, all columns": (key) =>
    named("all", `SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = $1`, [key]),
  "the store's statement, which also compares the time": (key) =>
    named("get", `SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = $1 AND ${NOT_EXPIRED}`, [
      key,
      null,
    ]),
  "the store's statement, unnamed": (key) =>
    pool.query({
      text: `SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = $1 AND ${NOT_EXPIRED}`,
      values: [key, null],
      rowMode: "array",
      types: TEXT,
    }),
  "store.get(), with its time limit": (key) => store.get(key),
};

/** Seconds of processor time that the server's processes of this pool have used. */
async function serverCpu() {
  const { rows } = await pool.query(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  const ticks = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

let next = 0;

serveCalls({
  variants: () => Object.keys(VARIANTS),

  /** Returns microseconds for each read: elapsed, of this process, and of the server's. */
  async reads({ variant, count }) {
    const read = VARIANTS[variant];
    const server = await serverCpu();
    const before = process.cpuUsage();
    const started = performance.now();
    let left = count;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (left > 0) {
          left -= 1;
          next = (next + 7_919) % keys.length;
          await read(keys[next]);
        }
      }),
    );
    const elapsed = (performance.now() - started) * 1_000;
    const { user, system } = process.cpuUsage(before);
    return {
      elapsed: elapsed / count,
      client: (user + system) / count,
      server: ((await serverCpu()) - server) * (1e6 / count),
    };
  },

  /** The plan of the store's statement, with the pages that it reads. */
  async plan() {
    const { rows } = await pool.query(
      `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = '${keys[0]}' AND expires_at > 1`,
    );
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  },
});

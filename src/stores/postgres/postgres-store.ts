import { epochSeconds, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import { StoreUnavailableError } from "../../errors.js";
import type {
  Entry,
  EntryPage,
  SessionStore,
  Stored,
  StoreProblem,
} from "../../ports/session-store.js";
import { createAnnouncedEnds } from "../end-announcements.js";
import { pageOf, storedEntry } from "../stored-entries.js";
import { SWEEP_EVERY_MS, sweepRegularly } from "../sweep.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT_MS } from "../time-limit.js";
import { listenProblems, NOTIFY, postgresChannel, type PostgresListener } from "./end-channel.js";
import {
  codeOf,
  isPool,
  poolProblems,
  createStatements,
  type PostgresPool,
  type PostgresResult,
  type PostgresValue,
} from "./pool.js";
import { postgresMigration, quotedTable, sqlFor, SWEEP_SLICE_ROWS } from "./table.js";

export { postgresMigration };
export type { PostgresPool, PostgresClient, PostgresValue } from "./pool.js";
export type { PostgresListener } from "./end-channel.js";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /**
   * `name` or `schema.name`: letters, digits and underscores, case-sensitive, at most 63 each.
   * Default `idpauth_sessions`, on the search path.
   */
  readonly table?: string;
  /**
   * Milliseconds for one operation, including the wait for a connection. Default and maximum 2000.
   */
  readonly timeout?: number;
  /**
   * Whether each connection prepares the store's statements once, under names. That saves the
   * server about a third of a read. Default true: if a pooler in transaction mode loses a name, the
   * store repeats the statement and continues without names. Set false if your pooler responds to
   * named statements in another way than with an error.
   */
  readonly namedStatements?: boolean;
  /**
   * Maximum milliseconds between two looks for expired rows. Default 60,000; 0: this process never
   * sweeps.
   */
  readonly sweepInterval?: number;
  /**
   * A connected `Client` of `pg` outside the pool, used for nothing else. With this client, the
   * signals of `auth.whenEnded` abort within a second, by LISTEN. Otherwise each process polls. The
   * client must not go through a pooler in transaction mode. The application closes the client. If
   * its connection is lost, this process polls until it restarts.
   */
  readonly listen?: PostgresListener;
  /**
   * The clock that decides which entries have expired, and drives the sweep and `listen`. Default:
   * the database's clock, one for all processes.
   */
  readonly clock?: Clock;
}

export interface PostgresStore extends SessionStore {
  /**
   * Creates the table with {@link postgresMigration} if it is missing. Run it at every start, in
   * any number of processes at once. The role needs CREATE on the schema.
   *
   * @throws StoreUnavailableError if that fails within a minute; the message has the reason
   */
  migrate(): Promise<void>;
  /**
   * Ends the sweep and `watchEnds`, and waits for the running slice of the sweep. The application
   * ends the pool.
   */
  close(): Promise<void>;
}

const MIGRATION_LIMIT_MS = 60_000;

/**
 * Returns a store in one table of PostgreSQL 13 or later, through a `Pool` of `pg`. Each operation
 * is one statement without a transaction of its own, so the pool may go through a pooler in
 * transaction mode (PgBouncer).
 *
 * If an operation runs out of time, its outcome is unknown: a statement that was sent may still
 * run. That is harmless. `replace` compares the version, `touch` only moves stamps forward, neither
 * creates a row, `delete` removes what the caller wanted to remove, and no browser has the key of
 * an `insert`.
 *
 * The store adds an "error" listener to the pool, because a lost idle connection ends the process
 * otherwise.
 *
 * @throws TypeError if an option is out of bounds
 *
 * @example
 * import { Pool } from "pg";
 * const pool = new Pool();
 * const auth = idpAuth({ store: postgresStore(pool) });
 */
export function postgresStore(
  pool: PostgresPool,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const { table: name = "idpauth_sessions", clock, listen, namedStatements = true } = options;
  const { timeout = DEFAULT_STORE_TIMEOUT_MS, sweepInterval = SWEEP_EVERY_MS.postgres } = options;
  checkTimes(timeout, sweepInterval);
  const table = quotedTable(name);
  const sql = sqlFor(name);
  const problems = [...poolProblems(pool), ...listenProblems(listen)];
  const statements = createStatements(pool, namedStatements);
  const time = clock ?? systemClock;
  const stopSweep = sweepRegularly(time, isPool(pool) ? sweepInterval : 0, sweepSlice);
  const notify = (message: string) => run(NOTIFY, [message]);
  /** Only with the option `listen`. */
  const ends =
    listen !== undefined && listenProblems(listen).length === 0
      ? createAnnouncedEnds(postgresChannel(listen, notify), time)
      : undefined;

  async function list(text: string, hash: string, after = ""): Promise<EntryPage> {
    const { rows } = await run(text, [hash, now(), after]);
    return pageOf(
      rows.map((row) => ({ key: String(row[7]), stored: storedOf(row), position: String(row[7]) })),
    );
  }

  async function sweepSlice(): Promise<boolean> {
    const { rowCount } = await run(sql.sweep, [now()]);
    return rowCount !== null && rowCount >= SWEEP_SLICE_ROWS;
  }

  async function write(text: string, values: PostgresValue[]): Promise<boolean> {
    const { rowCount } = await run(text, values);
    return rowCount === 1;
  }

  async function run(
    text: string,
    values?: PostgresValue[],
    milliseconds = timeout,
  ): Promise<PostgresResult> {
    if (!isPool(pool)) throw new TypeError(problems[0]?.message);
    try {
      return await statements.run(text, values, milliseconds);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      const code = codeOf(error);
      throw new StoreUnavailableError(explanation(code, `table ${table}`), {
        cause: withoutData(error, code),
      });
    }
  }

  /** Null: the database's own time. */
  function now(): EpochSeconds | null {
    return clock === undefined ? null : epochSeconds(clock);
  }

  return {
    name: "postgres",
    problems,
    async serverProblems() {
      const { rows } = await run(IN_RECOVERY);
      return rows[0]?.[0] === "true" ? [STANDBY] : [];
    },
    ...(ends && { watchEnds: ends.watch }),
    async get(key) {
      const { rows } = await run(sql.get, [key, now()]);
      return rows[0] && storedOf(rows[0]);
    },

    insert: async (key, entry) => write(sql.insert, [key, now(), ...valuesOf(entry)]),
    replace: async (key, entry, version) =>
      write(sql.replace, [key, now(), ...valuesOf(entry), version]),

    async touch(key, lastActive, expiresAt) {
      const stamps = [
        finite(expiresAt, "expiresAt"),
        lastActive === null ? null : finite(lastActive, "lastActive"),
      ];
      return write(sql.touch, [key, now(), ...stamps]);
    },

    async delete(key) {
      const { rows } = await run(sql.remove, [key, now()]);
      const [row] = rows;
      return row?.[7] === "true" ? storedOf(row) : undefined;
    },

    listBySubject: (subject, cursor) => list(sql.listBySubject, subject, cursor),
    listBySid: (sid, cursor) => list(sql.listBySid, sid, cursor),

    async getMany(keys) {
      const { rows } = await run(sql.getMany, [keys, now()]);
      return new Map(rows.map((row) => [String(row[7]), storedOf(row)]));
    },

    async announceEnd(key, reason) {
      await run(NOTIFY, [`${key} ${reason}`]).catch(() => undefined);
    },

    async migrate() {
      await run(sql.migrate, undefined, MIGRATION_LIMIT_MS);
    },

    close() {
      ends?.close();
      return stopSweep();
    },
  };
}

/** @throws TypeError if one of the options is out of bounds */
function checkTimes(timeout: number, sweepInterval: number): void {
  checkTimeout("postgresStore", timeout);
  if (sweepInterval >= 0 && sweepInterval <= 86_400_000) return;
  throw new TypeError(
    `postgresStore: sweepInterval must be milliseconds from 0 to 86400000, got ${String(sweepInterval)}.`,
  );
}

const IN_RECOVERY = "SELECT pg_is_in_recovery()::text";
const STANDBY: StoreProblem = {
  message:
    "PostgreSQL is a standby. It refuses writes, and may still return a session after its logout.",
  remedy: "Connect the pool to the primary, without a proxy that sends reads to standbys.",
};

const OTHER_COLUMNS =
  "The % has other columns than postgresMigration() creates. Give the store another table name.";

/** Messages by SQLSTATE; % is the table. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  "42P01":
    "PostgreSQL has no %: run the store's migrate(), or the SQL of postgresMigration(), before the application starts.",
  "3F000": "The schema of % doesn't exist: create it first, then run migrate().",
  "42501": "The database role lacks rights on %.",
  "42703": OTHER_COLUMNS,
  "42804": OTHER_COLUMNS,
  "25006": "PostgreSQL is read-only, like a standby. Sessions need the primary.",
};

function explanation(code: string | undefined, table: string): string {
  const known =
    EXPLANATIONS[code ?? ""] ??
    `PostgreSQL can't be used for sessions right now${code === undefined ? "" : ` (${code})`}.`;
  return known.replace("%", () => table);
}

/**
 * Returns the driver's error without row contents and parameters. The server puts them into the
 * fields beside the message, and into the message if it refuses a value (class 22).
 */
function withoutData(error: unknown, code: string | undefined): unknown {
  if (!(error instanceof Error) || !("severity" in error)) return error;
  const message = code?.startsWith("22") === true ? "PostgreSQL refused a value" : error.message;
  return Object.assign(new Error(message), { code });
}

/**
 * Returns the values in the order of the statements: expiresAt, lastActive, subject, sid, summary,
 * data.
 */
function valuesOf(entry: Entry): PostgresValue[] {
  const { data, expiresAt, lastActive, subject, sid, summary } = entry;
  if (!(data instanceof Uint8Array))
    throw new TypeError("postgresStore: data must be bytes (encrypted records).");
  return [
    finite(expiresAt, "expiresAt"),
    lastActive === undefined ? null : finite(lastActive, "lastActive"),
    subject ?? null,
    sid ?? null,
    summary ?? null,
    data,
  ];
}

/** PostgreSQL sorts NaN after every number, so such an entry would never expire. */
function finite(seconds: number, field: string): number {
  if (!Number.isFinite(seconds))
    throw new TypeError(`postgresStore: ${field} must be a finite number, got ${String(seconds)}.`);
  return seconds;
}

function storedOf(row: readonly (string | null)[]): Stored {
  const [version, expiresAt, lastActive, subject, sid, summary, data] = row;
  return storedEntry({
    version: String(version),
    expiresAt: Number(expiresAt),
    data: Buffer.from(data ?? "", "base64"),
    lastActive: typeof lastActive === "string" ? Number(lastActive) : null,
    subject,
    sid,
    summary: typeof summary === "string" ? Buffer.from(summary, "base64") : null,
  });
}

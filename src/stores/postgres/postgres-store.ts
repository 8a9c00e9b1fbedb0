import { StoreUnavailableError } from "../../errors.js";
import type { Entry, SessionStore, Stored, StoreProblem } from "../../ports/session-store.js";
import { epochSeconds, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import {
  codeOf,
  isPool,
  listenForLostConnections,
  poolProblems,
  runStatement,
  statement,
  type PostgresPool,
  type PostgresResult,
  type PostgresStatement,
} from "./pool.js";
import { PostgresSweep } from "./sweep.js";
import { postgresMigration, quotedTable, statementsFor, SWEEP_SLICE, type Statements } from "./table.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT } from "../time-limit.js";

export { postgresMigration };
export type { PostgresPool, PostgresClient } from "./pool.js";

export interface PostgresStoreOptions {
  /**
   * `name` or `schema.name`: letters, digits and underscores, case kept, at most 63 each. Default `idpauth_sessions`, found
   * on the search path.
   */
  readonly table?: string;
  /** Milliseconds that one operation may take, the wait for a connection included; at most 2000, the default. */
  readonly timeout?: number;
  /** Milliseconds between two looks for expired rows, at the most. Default 60,000; 0: this process never sweeps. */
  readonly sweepInterval?: number;
  /**
   * Whose time decides what has expired. Default: the database's own, one clock for all processes. A clock that is given also
   * drives the sweep.
   */
  readonly clock?: Clock;
}

export interface PostgresStore extends SessionStore {
  /**
   * Makes the table with {@link postgresMigration} when it is not there. May run at every start and in many processes at once;
   * the role needs CREATE on the schema.
   *
   * @throws StoreUnavailableError it could not be done within a minute; the message says why
   */
  migrate(): Promise<void>;
  /** Ends the sweep, once a slice of it that runs has ended. The pool stays its owner's to end. */
  close(): Promise<void>;
}

const DEFAULT_SWEEP_INTERVAL = 60_000;
const MIGRATION_MILLISECONDS = 60_000;

/**
 * Sessions in one table of PostgreSQL 13 or later, through a `Pool` of `pg`. Each operation is one unnamed statement without a
 * transaction of its own, so the pool may lead through a transaction-mode pooler (PgBouncer).
 *
 * When an operation is out of time, its outcome is unknown: a statement that has been sent may still take effect. It can do no
 * harm then. `replace` compares the version, `touch` only moves forward, both need the row to be there still; `delete` ends
 * what was to be ended; and what `insert` makes lies under a key that nobody was given.
 *
 * The store listens to the pool's `error` event; an idle connection that is lost would end the process otherwise.
 *
 * @throws TypeError when an option is not within its bounds
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  const { table = "idpauth_sessions", timeout = DEFAULT_STORE_TIMEOUT, sweepInterval = DEFAULT_SWEEP_INTERVAL, clock } = options;
  checkTimeout("postgresStore", timeout);
  if (!(sweepInterval >= 0 && sweepInterval <= 86_400_000)) {
    throw new TypeError(`postgresStore: sweepInterval must be milliseconds from 0 to 86400000, got ${String(sweepInterval)}.`);
  }
  quotedTable(table);
  return new PostgresSessions(pool, table, timeout, sweepInterval, clock);
}

class PostgresSessions implements PostgresStore {
  readonly name = "postgres";
  readonly problems: readonly StoreProblem[];

  readonly #pool: PostgresPool;
  readonly #table: string;
  readonly #statements: Statements;
  readonly #timeout: number;
  readonly #clock: Clock | undefined;
  readonly #sweep: PostgresSweep;

  constructor(pool: PostgresPool, table: string, timeout: number, sweepInterval: number, clock: Clock | undefined) {
    this.#pool = pool;
    this.#table = table;
    this.#statements = statementsFor(table);
    this.#timeout = timeout;
    this.#clock = clock;
    this.problems = poolProblems(pool);
    if (isPool(pool)) listenForLostConnections(pool);
    this.#sweep = new PostgresSweep(clock ?? systemClock, isPool(pool) ? sweepInterval : 0, () => this.#sweepSlice());
  }

  async get(key: string): Promise<Stored | undefined> {
    const { rows } = await this.#run(this.#statements.get, [key, this.#now()]);
    return storedOf(rows[0]);
  }

  async insert(key: string, entry: Entry): Promise<boolean> {
    return this.#writes(this.#statements.insert, [key, this.#now(), ...valuesOf(entry)]);
  }

  async replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.#writes(this.#statements.replace, [key, this.#now(), ...valuesOf(entry), version]);
  }

  async touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean> {
    const stamps = [finite(expiresAt, "expiresAt"), lastActive === null ? null : finite(lastActive, "lastActive")];
    return this.#writes(this.#statements.touch, [key, this.#now(), ...stamps]);
  }

  async delete(key: string): Promise<Stored | undefined> {
    const { rows } = await this.#run(this.#statements.remove, [key, this.#now()]);
    const [row] = rows;
    return row?.[6] === "true" ? storedOf(row) : undefined;
  }

  async listBySubject(subject: string): Promise<string[]> {
    const { rows } = await this.#run(this.#statements.listBySubject, [subject, this.#now()]);
    return rows.map(([key]) => String(key));
  }

  async migrate(): Promise<void> {
    await this.#ask(statement(postgresMigration(this.#table)), MIGRATION_MILLISECONDS);
  }

  close(): Promise<void> {
    return this.#sweep.stop();
  }

  async #sweepSlice(): Promise<boolean> {
    const { rowCount } = await this.#run(this.#statements.sweep, [this.#now()]);
    return rowCount !== null && rowCount >= SWEEP_SLICE;
  }

  async #writes(text: string, values: PostgresStatement["values"]): Promise<boolean> {
    const { rowCount } = await this.#run(text, values);
    return rowCount === 1;
  }

  #run(text: string, values: PostgresStatement["values"]): Promise<PostgresResult> {
    return this.#ask(statement(text, values), this.#timeout);
  }

  async #ask(wanted: PostgresStatement, milliseconds: number): Promise<PostgresResult> {
    if (!isPool(this.#pool)) throw new TypeError(this.problems[0]?.message);
    try {
      return await runStatement(this.#pool, wanted, milliseconds);
    } catch (error) {
      throw error instanceof StoreUnavailableError ? error : this.#unavailable(error);
    }
  }

  /** Null: the server's own time. */
  #now(): EpochSeconds | null {
    return this.#clock === undefined ? null : epochSeconds(this.#clock);
  }

  #unavailable(error: unknown): StoreUnavailableError {
    const code = codeOf(error);
    return new StoreUnavailableError(this.#explanation(code), { cause: withoutData(error, code) });
  }

  #explanation(code: string | undefined): string {
    const table = `table ${quotedTable(this.#table)}`;
    switch (code) {
      case "42P01":
        return `PostgreSQL has no ${table}: run the store's migrate(), or the SQL that postgresMigration() gives, before the application starts.`;
      case "3F000":
        return `The schema of ${table} does not exist: create it first, then run migrate().`;
      case "42501":
        return `The database role lacks rights on ${table}.`;
      case "42703":
      case "42804":
        return `The ${table} is not laid out as postgresMigration() does it; give the store another name.`;
      case "25006":
        return "PostgreSQL is read-only, as a standby is: sessions need the primary.";
      default:
        return `PostgreSQL cannot be used for sessions right now${code === undefined ? "" : ` (${code})`}.`;
    }
  }
}

/**
 * The driver's error, without what the server may have put into it of a row's content or a statement's parameters: into the
 * fields beside the message, and into the message where data itself was refused (class 22).
 */
function withoutData(error: unknown, code: string | undefined): unknown {
  if (!(error instanceof Error) || !("severity" in error)) return error;
  const message = code?.startsWith("22") === true ? "PostgreSQL refused a value" : error.message;
  return Object.assign(new Error(message), { code });
}

/** In the order in which the statements name them: expiresAt, lastActive, subject, summary, data. */
function valuesOf(entry: Entry): NonNullable<PostgresStatement["values"]> {
  const { data, expiresAt, lastActive, subject, summary } = entry;
  if (!(data instanceof Uint8Array)) throw new TypeError("postgresStore: data must be bytes; records are handed over sealed.");
  return [
    finite(expiresAt, "expiresAt"),
    lastActive === undefined ? null : finite(lastActive, "lastActive"),
    subject ?? null,
    summary ?? null,
    data,
  ];
}

/** PostgreSQL orders NaN after every number, so an entry that expires then would never expire. */
function finite(seconds: number, field: string): number {
  if (!Number.isFinite(seconds)) throw new TypeError(`postgresStore: ${field} must be a finite number, got ${String(seconds)}.`);
  return seconds;
}

function storedOf(row: readonly (string | null)[] | undefined): Stored | undefined {
  if (row === undefined) return undefined;
  const [version, expiresAt, lastActive, subject, summary, data] = row;
  return {
    version: String(version),
    expiresAt: Number(expiresAt),
    data: bytesOf(data ?? ""),
    ...(typeof lastActive === "string" && { lastActive: Number(lastActive) }),
    ...(typeof subject === "string" && { subject }),
    ...(typeof summary === "string" && { summary: bytesOf(summary) }),
  };
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, "base64");
}

import { randomBytes } from "node:crypto";
import { StoreUnavailableError } from "../../errors.js";
import type { Entry, SessionStore, Stored, StoreProblem } from "../../ports/session-store.js";
import { epochSeconds, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import { HandedIn, OwnFile, type ConnectionSource } from "./connection.js";
import type { SqliteDatabase } from "./driver.js";
import { isLocked, unavailable } from "./failure.js";
import type { Connection, Row, Statements } from "./schema.js";
import { sweepRegularly } from "./sweep.js";
import { WriteQueue } from "./writes.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT } from "../time-limit.js";

export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver.js";

export interface SqliteStoreOptions {
  /** Default: the system clock. Processes that share a file must agree about the time. */
  readonly clock?: Clock;
  /** Milliseconds that an operation waits for a lock before it rejects with `StoreUnavailableError`; at most 2000, the default. */
  readonly timeout?: number;
}

/** A session store in an SQLite file. */
export interface SqliteStore extends SessionStore {
  readonly problems: readonly StoreProblem[];
  /** Finishes the writes that were begun. A database that was handed in stays open. */
  close(): Promise<void>;
}

/** Keys that one look for a subject's sessions reads at a time. */
const PAGE = 500;

const NOTHING: Promise<undefined> = Promise.resolve(undefined);

/**
 * Sessions in an SQLite file, for one process or several on one machine. They outlive restarts and crashes.
 *
 * The file must be one of its own, on a local disk; it is created, readable by its owner alone, when it is not there. It
 * is kept in WAL mode, with two companions named -wal and -shm that belong to it. Readers never wait. Writers wait for each
 * other without stopping the event loop. What a login, a refresh or a logout wrote is on the disk before it is
 * acknowledged; an idle stamp survives a crash of the process, and may be lost with the power. Expired entries are swept
 * twice a minute; the room they took is used again, and the file does not shrink.
 *
 * SQLite comes from `node:sqlite` where Node has it (22.13 and later), else from the package `better-sqlite3`. When there is
 * neither, or the file cannot be used, `problems` says what to do and every method rejects.
 *
 * A file that is deleted while it is in use is noticed within a second: every method rejects until it, or another in its
 * place, is there.
 *
 * @param pathOrDatabase a path, `:memory:`, or an open `DatabaseSync` or `better-sqlite3` database, which the store sets up
 *   as its own: give it a connection that nothing else uses
 * @throws TypeError for anything else, and for a timeout that is out of bounds
 */
export function sqliteStore(pathOrDatabase: string | SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const { clock = systemClock, timeout = DEFAULT_STORE_TIMEOUT } = options;
  checkTimeout("sqliteStore", timeout);
  return new SqliteSessions(sourceOf(pathOrDatabase, clock), clock, timeout);
}

function sourceOf(pathOrDatabase: unknown, clock: Clock): ConnectionSource {
  if (typeof pathOrDatabase === "string") {
    if (pathOrDatabase.trim() === "" || pathOrDatabase.startsWith("file:")) {
      throw new TypeError("sqliteStore: the path must be a file's path; it is empty or a URL.");
    }
    return new OwnFile(pathOrDatabase, clock);
  }
  const { prepare, exec } = (pathOrDatabase ?? {}) as Partial<SqliteDatabase>;
  if (typeof prepare !== "function" || typeof exec !== "function") {
    throw new TypeError("sqliteStore: give it a path, or an open database of node:sqlite or better-sqlite3.");
  }
  return new HandedIn(pathOrDatabase as SqliteDatabase);
}

/** Reads are answered at once, writes by the queue. */
class SqliteSessions implements SqliteStore {
  readonly name = "sqlite";
  readonly problems: readonly StoreProblem[];

  readonly #source: ConnectionSource;
  readonly #clock: Clock;
  readonly #writes: WriteQueue;
  readonly #stopSweep: () => void;
  #closed: Promise<void> | undefined;

  constructor(source: ConnectionSource, clock: Clock, timeout: number) {
    this.#source = source;
    this.#clock = clock;
    this.problems = source.problem === undefined ? [] : [source.problem];
    this.#writes = new WriteQueue(() => source.connect(), timeout);
    this.#stopSweep =
      source.problem === undefined
        ? sweepRegularly(clock, {
            hasExpired: () => this.#connect().statements.anyExpired.get(this.#now()) !== undefined,
            removeExpired: (limit) => this.#removeExpired(limit),
          })
        : () => undefined;
  }

  get(key: string): Promise<Stored | undefined> {
    try {
      const stored = this.#find(this.#connect(), key);
      return stored === undefined ? NOTHING : Promise.resolve(stored);
    } catch (error) {
      return this.#readLater(error, (connection) => this.#find(connection, key));
    }
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    return this.#write(({ insert }) => {
      const { expiresAt, lastActive, subject, summary } = entry;
      const values = [newVersion(), expiresAt, lastActive ?? null, subject ?? null, summary ?? null, bytesOf(entry)];
      return Number(insert.run(key, ...values, this.#now()).changes) === 1;
    });
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.#write(({ replace }) => {
      const { expiresAt, lastActive = null, subject, summary } = entry;
      const values = [newVersion(), expiresAt, lastActive, lastActive, lastActive, subject ?? null, summary ?? null, bytesOf(entry)];
      return Number(replace.run(...values, key, version, this.#now()).changes) === 1;
    });
  }

  /** Writes each stamp only when it moves: an index that is not concerned stays untouched. */
  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean> {
    return this.#write(({ stamps, stamp, renew }) => {
      const stored = stamps.get(key, this.#now()) as Pick<Row, "expires_at" | "last_active"> | undefined;
      if (stored === undefined) return false;
      if (lastActive !== null && (stored.last_active === null || stored.last_active < lastActive)) stamp.run(lastActive, key);
      if (stored.expires_at < expiresAt) renew.run(expiresAt, key);
      return true;
    }, false);
  }

  delete(key: string): Promise<Stored | undefined> {
    return this.#write(({ remove }) => {
      const row = remove.get(key) as Row | undefined;
      return row === undefined || row.expires_at <= this.#now() ? undefined : storedOf(row);
    });
  }

  async listBySubject(subject: string): Promise<string[]> {
    const keys: string[] = [];
    let position = 0;
    for (;;) {
      const read = ({ statements }: Connection) =>
        statements.bySubject.all(subject, position, this.#now(), PAGE) as { position: number; key: string }[];
      const page = await this.#read(read);
      for (const row of page) keys.push(row.key);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return keys;
      position = last.position;
      await nextTurn();
    }
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#stopSweep();
    await this.#writes.idle();
    this.#source.close();
  }

  #now(): EpochSeconds {
    return epochSeconds(this.#clock);
  }

  #connect(): Connection {
    if (this.#closed !== undefined) throw new StoreUnavailableError("The session store has been closed.");
    return this.#source.connect();
  }

  #find({ statements }: Connection, key: string): Stored | undefined {
    const row = statements.get.get(key, this.#now()) as Row | undefined;
    return row === undefined ? undefined : storedOf(row);
  }

  #read<Result>(read: (connection: Connection) => Result): Promise<Result> {
    try {
      return Promise.resolve(read(this.#connect()));
    } catch (error) {
      return this.#readLater(error, read);
    }
  }

  /** Only moments lock readers out, such as another process that makes the file's table or mends it after a crash. */
  #readLater<Result>(error: unknown, read: (connection: Connection) => Result): Promise<Result> {
    return isLocked(error) ? this.#writes.add(read, false) : Promise.reject(unavailable(error));
  }

  /** @param durable false: losing the write with the power costs nobody a session */
  #write<Result>(write: (statements: Statements) => Result, durable = true): Promise<Result> {
    if (this.#closed !== undefined) return Promise.reject(new StoreUnavailableError("The session store has been closed."));
    return this.#writes.add(({ statements }) => write(statements), durable);
  }

  #removeExpired(limit: number): Promise<{ removed: number; began: number }> {
    return this.#write(({ sweep }) => {
      const began = performance.now();
      return { removed: Number(sweep.run(this.#now(), limit).changes), began };
    }, false);
  }
}

/** Random, so that none comes twice, under whatever key, in whatever process. */
function newVersion(): string {
  return randomBytes(12).toString("base64url");
}

/** A store that is not `inProcess` is given nothing else. */
function bytesOf({ data }: Entry): Uint8Array {
  return data as Uint8Array;
}

function storedOf(row: Row): Stored {
  const { version, expires_at: expiresAt, last_active: lastActive, subject, summary, data } = row;
  return {
    data,
    version,
    expiresAt,
    ...(lastActive !== null && { lastActive }),
    ...(subject !== null && { subject }),
    ...(summary !== null && { summary }),
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

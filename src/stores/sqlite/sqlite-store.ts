import { epochSeconds, systemClock, type Clock } from "../../clock.js";
import { StoreUnavailableError } from "../../errors.js";
import type {
  Entry,
  EntryPage,
  SessionStore,
  Stored,
  StoreProblem,
} from "../../ports/session-store.js";
import { LIST_PAGE, newVersion, pageOf, storedEntry } from "../stored-entries.js";
import { SWEEP_EVERY_MS, sweepRegularly } from "../sweep.js";
import { checkTimeout, DEFAULT_STORE_TIMEOUT_MS } from "../time-limit.js";
import type { SqliteDatabase, SqliteValue } from "./driver.js";
import { isLocked, unavailable } from "./failure.js";
import type { Connection, Row, Statements } from "./schema.js";
import { handedIn, ownFile, type ConnectionSource } from "./sqlite-connection.js";
import { createWriteQueue } from "./writes.js";

export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver.js";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** Default: the system clock. Processes that share a file must have the same time. */
  readonly clock?: Clock;
  /**
   * Milliseconds that an operation waits for a lock before it rejects with `StoreUnavailableError`.
   * Default and maximum 2000.
   */
  readonly timeout?: number;
}

/** A session store in an SQLite file. */
export interface SqliteStore extends SessionStore {
  readonly problems: readonly StoreProblem[];
  /** Finishes the writes that have begun, and closes the file. A handed-in database stays open. */
  close(): Promise<void>;
}

/** Expired entries that one transaction of the sweep removes, within some milliseconds. */
const SWEEP_SLICE_ROWS = 128;

/**
 * Returns a store in an SQLite file, for any number of processes on one machine. Sessions survive
 * restarts and crashes.
 *
 * The file must be on a local disk and contain nothing else. If it is missing, the store creates
 * it, readable by its owner alone. It is in WAL mode, with two companions named -wal and -shm.
 * Readers never wait. Writers wait for each other without stopping the event loop. A login, a
 * refresh and a logout are on the disk before they are acknowledged. An idle stamp survives a crash
 * of the process; a power cut may lose it. A sweep removes expired entries twice a minute. The file
 * does not shrink, and SQLite reuses the space.
 *
 * SQLite is `node:sqlite`. Node 22 prints a warning that it is experimental when the first store
 * opens its file. If the file cannot be used, `problems` has the remedy and every method rejects.
 *
 * Do not delete or replace the file while a process uses it. That process would continue with the
 * deleted file.
 *
 * @param pathOrDatabase a path, `:memory:`, or an open `DatabaseSync` or `better-sqlite3` database.
 *   The store changes settings of a handed-in database, so use that connection for nothing else.
 * @throws TypeError for anything else, and for a timeout that is out of bounds
 */
export function sqliteStore(
  pathOrDatabase: string | SqliteDatabase,
  options: SqliteStoreOptions = {},
): SqliteStore {
  const { clock = systemClock, timeout = DEFAULT_STORE_TIMEOUT_MS } = options;
  checkTimeout("sqliteStore", timeout);
  return createSqliteSessions(sourceOf(pathOrDatabase), clock, timeout);
}

function sourceOf(pathOrDatabase: unknown): ConnectionSource {
  if (typeof pathOrDatabase === "string") {
    if (pathOrDatabase.trim() === "" || pathOrDatabase.startsWith("file:")) {
      throw new TypeError(
        "sqliteStore: the path must be the path of a file, not an empty string or a URL.",
      );
    }
    return ownFile(pathOrDatabase);
  }
  const { prepare, exec } = (pathOrDatabase ?? {}) as Partial<SqliteDatabase>;
  if (typeof prepare !== "function" || typeof exec !== "function") {
    throw new TypeError(
      "sqliteStore: pass a path, or an open database of node:sqlite or better-sqlite3.",
    );
  }
  return handedIn(pathOrDatabase as SqliteDatabase);
}

interface KeyedRow extends Row {
  readonly key: string;
}

/** Reads run at once, writes in a queue. */
function createSqliteSessions(
  source: ConnectionSource,
  clock: Clock,
  timeout: number,
): SqliteStore {
  const writes = createWriteQueue(source.connect, timeout);
  const stopSweep = sweepRegularly(
    clock,
    source.problem === undefined ? SWEEP_EVERY_MS.sqlite : 0,
    sweepSlice,
  );
  let closed: Promise<void> | undefined;

  function list(statement: "bySubject" | "bySid", hash: string, cursor = "0"): Promise<EntryPage> {
    return read(({ statements }) => {
      const rows = statements[statement].all(
        hash,
        Number(cursor),
        now(),
        LIST_PAGE,
      ) as (KeyedRow & { position: number })[];
      return pageOf(
        rows.map((row) => ({
          key: row.key,
          stored: storedOf(row),
          position: String(row.position),
        })),
      );
    });
  }

  async function end(): Promise<void> {
    await stopSweep();
    await writes.idle();
    source.close();
  }

  const now = () => epochSeconds(clock);

  function connect(): Connection {
    if (closed !== undefined) throw new StoreUnavailableError("The session store has been closed.");
    return source.connect();
  }

  function read<Result>(task: (connection: Connection) => Result): Promise<Result> {
    try {
      return Promise.resolve(task(connect()));
    } catch (error) {
      // Readers are locked out for moments only, for example while another process creates the
      // table.
      return isLocked(error) ? writes.add(task, false) : Promise.reject(unavailable(error));
    }
  }

  /** @param durable false: no session is lost if a power cut loses the write */
  function write<Result>(
    task: (statements: Statements) => Result,
    durable = true,
  ): Promise<Result> {
    if (closed !== undefined)
      return Promise.reject(new StoreUnavailableError("The session store has been closed."));
    return writes.add(({ statements }) => task(statements), durable);
  }

  async function sweepSlice(): Promise<boolean> {
    // Without a lock, because there is usually nothing to remove.
    if (connect().statements.anyExpired.get(now()) === undefined) return false;
    const removed = await write(
      ({ sweep }) => Number(sweep.run(now(), SWEEP_SLICE_ROWS).changes),
      false,
    );
    return removed === SWEEP_SLICE_ROWS;
  }

  return {
    name: "sqlite",
    problems: source.problem === undefined ? [] : [source.problem],
    get(key) {
      return read(({ statements }) => {
        const row = statements.get.get(key, now()) as Row | undefined;
        return row && storedOf(row);
      });
    },

    insert(key, entry) {
      return write(({ insert }) => {
        const { expiresAt, lastActive } = entry;
        const values = [newVersion(), expiresAt, lastActive ?? null, ...contentOf(entry)];
        return Number(insert.run(key, ...values, now()).changes) === 1;
      });
    },

    replace(key, entry, version) {
      return write(({ replace }) => {
        const { expiresAt, lastActive = null } = entry;
        const values = [
          newVersion(),
          expiresAt,
          lastActive,
          lastActive,
          lastActive,
          ...contentOf(entry),
        ];
        return Number(replace.run(...values, key, version, now()).changes) === 1;
      });
    },

    /** Writes a stamp only if it moves, so that SQLite writes no other index. */
    touch(key, lastActive, expiresAt) {
      return write(({ stamps, stamp, renew }) => {
        const stored = stamps.get(key, now()) as
          Pick<Row, "expires_at" | "last_active"> | undefined;
        if (stored === undefined) return false;
        if (lastActive !== null && (stored.last_active === null || stored.last_active < lastActive))
          stamp.run(lastActive, key);
        if (stored.expires_at < expiresAt) renew.run(expiresAt, key);
        return true;
      }, false);
    },

    delete(key) {
      return write(({ remove }) => {
        const row = remove.get(key) as Row | undefined;
        return row === undefined || row.expires_at <= now() ? undefined : storedOf(row);
      });
    },

    listBySubject: (subject, cursor) => list("bySubject", subject, cursor),
    listBySid: (sid, cursor) => list("bySid", sid, cursor),

    getMany(keys) {
      return read(({ statements }) => {
        const rows = statements.getMany.all(JSON.stringify(keys), now()) as KeyedRow[];
        return new Map(rows.map((row) => [row.key, storedOf(row)]));
      });
    },

    close: () => (closed ??= end()),
  };
}

/**
 * Returns the last parameters of `insert` and the like. The data is always bytes, because the store
 * is not `inProcess`.
 */
function contentOf({ subject, sid, summary, data }: Entry): SqliteValue[] {
  return [subject ?? null, sid ?? null, summary ?? null, data as Uint8Array];
}

function storedOf({
  version,
  expires_at: expiresAt,
  last_active: lastActive,
  subject,
  sid,
  summary,
  data,
}: Row): Stored {
  return storedEntry({ data, version, expiresAt, lastActive, subject, sid, summary });
}

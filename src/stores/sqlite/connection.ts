import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import path from "node:path";
import { StoreUnavailableError } from "../../errors.js";
import type { StoreProblem } from "../../ports/session-store.js";
import type { Clock } from "../../clock.js";
import { findDriver, type OwnDatabase, type SqliteDatabase, type SqliteDriver } from "./driver.js";
import { isLocked, openingProblem, SetupError, unavailableFor } from "./failure.js";
import { setUp, type Connection } from "./schema.js";

/** Where the store gets its connection from, each time that it needs it. */
export interface ConnectionSource {
  /** What was wrong at the start; then nothing ever connects. */
  readonly problem?: StoreProblem;
  /** @throws StoreUnavailableError, or the driver's own error; among these a lock, after which it is to be called again */
  connect(): Connection;
  close(): void;
}

/** How long a file that was deleted or replaced may go unnoticed. */
const CHECK_MILLISECONDS = 1_000;

/** A file that the store opens itself. */
export class OwnFile implements ConnectionSource {
  readonly problem?: StoreProblem;
  readonly #clock: Clock;
  readonly #file: string;
  readonly #driver: SqliteDriver | undefined;
  #connection: (Connection & { readonly database: OwnDatabase }) | undefined;
  /** Device and inode of what is open. */
  #identity: string | undefined;
  #nextCheck = 0;

  constructor(file: string, clock: Clock) {
    this.#clock = clock;
    // Resolved now: the process may change its folder before the file is opened again.
    this.#file = file === ":memory:" ? file : path.resolve(file);
    const driver = findDriver();
    if ("message" in driver) {
      this.problem = driver;
      return;
    }
    this.#driver = driver;
    try {
      this.#open();
    } catch (error) {
      // Another process is just opening the same new file: the first operation tries again.
      if (!isLocked(error)) this.problem = openingProblem(this.#file, error);
    }
  }

  connect(): Connection {
    if (this.problem !== undefined) throw unavailableFor(this.problem);
    if (this.#connection !== undefined && this.#clock.monotonic() < this.#nextCheck) return this.#connection;
    return this.#checked();
  }

  close(): void {
    this.#connection?.database.close();
    this.#connection = undefined;
  }

  /**
   * A file that was deleted or replaced stays open, and would take sessions that no other process and no restart ever sees.
   * A new file is not created then: nobody can tell a deletion from a disk that went away, and the latter must not sign
   * everybody out.
   */
  #checked(): Connection {
    if (this.#identity !== undefined) {
      const identity = this.#identityNow();
      if (identity === undefined) {
        throw new StoreUnavailableError(
          `The session database is gone: ${this.#file}. Put it back; or restart the application, which begins an empty one.`,
        );
      }
      if (identity !== this.#identity) this.close();
    }
    try {
      return this.#connection ?? this.#open();
    } catch (error) {
      if (error instanceof SetupError) throw unavailableFor(error.problem);
      throw error;
    } finally {
      this.#nextCheck = this.#clock.monotonic() + CHECK_MILLISECONDS;
    }
  }

  #open(): Connection {
    if (this.#file !== ":memory:") {
      if (this.#identity === undefined) createFile(this.#file);
      accessSync(this.#file, constants.R_OK | constants.W_OK);
      // For the -wal and -shm files, which take their mode from the database's.
      accessSync(path.dirname(this.#file), constants.W_OK);
    }
    const database = (this.#driver as SqliteDriver).open(this.#file);
    try {
      this.#connection = { ...setUp(database, this.#file), database };
    } catch (error) {
      database.close();
      throw error;
    }
    this.#identity = this.#identityNow();
    return this.#connection;
  }

  #identityNow(): string | undefined {
    if (this.#file === ":memory:") return undefined;
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    return found && `${String(found.dev)}:${String(found.ino)}`;
  }
}

/** A database that was handed in, and stays its owner's to close. */
export class HandedIn implements ConnectionSource {
  readonly problem?: StoreProblem;
  readonly #database: SqliteDatabase;
  #connection: Connection | undefined;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    try {
      this.connect();
    } catch (error) {
      if (!isLocked(error)) this.problem = openingProblem("The database handed to sqliteStore", error);
    }
  }

  connect(): Connection {
    if (this.problem !== undefined) throw unavailableFor(this.problem);
    return (this.#connection ??= this.#setUp());
  }

  close(): void {
    this.#connection = undefined;
  }

  #setUp(): Connection {
    const connection = setUp(this.#database, "The database handed to sqliteStore");
    const { database, statements } = connection;
    try {
      statements.begin.run();
      try {
        // Fails on one that was opened read-only, which a table that is already there would not show.
        database.exec("PRAGMA user_version = 0");
      } finally {
        statements.rollback.run();
      }
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return connection;
  }
}

/**
 * Readable by its owner alone. Only a file that is not there yet is touched: closing any other handle of a database that
 * is open in this process would release SQLite's locks on it (POSIX).
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
}

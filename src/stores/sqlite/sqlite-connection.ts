import { accessSync, closeSync, constants, openSync } from "node:fs";
import path from "node:path";
import type { StoreProblem } from "../../ports/session-store.js";
import type { SqliteDatabase } from "./driver.js";
import { isLocked, openingProblem, SetupError } from "./failure.js";
import { nodeSqlite } from "./node-sqlite.js";
import { setUp, type Connection } from "./schema.js";

interface Opened extends Connection {
  close(): void;
}

export interface ConnectionSource {
  /** A mistake in the setup, found at the start; then `connect` always throws. */
  readonly problem: StoreProblem | undefined;
  /** @throws SetupError, or the driver's error; after a lock, call it again */
  connect(): Connection;
  close(): void;
}

/** Opens the store's connection, and tries again later if another process has locked the file. */
function createConnectionSource(name: string, open: () => Opened): ConnectionSource {
  let problem: StoreProblem | undefined;
  let opened: Opened | undefined;
  try {
    connect();
  } catch (error) {
    if (!isLocked(error)) problem = openingProblem(name, error);
  }

  function connect(): Connection {
    if (problem !== undefined) throw new SetupError(problem.message, problem.remedy);
    return (opened ??= open());
  }

  return {
    problem,
    connect,
    close(): void {
      opened?.close();
      opened = undefined;
    },
  };
}

/** Returns the source of a file that the store opens and closes. */
export function ownFile(given: string): ConnectionSource {
  // Absolute, because the process may change its folder before it opens the file.
  const file = given === ":memory:" ? given : path.resolve(given);
  return createConnectionSource(file, () => {
    const DatabaseSync = nodeSqlite();
    if (file !== ":memory:") checkFile(file);
    const database = new DatabaseSync(file);
    try {
      return { ...setUp(database, file), close: () => database.close() };
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Returns the source of a database that the application has opened, and closes itself. */
export function handedIn(database: SqliteDatabase): ConnectionSource {
  const name = "The database handed to sqliteStore";
  return createConnectionSource(name, () => {
    const connection = setUp(database, name);
    checkWritable(connection);
    return { ...connection, close: () => undefined };
  });
}

/**
 * Creates the file, readable by its owner alone, and checks the rights. It opens no existing file:
 * closing another handle of an open database would release SQLite's locks on it (POSIX).
 */
function checkFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
  accessSync(file, constants.R_OK | constants.W_OK);
  // For the -wal and -shm files.
  accessSync(path.dirname(file), constants.W_OK);
}

/**
 * Writes nothing. Throws if the database was opened read-only, which an existing table would not
 * show.
 */
function checkWritable({ database, statements }: Connection): void {
  try {
    statements.begin.run();
  } catch (error) {
    if (isLocked(error)) return;
    throw error;
  }
  try {
    database.exec("PRAGMA user_version = 0");
  } finally {
    statements.rollback.run();
  }
}

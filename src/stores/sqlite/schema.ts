import type { ListField } from "../stored-entries.js";
import type { SqliteDatabase, SqliteStatement } from "./driver.js";
import { SetupError } from "./failure.js";

/**
 * "idpa" in the file's header marks a file of this store. The store changes no other application's
 * database.
 */
const APPLICATION_ID = 0x69647061;
const SCHEMA_VERSION = 2;

/**
 * The stamps precede the data, so that a new stamp changes a single page. A pending login has no
 * subject and no sid, and is in neither index.
 */
const CREATE = `
  CREATE TABLE idpauth_sessions (
    key TEXT NOT NULL PRIMARY KEY,
    version TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    last_active INTEGER,
    subject TEXT,
    sid TEXT,
    summary BLOB,
    data BLOB NOT NULL
  ) STRICT;
  CREATE INDEX idpauth_sessions_expiry ON idpauth_sessions (expires_at);
  CREATE INDEX idpauth_sessions_subject ON idpauth_sessions (subject) WHERE subject IS NOT NULL;
  CREATE INDEX idpauth_sessions_sid ON idpauth_sessions (sid) WHERE sid IS NOT NULL;
  PRAGMA application_id = ${String(APPLICATION_ID)};
  PRAGMA user_version = ${String(SCHEMA_VERSION)};
`;

/** A row of `get` and `remove`. */
export interface Row {
  readonly version: string;
  readonly expires_at: number;
  readonly last_active: number | null;
  readonly subject: string | null;
  readonly sid: string | null;
  readonly summary: Uint8Array | null;
  readonly data: Uint8Array;
}

const COLUMNS = "version, expires_at, last_active, subject, sid, summary, data";

const pageBy = (
  field: ListField,
) => `SELECT rowid AS position, key, ${COLUMNS} FROM idpauth_sessions
                                      WHERE ${field} = ? AND rowid > ? AND expires_at > ? ORDER BY rowid LIMIT ?`;

/**
 * Plain question marks, because node:sqlite and better-sqlite3 treat numbered parameters
 * differently. An empty blob may arrive as NULL.
 */
const STATEMENTS = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  /** key, now */
  get: `SELECT ${COLUMNS} FROM idpauth_sessions WHERE key = ? AND expires_at > ?`,
  /** keys as a JSON array, now */
  getMany: `SELECT key, ${COLUMNS} FROM idpauth_sessions WHERE key IN (SELECT value FROM json_each(?)) AND expires_at > ?`,
  /** key, version, expires_at, last_active, subject, sid, summary, data, now */
  insert: `INSERT INTO idpauth_sessions (key, version, expires_at, last_active, subject, sid, summary, data)
           VALUES (?, ?, ?, ?, ?, ?, ?, ifnull(?, x''))
           ON CONFLICT (key) DO UPDATE SET
             version = excluded.version, expires_at = excluded.expires_at, last_active = excluded.last_active,
             subject = excluded.subject, sid = excluded.sid, summary = excluded.summary, data = excluded.data
           WHERE idpauth_sessions.expires_at <= ?`,
  /**
   * version, expires_at, last_active three times, subject, sid, summary, data, key, expected
   * version, now
   */
  replace: `UPDATE idpauth_sessions SET
              version = ?, expires_at = max(expires_at, ?),
              last_active = CASE WHEN ? IS NULL OR last_active > ? THEN last_active ELSE ? END,
              subject = ?, sid = ?, summary = ?, data = ifnull(?, x'')
            WHERE key = ? AND version = ? AND expires_at > ?`,
  /** key, now */
  stamps: "SELECT expires_at, last_active FROM idpauth_sessions WHERE key = ? AND expires_at > ?",
  /** last_active, key */
  stamp: "UPDATE idpauth_sessions SET last_active = ? WHERE key = ?",
  /** expires_at, key */
  renew: "UPDATE idpauth_sessions SET expires_at = ? WHERE key = ?",
  /** key */
  remove: `DELETE FROM idpauth_sessions WHERE key = ? RETURNING ${COLUMNS}`,
  /** subject, the last rowid seen, now, limit */
  bySubject: pageBy("subject"),
  /** sid, the last rowid seen, now, limit */
  bySid: pageBy("sid"),
  /** now */
  anyExpired: "SELECT 1 AS found FROM idpauth_sessions WHERE expires_at <= ? LIMIT 1",
  /** now, limit */
  sweep: `DELETE FROM idpauth_sessions
          WHERE rowid IN (SELECT rowid FROM idpauth_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
} as const;

export type Statements = Readonly<Record<keyof typeof STATEMENTS, SqliteStatement>>;

/** An open database with its table in place. */
export interface Connection {
  readonly database: SqliteDatabase;
  readonly statements: Statements;
}

/**
 * Prepares an open database for the store, and creates the table if it is missing. Other processes
 * may do the same at once. SQLite waits for no lock afterwards, because that would stop the event
 * loop.
 *
 * @param name of the database, for messages
 * @throws SetupError, or the driver's error; after a lock, call it again
 */
export function setUp(database: SqliteDatabase, name: string): Connection {
  database.exec("PRAGMA busy_timeout = 0");
  // First, because another application's file must not change to WAL.
  const isFound = inOneTransaction(database, "BEGIN", () => hasTable(database, name));
  const journal = firstOf(database, "PRAGMA journal_mode = WAL");
  if (journal !== "wal" && !isPrivate(database)) {
    throw new SetupError(
      `${name} can't keep a write-ahead log (its journal mode stays ${String(journal)}), so readers would wait for a writer.`,
      "Put it on a local disk. SQLite's write-ahead log doesn't work over a network file system.",
    );
  }
  // Copying the log into the database stops the event loop. SQLite's default of 1000 pages took up
  // to 60 ms during a sweep, 250 pages took at most 17 ms.
  firstOf(database, "PRAGMA wal_autocheckpoint = 250");
  if (!isFound) {
    inOneTransaction(database, "BEGIN IMMEDIATE", () => {
      // Another process may have been first.
      if (!hasTable(database, name)) database.exec(CREATE);
    });
  }
  return { database, statements: prepareAll(database) };
}

/**
 * Runs `work` on one state of the database, because another process may create the table meanwhile.
 */
function inOneTransaction<Result>(
  database: SqliteDatabase,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  work: () => Result,
): Result {
  database.exec(begin);
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** SQLite may have rolled back by itself, because the disk is full for example. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // The first error says what is wrong.
  }
}

/**
 * Returns whether the table is there.
 * @throws SetupError another application or another version of idpauth made the file
 */
function hasTable(database: SqliteDatabase, name: string): boolean {
  const applicationId = firstOf(database, "PRAGMA application_id");
  const version = firstOf(database, "PRAGMA user_version");
  if (applicationId === APPLICATION_ID) {
    if (version === SCHEMA_VERSION) return true;
    throw new SetupError(
      `${name} has sessions in version ${String(version)} of their table; this idpauth knows version ${String(SCHEMA_VERSION)}.`,
      "Run the idpauth that wrote it, or a later one. Or give sqliteStore another file, which signs out all users.",
    );
  }
  const tables = firstOf(database, "SELECT count(*) FROM sqlite_schema");
  if (tables === 0 && applicationId === 0 && version === 0) return false;
  throw new SetupError(
    `${name} belongs to another application.`,
    "Give sqliteStore a file of its own. In a shared file, each long write of the application would delay every sign-in.",
  );
}

/**
 * Returns whether the database is in memory or a temporary file, which no other connection can
 * open.
 */
function isPrivate(database: SqliteDatabase): boolean {
  const databases = prepare(database, "PRAGMA database_list").all() as {
    name: string;
    file: string | null;
  }[];
  return !databases.find(({ name }) => name === "main")?.file;
}

/** Returns the first value of the first row. */
function firstOf(database: SqliteDatabase, sql: string): unknown {
  const row = prepare(database, sql).get() as Readonly<Record<string, unknown>>;
  return Object.values(row)[0];
}

function prepareAll(database: SqliteDatabase): Statements {
  const names = Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[];
  return Object.fromEntries(
    names.map((name) => [name, prepare(database, STATEMENTS[name])]),
  ) as Statements;
}

/**
 * Rows as objects and integers as numbers, whatever the application has set for a handed-in
 * database.
 */
function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  statement.safeIntegers?.(false);
  statement.setReadBigInts?.(false);
  statement.setReturnArrays?.(false);
  return statement;
}

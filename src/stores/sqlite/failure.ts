import { StoreUnavailableError } from "../../errors.js";
import type { StoreProblem } from "../../ports/session-store.js";

/** SQLite's primary result codes that the store handles; https://www.sqlite.org/rescode.html */
const RESULT_CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  15: "SQLITE_PROTOCOL",
  26: "SQLITE_NOTADB",
};
const LOCK_CODES = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"];

/**
 * `better-sqlite3` has the extended code's name in `code`, `node:sqlite` its number in `errcode`.
 */
function resultCode(error: unknown): string | undefined {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return RESULT_CODES[errcode & 0xff];
  return typeof code === "string" && code.startsWith("SQLITE_")
    ? code.split("_", 2).join("_")
    : undefined;
}

/** Returns whether another connection has a lock, so that another try will help. */
export function isLocked(error: unknown): boolean {
  if (LOCK_CODES.includes(resultCode(error) ?? "")) return true;
  // The owner of a handed-in database is in a transaction, and could roll back what the store
  // writes now.
  return error instanceof Error && /\b(?:within|inside) a transaction/.test(error.message);
}

/**
 * Returns the error for callers. SQLite's own messages name tables and files, never stored data.
 */
export function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  if (error instanceof SetupError)
    return new StoreUnavailableError(`${error.problem.message} ${error.problem.remedy}`);
  const code = resultCode(error);
  return new StoreUnavailableError(
    code === undefined ? undefined : `The SQLite store failed (${code}).`,
    { cause: error },
  );
}

/** A mistake in the setup that was found while opening. */
export class SetupError extends Error {
  readonly problem: StoreProblem;

  constructor(message: string, remedy: string) {
    super(message);
    this.problem = { message, remedy };
  }
}

const NOT_WRITABLE = [
  "% can't be written to.",
  "Let the user of this process read and write the file, its -wal and -shm files and their folder, on a file system that isn't read-only.",
] as const;
const NO_FOLDER = [
  "The folder of % doesn't exist.",
  "Create the folder, or correct the path.",
] as const;

/** Message and remedy by code; % is the database. */
const OPENING_PROBLEMS: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  SQLITE_NOTADB: [
    "% isn't an SQLite database, or it is encrypted.",
    "Give sqliteStore the path of a file of its own. The store creates the file.",
  ],
  SQLITE_CORRUPT: [
    "% is damaged.",
    "Restore it from a backup, together with its -wal file. Or delete both, which signs out all users.",
  ],
  SQLITE_FULL: ["% is on a disk that is full.", "Make room on the disk."],
  ENOENT: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: NOT_WRITABLE,
  SQLITE_READONLY: NOT_WRITABLE,
};

/** Returns an error of opening as a problem of the setup. */
export function openingProblem(name: string, error: unknown): StoreProblem {
  if (error instanceof SetupError) return error.problem;
  const code = resultCode(error) ?? (error as { code?: unknown }).code;
  const suffix = typeof code === "string" ? ` (${code})` : "";
  const [message, remedy] = OPENING_PROBLEMS[String(code)] ?? [
    `% can't be used${suffix}.`,
    "Check that it is a file on a local disk that the user of this process may read and write. Check that a handed-in database is open.",
  ];
  return { message: message.replace("%", () => name), remedy };
}

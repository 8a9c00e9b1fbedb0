import { StoreUnavailableError } from "../../errors.js";
import type { StoreProblem } from "../../ports/session-store.js";

/** SQLite's primary result codes that something is done about; https://www.sqlite.org/rescode.html */
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

/** `better-sqlite3` names the extended code in `code`, `node:sqlite` numbers it in `errcode`. */
export function resultCode(error: unknown): string | undefined {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return RESULT_CODES[errcode & 0xff];
  return typeof code === "string" && code.startsWith("SQLITE_") ? code.split("_", 2).join("_") : undefined;
}

/** Somebody else is at it, and trying again will help. */
export function isLocked(error: unknown): boolean {
  if (LOCK_CODES.includes(resultCode(error) ?? "")) return true;
  // Its owner is in the middle of a transaction on a database that was handed in: what was written now could be rolled back.
  return error instanceof Error && /\b(?:within|inside) a transaction/.test(error.message);
}

/** As callers are to see it. SQLite's own messages name tables and files, never what is stored. */
export function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  const code = resultCode(error);
  return new StoreUnavailableError(code === undefined ? undefined : `The SQLite store could not do its work (${code}).`, { cause: error });
}

export function unavailableFor(problem: StoreProblem): StoreUnavailableError {
  return new StoreUnavailableError(`${problem.message} ${problem.remedy}`);
}

/** A setup that cannot work, found while opening; carried as an error so that opening has one way out. */
export class SetupError extends Error {
  readonly problem: StoreProblem;

  constructor(message: string, remedy: string) {
    super(message);
    this.problem = { message, remedy };
  }
}

/** What opening met, as a problem of the setup. */
export function openingProblem(name: string, error: unknown): StoreProblem {
  if (error instanceof SetupError) return error.problem;
  const code = resultCode(error) ?? (error as { code?: unknown }).code;
  switch (code) {
    case "SQLITE_NOTADB":
      return {
        message: `${name} is not an SQLite database (or is encrypted).`,
        remedy: "Give sqliteStore the path of a file of its own; it creates the file.",
      };
    case "SQLITE_CORRUPT":
      return {
        message: `${name} is damaged.`,
        remedy: "Restore it from a backup, together with its -wal file; or remove both, which signs everybody out.",
      };
    case "SQLITE_FULL":
      return { message: `There is no room left for ${name}.`, remedy: "Make room on its disk." };
    case "ENOENT":
    case "ENOTDIR":
      return { message: `The folder of ${name} does not exist.`, remedy: "Create the folder, or correct the path." };
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "SQLITE_READONLY":
      return {
        message: `${name} cannot be written to.`,
        remedy:
          "Let this process's user read and write the file, its -wal and -shm files and their folder, on a file system that is not read-only.",
      };
    default:
      return {
        message: `${name} cannot be used${typeof code === "string" ? ` (${code})` : ""}.`,
        remedy:
          "Check that it is a file, on a local disk, that this process's user may read and write; a database that is handed in must be open.",
      };
  }
}

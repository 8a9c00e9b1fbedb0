import { createRequire } from "node:module";
import path from "node:path";
import type { StoreProblem } from "../../ports/session-store.js";

export type SqliteValue = string | number | null | Uint8Array;

/** What is used of a prepared statement. The last three set what a value comes back as, where a driver lets one choose. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  safeIntegers?(enabled: boolean): unknown;
  setReadBigInts?(enabled: boolean): unknown;
  setReturnArrays?(enabled: boolean): unknown;
}

/** What is used of an open database, of `node:sqlite` (`DatabaseSync`) and of `better-sqlite3` alike. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

/** A database that the store opened, and so closes. */
export interface OwnDatabase extends SqliteDatabase {
  close(): unknown;
}

export interface SqliteDriver {
  open(file: string): OwnDatabase;
}

type DatabaseClass = new (file: string) => OwnDatabase;

const ALLOW_SCRIPT =
  "its install script must be allowed to run, since it fetches or builds the binary: not under `--ignore-scripts`, and where the package manager blocks install scripts, approved by `npm approve-scripts better-sqlite3` (pnpm: `pnpm approve-builds`)";
const NODE_INSTEAD = "Node 22.13 and later bring SQLite and need no package.";

/**
 * Node's own SQLite, else the package `better-sqlite3`, else what to install. Nothing is loaded before this is called.
 */
export function findDriver(): SqliteDriver | StoreProblem {
  const builtIn = nodeSqlite();
  if (builtIn !== undefined) return { open: (file) => new builtIn(file) };
  const require = requireThatFinds();
  if (require === undefined) {
    return {
      message: `sqliteStore has no SQLite to work with: this Node (${process.version}) brings none, and the package better-sqlite3 is not installed.`,
      remedy: `Run \`npm install better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
    };
  }
  try {
    const Database = require("better-sqlite3") as DatabaseClass;
    // The binary is loaded by the first database.
    new Database(":memory:").close();
    return { open: (file) => new Database(file) };
  } catch (error) {
    return unusablePackage(error);
  }
}

/** Undefined: this Node has none, or only behind a flag. */
function nodeSqlite(): DatabaseClass | undefined {
  // Newer than Node 20.16; it does not throw for a module that is not there, as an import would.
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => object | undefined };
  const module = getBuiltinModule && withoutExperimentalWarning(() => getBuiltinModule("node:sqlite"));
  return (module as { DatabaseSync?: DatabaseClass } | undefined)?.DatabaseSync;
}

/**
 * Node 22 warns of `node:sqlite` on its first load. Whoever chose this store did not choose that module, and can do nothing
 * about the warning; every other warning passes.
 */
function withoutExperimentalWarning<Result>(load: () => Result): Result {
  const original = process.emitWarning;
  process.emitWarning = (...given: unknown[]) => {
    if (given[1] !== "ExperimentalWarning") Reflect.apply(original, process, given);
  };
  try {
    return load();
  } finally {
    process.emitWarning = original;
  }
}

/** Where idpauth itself is installed, as for any peer dependency; else, when it is linked from elsewhere, the application. */
function requireThatFinds(): NodeJS.Require | undefined {
  return [import.meta.url, path.resolve("package.json")]
    .map((from) => createRequire(from))
    .find((require) => {
      try {
        return require.resolve("better-sqlite3") !== "";
      } catch {
        return false;
      }
    });
}

function unusablePackage(error: unknown): StoreProblem {
  const { code, message = "" } = error as { code?: unknown; message?: string };
  if (code === "ERR_DLOPEN_FAILED") {
    return {
      message: `The package better-sqlite3 is installed, but its binary was built for another Node or another system than this one (${process.version}, ${process.platform} ${process.arch}).`,
      remedy: `Run \`npm rebuild better-sqlite3\` with this Node, on this system; ${ALLOW_SCRIPT}.`,
    };
  }
  if (message.includes("Could not locate the bindings file")) {
    return {
      message: "The package better-sqlite3 is installed, but its binary is missing: its install script did not run.",
      remedy: `Run \`npm rebuild better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
    };
  }
  return {
    message: `The package better-sqlite3 is installed, but could not be loaded${typeof code === "string" ? ` (${code})` : ""}.`,
    remedy: `Install it anew with \`npm install better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
  };
}

import { createRequire } from "node:module";
import path from "node:path";
import { SetupError } from "./failure.js";

/** The value of a parameter. Stamps are numbers, encrypted records are bytes. */
export type SqliteValue = string | number | null | Uint8Array;

/**
 * What the store uses of a prepared statement. The last three select the types of results, where a
 * driver has them.
 */
export interface SqliteStatement {
  /** Runs the statement without reading rows. */
  run(...values: SqliteValue[]): {
    /** The number of rows that it wrote or removed. */
    readonly changes: number | bigint;
  };
  /** Returns the first row as an object, or undefined. */
  get(...values: SqliteValue[]): unknown;
  /** Returns every row as an object. */
  all(...values: SqliteValue[]): unknown[];
  /** better-sqlite3; called with false, so that integers are numbers. */
  safeIntegers?(enabled: boolean): unknown;
  /** node:sqlite; called with false, so that integers are numbers. */
  setReadBigInts?(enabled: boolean): unknown;
  /** node:sqlite; called with false, so that rows are objects. */
  setReturnArrays?(enabled: boolean): unknown;
}

/**
 * What the store uses of an open database of `node:sqlite` (`DatabaseSync`) or `better-sqlite3`.
 */
export interface SqliteDatabase {
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** Runs SQL without parameters; the schema is several statements. */
  exec(sql: string): unknown;
}

/** A database that the store opens and closes. */
export interface OwnDatabase extends SqliteDatabase {
  close(): unknown;
}

type DatabaseClass = new (file: string) => OwnDatabase;

const ALLOW_SCRIPT =
  "its install script must be allowed to run, because it fetches or builds the binary: not under `--ignore-scripts`, and where the package manager blocks install scripts, approved by `npm approve-scripts better-sqlite3` (pnpm: `pnpm approve-builds`)";
const NODE_INSTEAD = "Node 22.13 and later contain SQLite and need no package.";

/**
 * Returns the class of Node's own SQLite, or that of the package `better-sqlite3`. Loads nothing
 * before the first call.
 *
 * @throws SetupError if there is neither
 */
export function findDriver(): DatabaseClass {
  const builtIn = nodeSqlite();
  if (builtIn !== undefined) return builtIn;
  const require = requireThatFinds();
  if (require === undefined) {
    throw new SetupError(
      `sqliteStore has no SQLite: this Node (${process.version}) contains none, and the package better-sqlite3 isn't installed.`,
      `Run \`npm install better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
    );
  }
  try {
    const Database = require("better-sqlite3") as DatabaseClass;
    // The first database loads the binary.
    new Database(":memory:").close();
    return Database;
  } catch (error) {
    throw unusablePackage(error);
  }
}

/** Undefined: this Node has none, or only behind a flag. */
function nodeSqlite(): DatabaseClass | undefined {
  // Newer than Node 20.16. For a missing module it returns undefined, where an import would throw.
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => object | undefined };
  return (getBuiltinModule?.("node:sqlite") as { DatabaseSync?: DatabaseClass } | undefined)
    ?.DatabaseSync;
}

/**
 * Looks where idpauth is installed. If idpauth is part of a bundle or linked from elsewhere, looks
 * where the program is, then in the working folder.
 */
function requireThatFinds(): NodeJS.Require | undefined {
  // A bundler that writes CommonJS may leave `import.meta` empty.
  const url = import.meta.url as string | undefined;
  for (const from of [url, process.argv[1], path.resolve("package.json")]) {
    try {
      const require = createRequire(from ?? "");
      require.resolve("better-sqlite3");
      return require;
    } catch {
      // Not there.
    }
  }
  return undefined;
}

function unusablePackage(error: unknown): SetupError {
  const { code, message = "" } = error as { code?: unknown; message?: string };
  if (code === "ERR_DLOPEN_FAILED") {
    return new SetupError(
      `The package better-sqlite3 is installed, but its binary was built for another Node or another system than this one (${process.version}, ${process.platform} ${process.arch}).`,
      `Run \`npm rebuild better-sqlite3\` with this Node, on this system; ${ALLOW_SCRIPT}.`,
    );
  }
  if (message.includes("Could not locate the bindings file")) {
    return new SetupError(
      "The package better-sqlite3 is installed, but its binary is missing: its install script didn't run.",
      `Run \`npm rebuild better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
    );
  }
  return new SetupError(
    `The package better-sqlite3 is installed, but couldn't be loaded${typeof code === "string" ? ` (${code})` : ""}.`,
    `Install it again with \`npm install better-sqlite3\`; ${ALLOW_SCRIPT}. ${NODE_INSTEAD}`,
  );
}

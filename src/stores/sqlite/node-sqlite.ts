import type { DatabaseSync } from "node:sqlite";
import { SetupError } from "./failure.js";

/**
 * Returns the class of `node:sqlite`. It isn't imported, because Node 22 warns as soon as it is
 * loaded, also if the application chooses another store.
 *
 * @throws SetupError if the runtime has none
 */
export function nodeSqlite(): typeof DatabaseSync {
  const sqlite = process.getBuiltinModule("node:sqlite") as
    { readonly DatabaseSync: typeof DatabaseSync } | undefined;
  if (sqlite !== undefined) return sqlite.DatabaseSync;
  throw new SetupError(
    `sqliteStore needs node:sqlite, which this runtime (Node.js ${process.version}) doesn't have.`,
    "Run the application on Node.js 22.19 or later, without the option --no-experimental-sqlite.",
  );
}

import type Database from "better-sqlite3";
import { closeSync, openSync } from "node:fs";
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import { DemoConfigurationError } from "./configuration.js";
import { DriverMissingError, loadDriver } from "./driver.js";
import { keepPrivate } from "./private-path.js";
import { newSecrets, type DemoSecrets, type DemoState } from "./state.js";

const TABLES = `
CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS issued (
  model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, expires_at INTEGER,
  PRIMARY KEY (model, id)
) WITHOUT ROWID;
`;

/**
 * @throws DriverMissingError with the reason; also when only its binary is missing, which is loaded
 *   by the first database
 */
export async function loadSqlite(): Promise<typeof Database> {
  const { default: Open } = await loadDriver("better-sqlite3", () => import("better-sqlite3"));
  try {
    new Open(":memory:").close();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_DLOPEN_FAILED") {
      throw new DriverMissingError(
        "better-sqlite3",
        "its binary was built for another Node or another system",
      );
    }
    if (String(error).includes("bindings file")) {
      throw new DriverMissingError(
        "better-sqlite3",
        "its binary is missing, since its install script did not run",
      );
    }
    throw error;
  }
  return Open;
}

/**
 * Remembers in an SQLite file, readable by this user alone, which survives a killed process. One
 * process at a time holds the file: SQLite's own lock, which the system takes back from a process
 * however it ends.
 *
 * @returns undefined when another process holds it
 * @throws DriverMissingError
 * @throws DemoConfigurationError if it is no such file, or belongs to another user
 */
export async function openStateFile(file: string): Promise<DemoState | undefined> {
  const Open = await loadSqlite();
  keepPrivate(file, "file", () => {
    closeSync(openSync(file, "wx", 0o600));
  });
  let database: Database.Database | undefined;
  try {
    database = new Open(file, { timeout: 0 });
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = WAL");
    // A killed process loses nothing by it; only a failing machine could, and then these sessions
    // are no matter.
    database.pragma("synchronous = NORMAL");
    database.exec(TABLES);
    return stateIn(database);
  } catch (error) {
    database?.close();
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code.startsWith("SQLITE_BUSY")) return undefined;
    if (code.startsWith("SQLITE_"))
      throw new DemoConfigurationError(
        `${file} cannot be used (${code}). Delete it, or set DEMO_SESSIONS=memory.`,
      );
    throw error;
  }
}

/** @param suffix of every name, for the second provider */
function stateIn(database: Database.Database, suffix = ""): DemoState {
  const read = database.prepare<[string], string>("SELECT value FROM kept WHERE name = ?").pluck();
  const write = database.prepare("INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)");

  const known = read.get(`secrets${suffix}`);
  const secrets = known === undefined ? newSecrets() : (JSON.parse(known) as DemoSecrets);
  if (known === undefined) write.run(`secrets${suffix}`, JSON.stringify(secrets));
  const port = read.get(`provider-port${suffix}`);
  const sessions = database
    .prepare<[string, number], string>(
      "SELECT payload FROM issued WHERE model = ? AND expires_at > ? AND payload ->> 'accountId' IS NOT NULL",
    )
    .pluck();

  return {
    secrets,
    issued: issuedIn(database, suffix),
    sessions: () =>
      sessions
        .all(`Session${suffix}`, Math.floor(Date.now() / 1000))
        .map((payload) => JSON.parse(payload) as AdapterPayload),
    providerPort: port === undefined ? undefined : Number(port),
    rememberProviderPort(next) {
      write.run(`provider-port${suffix}`, String(next));
    },
    second: () => stateIn(database, "-2"),
    close() {
      database.close();
    },
  };
}

function issuedIn(database: Database.Database, suffix: string): AdapterFactory {
  const live = "model = @model AND (expires_at IS NULL OR expires_at > @now)";
  const sql = {
    sweep: database.prepare("DELETE FROM issued WHERE expires_at <= @now"),
    upsert: database.prepare(
      "INSERT OR REPLACE INTO issued (model, id, payload, expires_at) VALUES (@model, @id, @payload, @expiresAt)",
    ),
    find: database
      .prepare<unknown[], string>(`SELECT payload FROM issued WHERE ${live} AND id = @id`)
      .pluck(),
    findByUid: database
      .prepare<unknown[], string>(
        `SELECT payload FROM issued WHERE ${live} AND payload ->> 'uid' = @uid`,
      )
      .pluck(),
    consume: database.prepare(
      "UPDATE issued SET payload = json_set(payload, '$.consumed', @now) WHERE model = @model AND id = @id",
    ),
    destroy: database.prepare("DELETE FROM issued WHERE model = @model AND id = @id"),
    revoke: database.prepare(
      "DELETE FROM issued WHERE model = @model AND payload ->> 'grantId' = @grantId",
    ),
  };
  const seconds = () => Math.floor(Date.now() / 1000);
  const parse = (payload: string | undefined) =>
    payload === undefined ? undefined : (JSON.parse(payload) as AdapterPayload);

  const adapter = (model: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const now = seconds();
      sql.sweep.run({ now });
      // Given as undefined for what does not expire, whatever its type says.
      const lifetime = expiresIn;
      sql.upsert.run({
        model,
        id,
        payload: JSON.stringify(payload),
        expiresAt: lifetime === undefined ? null : now + lifetime,
      });
    },
    find: async (id) => parse(sql.find.get({ model, id, now: seconds() })),
    findByUid: async (uid) => parse(sql.findByUid.get({ model, uid, now: seconds() })),
    // Belongs to the device flow, which is off.
    findByUserCode: async () => undefined,
    async consume(id) {
      sql.consume.run({ model, id, now: seconds() });
    },
    async destroy(id) {
      sql.destroy.run({ model, id });
    },
    async revokeByGrantId(grantId) {
      sql.revoke.run({ model, grantId });
    },
  });
  return (model) => adapter(model + suffix);
}

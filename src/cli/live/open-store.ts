import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { kindOf } from "../../config/describe-value.js";
import type { UnnamedFinding } from "../../config/findings.js";
import type { Environment } from "../../config/read-settings.js";
import { STORE_METHODS } from "../../config/store-mistake.js";
import { liveCheck } from "../../live/live-check-table.js";
import { listed } from "../../live/message-parts.js";
import type { SessionStore } from "../../ports/session-store.js";
import { isObject } from "../../record/json.js";
import { postgresStore, type PostgresPool } from "../../stores/postgres/postgres-store.js";
import { redisStore, type RedisClient } from "../../stores/redis/redis-store.js";
import { sqliteStore } from "../../stores/sqlite/sqlite-store.js";
import { withinTime } from "../../stores/time-limit.js";
import type { CheckIo } from "./check-io.js";
import { storeFailure } from "./explain-store-error.js";
import { isModule, isStoreAddress } from "./store-option.js";

/** A store that the check has opened. */
export interface OpenStore {
  readonly store: SessionStore;
  /** Closes the store and its connections. May reject. */
  close(): Promise<void>;
}

/** Milliseconds for one attempt to connect, and for a module to load and return its store. */
const CONNECT_MS = 2_000;
const MODULE_LOAD_MS = 10_000;

/** Opens the store of `--store`, or returns a finding. */
export async function openStore(
  value: string,
  env: Environment,
  io: CheckIo,
): Promise<OpenStore | UnnamedFinding> {
  if (value.startsWith("env:")) {
    const name = value.slice("env:".length);
    const named = env[name];
    if (named === undefined || named === "" || named.startsWith("env:") || !isStoreAddress(named)) {
      return liveCheck(
        "E111",
        `The variable ${name} in --store isn't set, or doesn't contain a store's address.`,
      );
    }
    return openStore(named, env, io);
  }
  if (value.startsWith("sqlite:")) return openSqlite(value.slice("sqlite:".length), io);
  if (isModule(value)) return openModule(value, env, io);
  const require = createRequire(path.join(io.folder, "package.json"));
  return value.startsWith("redis") ? openRedis(value, require) : openPostgres(value, require);
}

function openSqlite(file: string, { folder, clock }: CheckIo): OpenStore | UnnamedFinding {
  const absolute = path.resolve(folder, file);
  // The store would create the file: perhaps at a wrong path, or with another owner than the
  // application's user.
  if (!existsSync(absolute))
    return liveCheck(
      "W111",
      `The file ${absolute} in --store doesn't exist. The check doesn't create the file, so it didn't test the store.`,
    );
  const store = sqliteStore(absolute, { clock });
  return { store, close: () => store.close() };
}

/** The parts of the drivers that the check uses. */
interface NodeRedisPackage {
  createClient(options: object): RedisClient & {
    on(event: "error", listener: () => void): unknown;
    connect(): Promise<unknown>;
    destroy(): void;
  };
}
interface IoRedisPackage {
  Redis: new (
    url: string,
    options: object,
  ) => RedisClient & {
    on(event: "error", listener: (error: unknown) => void): unknown;
    connect(): Promise<unknown>;
    disconnect(): void;
  };
}
interface PostgresPackage {
  Pool: new (options: object) => PostgresPool & { end(): Promise<void> };
}

async function openRedis(
  url: string,
  require: NodeJS.Require,
): Promise<OpenStore | UnnamedFinding> {
  if (isInstalled("redis", require)) {
    const { createClient } = require("redis") as NodeRedisPackage;
    const client = createClient({
      url,
      disableOfflineQueue: true,
      socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
    });
    client.on("error", () => undefined);
    const close = async (): Promise<void> => client.destroy();
    return connected(client.connect(), { store: redisStore(client), close });
  }
  if (isInstalled("ioredis", require)) {
    const { Redis } = require("ioredis") as IoRedisPackage;
    const client = new Redis(url, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
    });
    // This error has more details than the rejection of connect().
    let cause: unknown;
    client.on("error", (error) => (cause = error));
    const close = async (): Promise<void> => client.disconnect();
    const connecting = client
      .connect()
      .catch((error: unknown) => Promise.reject(asError(cause ?? error)));
    return connected(connecting, { store: redisStore(client), close });
  }
  return notInstalled("redis (or ioredis)", "redis");
}

function openPostgres(
  connectionString: string,
  require: NodeJS.Require,
): OpenStore | UnnamedFinding {
  if (!isInstalled("pg", require)) return notInstalled("pg", "pg");
  const { Pool } = require("pg") as PostgresPackage;
  const pool = new Pool({ connectionString, max: 4, connectionTimeoutMillis: CONNECT_MS });
  const store = postgresStore(pool, { sweepInterval: 0 });
  return {
    store,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

async function openModule(
  file: string,
  env: Environment,
  io: CheckIo,
): Promise<OpenStore | UnnamedFinding> {
  const module = `The module ${file} in --store`;
  let given: unknown;
  try {
    const exports = await withinTime(
      io.importModule(path.resolve(io.folder, file), env),
      MODULE_LOAD_MS,
    );
    given = (exports as { default?: unknown }).default;
  } catch (error) {
    // The error's own message is not shown, since it may contain an address with a password.
    return liveCheck(
      "E111",
      `${module} couldn't be loaded: it ${storeFailure(error)}.`,
      `Run \`node ${inShell(file)}\` to see its error.`,
    );
  }
  let store: unknown;
  try {
    store = await withinTime(
      Promise.resolve(typeof given === "function" ? (given as () => unknown)() : given),
      MODULE_LOAD_MS,
    );
  } catch (error) {
    const remedy = "Call its default export in a script to see its error.";
    return liveCheck(
      "E111",
      `${module} was loaded, but didn't return its store: it ${storeFailure(error)}.`,
      remedy,
    );
  }
  if (isStore(store)) return { store, close: async () => store.close?.() };
  return liveCheck(
    "E111",
    `${module} doesn't return a session store: ${lackOf(store, typeof given === "function")}.`,
    "Make its default export a session store, or a function that returns one.",
  );
}

/** Quotes a file name that a shell would split. */
function inShell(file: string): string {
  return /^[\w./@-]+$/.test(file) ? file : `"${file}"`;
}

/** Returns why a value is not a store. */
function lackOf(value: unknown, isResult: boolean): string {
  if (!isObject(value)) {
    if (value === undefined && !isResult) return "it has no default export";
    return `its default export ${isResult ? "returns" : "is"} ${kindOf(value)}`;
  }
  return `its store doesn't have ${listed(STORE_METHODS.filter((method) => typeof value[method] !== "function"))}`;
}

function isStore(value: unknown): value is SessionStore {
  return isObject(value) && STORE_METHODS.every((method) => typeof value[method] === "function");
}

async function connected(
  connecting: Promise<unknown>,
  open: OpenStore,
): Promise<OpenStore | UnnamedFinding> {
  try {
    await withinTime(connecting, 2 * CONNECT_MS);
    return open;
  } catch (error) {
    await open.close().catch(() => undefined);
    return liveCheck("E111", `The Redis server in --store ${storeFailure(error)}.`);
  }
}

function isInstalled(name: string, require: NodeJS.Require): boolean {
  try {
    return require.resolve(name) !== "";
  } catch {
    return false;
  }
}

function notInstalled(what: string, name: string): UnnamedFinding {
  return liveCheck(
    "E111",
    `This store needs the package ${what}, which isn't installed in this project.`,
    `Run \`npm install ${name}\`.`,
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(typeof error);
}

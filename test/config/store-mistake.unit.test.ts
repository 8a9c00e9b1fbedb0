import { DatabaseSync } from "node:sqlite";
import session from "express-session";
import { Redis } from "ioredis";
import { Pool, Client } from "pg";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { storeMistake } from "../../src/config/store-mistake.js";
import { createIdpAuth } from "../../src/adapter.js";
import {
  ConfigurationError,
  memoryStore,
  type IdpRequest,
  type SessionStore,
} from "../../src/index.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { MapStore } from "../testing/map-store.js";

const REDIS_STORE = "Call `redisStore(client)` from `idpauth/redis`";
const POSTGRES_STORE = "Call `postgresStore(pool)` from `idpauth/postgres`";
const SQLITE_STORE = "Call `sqliteStore(pathOrDatabase)` from `idpauth/sqlite`";
const PASSWORD = "hunter2";

const url = "redis://127.0.0.1:1";
const databaseUrl = `postgres://ada:${PASSWORD}@127.0.0.1:1/app`;
const node = createClient({ url });
const io = new Redis(url, { lazyConnect: true });
const pool = new Pool({ connectionString: databaseUrl });
const database = new DatabaseSync(":memory:");

describe("what is given as the store and is none", () => {
  it.each<[string, unknown, string, string]>([
    ["a client of redis", node, "a `redis` client", REDIS_STORE],
    ["a client of ioredis", io, "an `ioredis` client", REDIS_STORE],
    ["a pool of pg", pool, "a `pg` pool or client", POSTGRES_STORE],
    [
      "a client of pg",
      new Client({ connectionString: databaseUrl }),
      "a `pg` pool or client",
      POSTGRES_STORE,
    ],
    ["a database of node:sqlite", database, "a SQLite database", SQLITE_STORE],
    ["a Redis URL", `rediss://:${PASSWORD}@redis.example`, "a Redis URL", REDIS_STORE],
    ["a PostgreSQL URL", databaseUrl, "a PostgreSQL URL", POSTGRES_STORE],
    ["a URL object", new URL(databaseUrl), "a PostgreSQL URL", POSTGRES_STORE],
    ["a path", `/var/lib/${PASSWORD}/sessions.db`, "a string", SQLITE_STORE],
    [
      "express-session's own store",
      new session.MemoryStore(),
      "another session middleware's store",
      'set `session: "host"`',
    ],
    ["the factory itself", memoryStore, "a function", "Call the function"],
    ["a promise", Promise.resolve(memoryStore()), "a promise", "Await the promise"],
    ["an empty object", {}, "an object", "Pass the result of `sqliteStore`"],
    ["null", null, "null", "remove `store`"],
    ["a number", 1, "a number", "Pass the result of `sqliteStore`"],
    [
      "a Map",
      new Map(),
      "an object without `insert`, `replace`, `touch`, `listBySubject`, `listBySid`",
      "Add the missing methods",
    ],
    ["an object whose members throw", throwing(), "an object", "Pass the result of `sqliteStore`"],
  ])("%s is named, with the factory to call", (_name, given, what, remedy) => {
    const mistake = storeMistake(given);
    expect(mistake?.message).toBe(`The option \`store\` is ${what}, which isn't a session store.`);
    expect(mistake?.remedy).toContain(remedy);
    expect(JSON.stringify(mistake)).not.toContain(PASSWORD);
  });

  it("every store of the package, and a store of one's own, is a store", () => {
    const stores = [
      memoryStore(),
      redisStore(node),
      redisStore(io),
      postgresStore(pool),
      sqliteStore(":memory:"),
      new MapStore(),
    ];
    expect(stores.map((store) => storeMistake(store))).toEqual(stores.map(() => undefined));
  });
});

describe("the startup check E006", () => {
  const env = {
    SECRET_KEY: "a secret key of at least 32 bytes",
    IDP_CLIENT_ID: "client.apps.googleusercontent.com",
    IDP_CLIENT_SECRET: "secret",
  };
  const adapter = { name: "plain", request: (raw: IdpRequest) => raw };
  const start = (store: unknown) =>
    createIdpAuth({ env, log: false, store: store as SessionStore }, adapter).start();

  it.each([
    ["a client", io],
    ["a string", url],
    ["an empty object", {}],
    ["null", null],
  ])("%s as the store does not start, and the error names what to call", (_name, store) => {
    let error: unknown;
    try {
      start(store);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    const { findings } = error as ConfigurationError;
    const errors = findings.filter(({ severity }) => severity === "error");
    expect(errors).toEqual([{ code: "E006", severity: "error", ...storeMistake(store) }]);
    expect((error as Error).message).toContain("E006");
  });

  it("a store starts", () => {
    expect(start(memoryStore()).map(({ code }) => code)).not.toContain("E006");
  });
});

function throwing(): object {
  const refuse = () => {
    throw new Error("no");
  };
  return new Proxy({}, { get: refuse });
}

import type { SessionStore, StoreProblem } from "../ports/session-store.js";
import { kindOf } from "./describe-value.js";

/** The methods that every store has; `close` is optional. */
export const STORE_METHODS: readonly (keyof SessionStore)[] = [
  "get",
  "insert",
  "replace",
  "touch",
  "delete",
  "listBySubject",
  "listBySid",
];

const REDIS = "Call `redisStore(client)` from `idpauth/redis` and pass the result as `store`.";
const POSTGRES =
  "Call `postgresStore(pool)` from `idpauth/postgres` with a `pg` `Pool`, and pass the result as `store`.";
const SQLITE =
  "Call `sqliteStore(pathOrDatabase)` from `idpauth/sqlite` and pass the result as `store`.";

const OTHER_STORE =
  'Use one of idpauth\'s stores: `sqliteStore`, `redisStore` or `postgresStore`. To use the session middleware itself, set `session: "host"` and remove `store`.';

/**
 * Values that applications pass by mistake, and their methods. Only public members are checked,
 * since the packages can have any version.
 */
const CLIENTS = [
  { what: "an `ioredis` client", remedy: REDIS, methods: ["defineCommand", "disconnect"] },
  { what: "a `redis` client", remedy: REDIS, methods: ["sendCommand", "duplicate"] },
  { what: "a `pg` pool or client", remedy: POSTGRES, methods: ["query", "connect"] },
  { what: "a SQLite database", remedy: SQLITE, methods: ["prepare", "exec"] },
  {
    what: "another session middleware's store",
    remedy: OTHER_STORE,
    methods: ["get", "set", "destroy"],
  },
];

/**
 * Returns why a value is not a session store, and what to pass instead; undefined for a store.
 * Never throws. The message never contains the text of a string, since a database URL contains a
 * password.
 */
export function storeMistake(store: unknown): StoreProblem | undefined {
  const missing = STORE_METHODS.filter((name) => !hasMethod(store, name));
  if (missing.length === 0) return undefined;
  const problem = (what: string, remedy?: string): StoreProblem => ({
    message: `The option \`store\` is ${what}, which isn't a session store.`,
    remedy:
      remedy ??
      "Pass the result of `sqliteStore`, `redisStore`, `postgresStore` or `memoryStore`. docs/how-to/stores.md explains how to write a store.",
  });
  if (typeof store === "string" || store instanceof URL)
    return problem(...textMistake(String(store)));
  if (typeof store === "function")
    return problem(
      "a function",
      "Call the function and pass the store that it returns as `store`.",
    );
  if (hasMethod(store, "then"))
    return problem(
      "a promise",
      "Await the promise and pass the store that it resolves to as `store`.",
    );
  const client = CLIENTS.find(({ methods }) => methods.every((name) => hasMethod(store, name)));
  if (client !== undefined) return problem(client.what, client.remedy);
  if (store === null)
    return problem(
      "null",
      "To store sessions in memory, remove `store`. Otherwise pass a session store.",
    );
  if (missing.length === STORE_METHODS.length || typeof store !== "object")
    return problem(kindOf(store));
  return problem(
    `an object without ${missing.map((name) => `\`${name}\``).join(", ")}`,
    "Add the missing methods. docs/how-to/stores.md explains how to write a store.",
  );
}

function textMistake(text: string): [what: string, remedy: string] {
  if (/^(?:rediss?|valkeys?):/i.test(text))
    return ["a Redis URL", `Create a \`redis\` or \`ioredis\` client with the URL. ${REDIS}`];
  if (/^postgres(?:ql)?:/i.test(text))
    return ["a PostgreSQL URL", `Create a \`pg\` \`Pool\` with the URL. ${POSTGRES}`];
  return ["a string", `If it is the path of a SQLite file: ${SQLITE}`];
}

/** Whether a value has a method of this name, its own or inherited. */
function hasMethod(value: unknown, name: string): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  try {
    return typeof (value as Record<string, unknown>)[name] === "function";
  } catch {
    return false;
  }
}

import { StoreUnavailableError } from "../../errors.js";
import { codesOf, connectionFailure } from "../../live/explain-connection-error.js";

/** Error codes of drivers and servers. explain-connection-error.ts has the codes of connections. */
const CODES: Readonly<Record<string, string>> = {
  ERR_MODULE_NOT_FOUND: "doesn't exist, or imports a module that doesn't exist",
  ERR_UNKNOWN_FILE_EXTENSION:
    "is, or imports, a type of file that Node.js doesn't load. For TypeScript, install tsx and set NODE_OPTIONS=--import=tsx",
  WRONGPASS: "refuses the user name or password",
  NOAUTH: "requires a password",
  NOPERM: "denies this user a permission that the store needs (NOPERM)",
  READONLY: "is a replica, which refuses writes",
  LOADING: "is still loading its data",
  "28P01": "refuses the user name or password",
  "28000": "refuses this user name",
  "3D000": "doesn't have this database",
};

/** The first word of a Redis server's error message. */
const REDIS_WORD = /^(WRONGPASS|NOAUTH|NOPERM|READONLY|LOADING|CLUSTERDOWN|MISCONF|OOM)\b/;

/**
 * Explains a store's error in idpauth's own words, since a driver's message may contain a password.
 * Completes "it …".
 */
export function storeFailure(error: unknown): string {
  const codes = codesOf(error, ({ code, message }) => {
    const own = typeof code === "string" && /^[A-Z0-9][A-Z0-9_]{2,60}$/.test(code) ? [code] : [];
    const word = typeof message === "string" ? REDIS_WORD.exec(message)?.[1] : undefined;
    return word === undefined ? own : [...own, word];
  });
  const known = codes
    .map((code) => CODES[code] ?? connectionFailure(code)?.words)
    .find((words) => words !== undefined);
  if (known !== undefined) return known;
  if (isOutOfTime(error)) return "doesn't respond in time";
  const [code] = codes;
  return code === undefined ? "fails" : `fails (${code})`;
}

/**
 * Returns the message of one of this package's stores, which contains no secret; undefined for
 * other stores.
 */
export function ownWords(error: unknown, storeName: string): string | undefined {
  if (
    !["redis", "postgres", "sqlite"].includes(storeName) ||
    !(error instanceof StoreUnavailableError)
  )
    return undefined;
  // The default message has fewer details than the driver's code.
  return error.message === new StoreUnavailableError().message
    ? undefined
    : error.message.replace(/\.$/, "");
}

function isOutOfTime(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.message.includes("in time");
}

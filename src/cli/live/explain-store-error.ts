import { StoreUnavailableError } from "../../errors.js";
import { codesOf, connectionFailure } from "./explain-connection-error.js";

/** Of drivers and servers; what is about the connection is said as of a provider's. */
const CODES: Readonly<Record<string, string>> = {
  ERR_MODULE_NOT_FOUND: "is not there, or imports what is not there",
  WRONGPASS: "refuses user or password",
  NOAUTH: "asks for a password",
  NOPERM: "lets this user not do what the store needs (NOPERM)",
  READONLY: "is a replica, which takes no writes",
  LOADING: "is still loading its data",
  "28P01": "refuses user or password",
  "28000": "refuses this user",
  "3D000": "has no such database",
};

/** What a Redis server begins a refusal with. */
const REDIS_WORD = /^(WRONGPASS|NOAUTH|NOPERM|READONLY|LOADING|CLUSTERDOWN|MISCONF|OOM)\b/;

/** Why a store does not work, in our own words: what a driver says may repeat an address with its password. Goes on after "it …". */
export function storeFailure(error: unknown): string {
  const codes = codesOf(error, ({ code, message }) => {
    const own = typeof code === "string" && /^[A-Z0-9][A-Z0-9_]{2,60}$/.test(code) ? [code] : [];
    const word = typeof message === "string" ? REDIS_WORD.exec(message)?.[1] : undefined;
    return word === undefined ? own : [...own, word];
  });
  const known = codes.map((code) => CODES[code] ?? connectionFailure(code)?.words).find((words) => words !== undefined);
  if (known !== undefined) return known;
  if (isOutOfTime(error)) return "does not answer in time";
  const [code] = codes;
  return code === undefined ? "fails" : `fails (${code})`;
}

/** The store's own sentence, where the store is one of this package: it names tables and files, and no secret. */
export function ownWords(error: unknown, storeName: string): string | undefined {
  if (!["redis", "postgres", "sqlite"].includes(storeName) || !(error instanceof StoreUnavailableError)) return undefined;
  // The sentence that every store has says less than the driver's code.
  return error.message === new StoreUnavailableError().message ? undefined : error.message.replace(/\.$/, "");
}

function isOutOfTime(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.message.includes("in time");
}

import type { SessionStore } from "idpauth";
import type { EpochSeconds } from "idpauth/adapter";
import type { StoreNeed } from "./guarantees.js";

/** A store under test, with control over its time and its server. */
export interface StoreUnderTest {
  /** The store whose calls are checked. */
  readonly store: SessionStore;
  /** Returns the store's current time. */
  now(): EpochSeconds;
  /** Lets this many seconds pass for the store. For a store that uses the real time, it waits. */
  advance(seconds: number): Promise<void>;
  /** Called once at the end, also after a failed check. Closes the stores of `another` as well. */
  close?(): Promise<void>;
  /**
   * Seconds that an entry lives in requirements about expiry, a whole number from 2. Default 600,
   * for a store whose clock the test moves. For a store that uses the real time, set 2; each of
   * these requirements then takes two or three seconds.
   */
  readonly life?: number;
  /**
   * Milliseconds that the store allows for one call. Default 2000. After one and a half times this
   * limit, the check fails.
   */
  readonly timeLimit?: number;
  /**
   * Opens a second, independent store over the same data, with a connection of its own, as another
   * process would. May be called more than once. Without it, requirements about several processes
   * are not checked.
   */
  another?(): SessionStore | Promise<SessionStore>;
  /**
   * Makes the store's server unreachable. Without it, requirements about an outage are not checked.
   */
  readonly outage?: StoreOutage;
}

/**
 * Between `begin` and `end` the server is unreachable, and commands sent meanwhile are lost. A
 * proxy that closes its port and its connections does that, and so does stopping a server that
 * keeps its data. A paused server does not: it later reads the commands from its sockets.
 */
export interface StoreOutage {
  /** Resolves when the server is unreachable. */
  begin(): Promise<void>;
  /** The server is reachable again; the store may reconnect later. Also called if `begin` fails. */
  end(): Promise<void>;
}

/**
 * Returns a store for one requirement. It may contain data of earlier requirements, because keys
 * never repeat.
 */
export type StoreFactory = () => StoreUnderTest | Promise<StoreUnderTest>;

/** Milliseconds for one call, the default of every store of idpauth. */
const DEFAULT_TIME_LIMIT_MS = 2_000;
/** Extra time for a loaded machine, as a share of the limit. */
const TIME_MARGIN_SHARE = 0.5;
const DEFAULT_LIFE_SECONDS = 600;

export const STORE_METHODS = [
  "get",
  "insert",
  "replace",
  "touch",
  "delete",
  "listBySubject",
  "listBySid",
] as const;
/** A method whose calls a requirement checks. */
export type CheckedMethod = (typeof STORE_METHODS)[number] | "getMany" | "scan" | "isWhole";

/** Returns the milliseconds after which a call counts as failed. */
export function callLimit(under: StoreUnderTest): number {
  return (under.timeLimit ?? DEFAULT_TIME_LIMIT_MS) * (1 + TIME_MARGIN_SHARE);
}

/** Returns the seconds that an entry lives in requirements about expiry. */
export function lifeOf(under: StoreUnderTest): number {
  return under.life ?? DEFAULT_LIFE_SECONDS;
}

/** Returns the reason that a requirement cannot be checked with this store, or undefined. */
export function whyNotChecked(
  under: StoreUnderTest,
  needs: StoreNeed | undefined,
): string | undefined {
  const { inProcess } = under.store;
  if (needs === "bytes" && inProcess === true)
    return "records stay in this process as objects, not as bytes";
  if (needs === "another" && under.another === undefined) {
    return inProcess === true
      ? "no other process can reach a store in this process"
      : "create() returned no another()";
  }
  if (needs === "getMany" && under.store.getMany === undefined)
    return "the store has no getMany, which is optional";
  if (needs === "lossyIndex" && under.store.lossyIndex === undefined)
    return "the store's lists lose no entry, so it has no lossyIndex";
  if (needs === "ends" && under.store.watchEnds === undefined)
    return "the store has no watchEnds, which is optional";
  if (needs === "outage" && under.outage === undefined) {
    return inProcess === true
      ? "a store in this process has no server"
      : "create() returned no outage";
  }
  return undefined;
}

/**
 * Checks the shape of the result of `create`.
 *
 * @throws TypeError that names the missing or invalid member
 */
export function assertStoreUnderTest(
  name: string,
  given: unknown,
): asserts given is StoreUnderTest {
  const misuse = (what: string): never => {
    throw new TypeError(`The ${name} store cannot be tested: ${what}.`);
  };
  if (typeof given !== "object" || given === null)
    return misuse(`create() must return an object with store, now and advance, got ${kind(given)}`);
  const under = given as Record<string, unknown>;
  if (under["store"] === undefined && typeof under["get"] === "function") {
    return misuse("create() returned the store itself; it must return { store, now, advance }");
  }
  const missing = ["now", "advance"].filter((method) => typeof under[method] !== "function");
  if (missing.length > 0) return misuse(`create() must return ${list(missing)} as well`);
  const now = (under["now"] as () => unknown)();
  if (!Number.isInteger(now))
    return misuse(`now() must return whole seconds since the epoch, got ${kind(now)}`);
  if ((now as number) > 100_000_000_000)
    return misuse("now() must return seconds, not milliseconds");
  for (const optional of ["close", "another"]) {
    if (under[optional] !== undefined && typeof under[optional] !== "function")
      return misuse(`${optional} must be a function`);
  }
  const { life, timeLimit, outage } = under;
  if (life !== undefined && !(Number.isInteger(life) && (life as number) >= 2))
    return misuse("life must be a whole number of seconds from 2");
  if (timeLimit !== undefined && !(typeof timeLimit === "number" && timeLimit > 0))
    return misuse("timeLimit must be milliseconds above 0");
  if (outage !== undefined) {
    const powers = (typeof outage === "object" ? (outage ?? {}) : {}) as Record<string, unknown>;
    const absent = ["begin", "end"].filter((method) => typeof powers[method] !== "function");
    if (absent.length > 0)
      return misuse(`outage must have the functions begin and end; there is no ${list(absent)}`);
  }
  assertStore(name, under["store"]);
}

/** @throws TypeError that names the missing method or name */
export function assertStore(name: string, given: unknown): asserts given is SessionStore {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(
      `The ${name} store cannot be tested: a store is an object, got ${kind(given)}.`,
    );
  }
  const store = given as Record<string, unknown>;
  const missing = STORE_METHODS.filter((method) => typeof store[method] !== "function");
  if (missing.length > 0) {
    throw new TypeError(
      `The ${name} store cannot be tested: it has no ${list(missing)}. A store has the methods ${list(STORE_METHODS)}; see SessionStore.`,
    );
  }
  if (typeof store["name"] !== "string" || store["name"] === "") {
    throw new TypeError(
      `The ${name} store cannot be tested: it has no name, a short text for messages.`,
    );
  }
}

function list(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value)
    ? "an array"
    : typeof value === "number"
      ? "a number that is none"
      : `a ${typeof value}`;
}

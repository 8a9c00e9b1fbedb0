import type { EpochSeconds, SessionStore } from "../../index.js";
import type { StoreNeed } from "./guarantees.js";

/** A store under test, with the powers over its surroundings that the requirements need. */
export interface StoreUnderTest {
  readonly store: SessionStore;
  /** What the store takes for now. */
  now(): EpochSeconds;
  /** Lets this many seconds pass for the store. One that knows the real time only waits. */
  advance(seconds: number): Promise<void>;
  /** Called once at the end, also when the requirement was not met. Ends what `another` opened as well. */
  close?(): Promise<void>;
  /**
   * Seconds that an entry lives in the requirements that wait for its end; a whole number from 2. Default 600, for a store whose clock
   * the test moves. A store that knows the real time only takes 2, and each of these requirements then takes two or three seconds.
   */
  readonly life?: number;
  /** Milliseconds that the store allows itself for one call. Default 2000. Half as much again, and an
   * answer counts as missing. */
  readonly timeLimit?: number;
  /**
   * A second, independent store over the same data, with a connection of its own, as another process would have it. May be
   * called more than once. Without it, nothing can be said of several processes.
   */
  another?(): SessionStore | Promise<SessionStore>;
  /** The power to take the store's server away. Without it, nothing can be said of an outage. */
  readonly outage?: StoreOutage;
}

/**
 * The server is away between the two: what the store sends reaches nobody, also not later. A proxy in between that closes
 * its connections and its port does that, and so does a server that is stopped, when it keeps its data. A server that is only
 * halted does not: it finds in its sockets what was sent meanwhile.
 */
export interface StoreOutage {
  begin(): Promise<void>;
  /** The server is back; the store itself may need another moment. Also called after `begin` has failed. */
  end(): Promise<void>;
}

/** Gives a fresh view of the store for each requirement. Data of earlier ones may still be there: keys never repeat. */
export type StoreFactory = () => StoreUnderTest | Promise<StoreUnderTest>;

/** Milliseconds for one call unless the store under test says otherwise; what every bundled store allows itself. */
const DEFAULT_TIME_LIMIT = 2_000;
/** As a share of the limit: what a loaded machine may need besides. */
const TIME_MARGIN = 0.5;
const DEFAULT_LIFE = 600;

export const STORE_METHODS = ["get", "insert", "replace", "touch", "delete", "listBySubject"] as const;
export type StoreMethod = (typeof STORE_METHODS)[number];

/** Milliseconds after which a call counts as not answered. */
export function answerLimit(under: StoreUnderTest): number {
  return (under.timeLimit ?? DEFAULT_TIME_LIMIT) * (1 + TIME_MARGIN);
}

/** Seconds that an entry lives where its end is waited for. */
export function lifeOf(under: StoreUnderTest): number {
  return under.life ?? DEFAULT_LIFE;
}

/** Why something cannot be checked with this store; undefined: it can. */
export function whyNotChecked(under: StoreUnderTest, needs: StoreNeed | undefined): string | undefined {
  const { inProcess } = under.store;
  if (needs === "bytes" && inProcess === true) return "records stay in this process as they are, there are no bytes";
  if (needs === "another" && under.another === undefined) {
    return inProcess === true ? "no other process can reach a store in this process" : "create() gave no another()";
  }
  if (needs === "outage" && under.outage === undefined) {
    return inProcess === true ? "a store in this process has no server that could be away" : "create() gave no outage";
  }
  return undefined;
}

/**
 * What `create` gave, believed only as far as its shape.
 *
 * @throws TypeError something is missing, or is not what it must be; names it
 */
export function assertStoreUnderTest(name: string, given: unknown): asserts given is StoreUnderTest {
  const misuse = (what: string): never => {
    throw new TypeError(`The ${name} store cannot be tested: ${what}.`);
  };
  if (typeof given !== "object" || given === null)
    return misuse(`create() must give an object with store, now and advance, got ${kind(given)}`);
  const under = given as Record<string, unknown>;
  if (under["store"] === undefined && typeof under["get"] === "function") {
    return misuse("create() gave the store itself; it must give { store, now, advance }");
  }
  const missing = ["now", "advance"].filter((method) => typeof under[method] !== "function");
  if (missing.length > 0) return misuse(`create() must give ${list(missing)} as well`);
  const now = (under["now"] as () => unknown)();
  if (!Number.isInteger(now)) return misuse(`now() must give whole seconds since the epoch, got ${kind(now)}`);
  if ((now as number) > 100_000_000_000) return misuse("now() must give seconds, got what looks like milliseconds");
  for (const optional of ["close", "another"]) {
    if (under[optional] !== undefined && typeof under[optional] !== "function") return misuse(`${optional} must be a function`);
  }
  const { life, timeLimit, outage } = under;
  if (life !== undefined && !(Number.isInteger(life) && (life as number) >= 2))
    return misuse("life must be a whole number of seconds from 2");
  if (timeLimit !== undefined && !(typeof timeLimit === "number" && timeLimit > 0)) return misuse("timeLimit must be milliseconds above 0");
  if (outage !== undefined) {
    const powers = (typeof outage === "object" ? (outage ?? {}) : {}) as Record<string, unknown>;
    const absent = ["begin", "end"].filter((method) => typeof powers[method] !== "function");
    if (absent.length > 0) return misuse(`outage must have the functions begin and end; there is no ${list(absent)}`);
  }
  assertStore(name, under["store"]);
}

/** @throws TypeError it lacks a method or a name; says which */
export function assertStore(name: string, given: unknown): asserts given is SessionStore {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`The ${name} store cannot be tested: a store is an object, got ${kind(given)}.`);
  }
  const store = given as Record<string, unknown>;
  const missing = STORE_METHODS.filter((method) => typeof store[method] !== "function");
  if (missing.length > 0) {
    throw new TypeError(
      `The ${name} store cannot be tested: it has no ${list(missing)}. A store has the methods ${list(STORE_METHODS)}; see SessionStore.`,
    );
  }
  if (typeof store["name"] !== "string" || store["name"] === "") {
    throw new TypeError(`The ${name} store cannot be tested: it has no name, a short text for messages.`);
  }
}

function list(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : typeof value === "number" ? "a number that is none" : `a ${typeof value}`;
}

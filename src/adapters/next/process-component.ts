import { createIdpAuth, type FrameworkAdapter, type IdpAuth } from "../../adapter.js";
import type { IdpAuthNames, IdpAuthOptions, SessionStore } from "../../index.js";
import { OpenResponses } from "../fetch/fetch.js";
import type { Incoming } from "./next-request.js";

/** Options of idpauth for Next.js. */
export interface NextIdpAuthOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
> extends Omit<IdpAuthOptions<OwnClaims, Data, Names>, "store"> {
  /**
   * Stores the sessions. A function is called once per process, by `auth.start()` or else by the
   * first request, so that `next build`, which loads every module too, opens no store.
   */
  readonly store?: SessionStore | (() => SessionStore);
}

type Component = IdpAuth<Incoming>;

interface Known {
  readonly options: NextIdpAuthOptions;
  component?: Component;
}

/**
 * The components of this process, by their options. Next.js bundles pages, route handlers, the
 * proxy and instrumentation separately, so one process evaluates the module that calls `idpAuth`
 * several times. Sessions in memory, running refreshes and listeners must be shared.
 */
const KEY = Symbol.for("idpauth.next");

/** The open responses of this process, which its bundles share as they share its components. */
const OPEN_RESPONSES = Symbol.for("idpauth.next.open-responses");

/**
 * Returns a function that gives the component of this process for these options. Its first call
 * builds it; `next build` makes none.
 */
export function processComponent<
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
>(
  given: NextIdpAuthOptions<OwnClaims, Data, Names>,
  adapter: FrameworkAdapter<Incoming>,
): () => IdpAuth<Incoming, OwnClaims, Data, Names> {
  // Components of all types are in one list. The types are the caller's own.
  const options = given as unknown as NextIdpAuthOptions;
  return () => {
    const all = ((globalThis as unknown as Record<symbol, Known[] | undefined>)[KEY] ??= []);
    let known =
      all.find((each) => each.options === options) ??
      all.find((each) => isSame(each.options, options));
    if (known === undefined) all.push((known = { options }));
    return (known.component ??= create(known.options, adapter)) as unknown as IdpAuth<
      Incoming,
      OwnClaims,
      Data,
      Names
    >;
  };
}

export function openResponses(): OpenResponses {
  return ((globalThis as unknown as Record<symbol, OpenResponses | undefined>)[OPEN_RESPONSES] ??=
    new OpenResponses());
}

function create(
  { store, ...options }: NextIdpAuthOptions,
  adapter: FrameworkAdapter<Incoming>,
): Component {
  if (store === undefined) return createIdpAuth<Incoming>(options, adapter);
  // A function that returns nothing must not mean sessions in memory: null is no store,
  // which is the error E006.
  const opened =
    typeof store === "function"
      ? ((store() as SessionStore | undefined) ?? (null as unknown as SessionStore))
      : store;
  return createIdpAuth<Incoming>({ ...options, store: opened }, adapter);
}

/**
 * Whether two bundles evaluated the same call. Plain values must be equal. Each bundle has its own
 * functions, store and claims schema, so for these it counts that both are given; the first ones
 * are used.
 */
function isSame(some: NextIdpAuthOptions, other: NextIdpAuthOptions): boolean {
  const comparable = (options: NextIdpAuthOptions) => ({
    ...options,
    store: options.store !== undefined,
    claims: options.claims !== undefined,
  });
  return isEqual(comparable(some), comparable(other));
}

function isEqual(some: unknown, other: unknown): boolean {
  if (Object.is(some, other)) return true;
  if (typeof some === "function") return typeof other === "function";
  if (!isPlain(some) || !isPlain(other) || Array.isArray(some) !== Array.isArray(other))
    return false;
  const names = new Set([...Object.keys(some), ...Object.keys(other)]);
  return [...names].every((name) => isEqual(some[name], other[name]));
}

/** False for an object of a class, such as a clock, which equals only itself. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

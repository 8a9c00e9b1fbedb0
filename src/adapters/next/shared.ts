import { createIdpAuth, type FrameworkAdapter, type IdpAuth, type IdpAuthOptions, type SessionStore } from "../../index.js";
import type { Incoming } from "./request.js";

/** Options of idpauth on Next.js. */
export interface NextIdpAuthOptions extends Omit<IdpAuthOptions, "store"> {
  /**
   * Where sessions live. A function is called once a process, by the first request: `next build`, which loads every module
   * too, then opens no store.
   */
  readonly store?: SessionStore | (() => SessionStore);
}

type Component = IdpAuth<Incoming>;

interface Shared {
  readonly options: NextIdpAuthOptions;
  component?: Component;
}

/**
 * Next.js bundles pages, route handlers, the proxy and instrumentation apart from each other: one process evaluates the
 * module that calls `idpAuth` several times. Sessions in memory, the refreshes under way and the listeners belong to the
 * process, so what was made for the same options lies here.
 */
const KEY = Symbol.for("idpauth.next");

/** The component of this process for these options; built when it is first used, which `next build` never does. */
export function sharedComponent(options: NextIdpAuthOptions, adapter: FrameworkAdapter<Incoming>): () => Component {
  return () => {
    const known = ((globalThis as unknown as Record<symbol, Shared[] | undefined>)[KEY] ??= []);
    let shared = known.find((each) => each.options === options) ?? known.find((each) => isSame(each.options, options));
    if (shared === undefined) known.push((shared = { options }));
    return (shared.component ??= create(shared.options, adapter));
  };
}

function create({ store, ...options }: NextIdpAuthOptions, adapter: FrameworkAdapter<Incoming>): Component {
  if (store === undefined) return createIdpAuth<Incoming>(options, adapter);
  // A function that returns nothing must not mean sessions in memory; null makes the startup check E014 say so.
  const opened = typeof store === "function" ? ((store() as SessionStore | undefined) ?? (null as unknown as SessionStore)) : store;
  return createIdpAuth<Incoming>({ ...options, store: opened }, adapter);
}

/**
 * Whether two bundles evaluated one and the same call. Plain values must be equal. Each bundle has functions and a store of
 * its own: there it counts that both are given, and the first are used.
 */
function isSame(some: NextIdpAuthOptions, other: NextIdpAuthOptions): boolean {
  return isEqual({ ...some, store: some.store !== undefined }, { ...other, store: other.store !== undefined });
}

function isEqual(some: unknown, other: unknown): boolean {
  if (Object.is(some, other)) return true;
  if (typeof some === "function") return typeof other === "function";
  if (!isPlain(some) || !isPlain(other) || Array.isArray(some) !== Array.isArray(other)) return false;
  const names = new Set([...Object.keys(some), ...Object.keys(other)]);
  return [...names].every((name) => isEqual(some[name], other[name]));
}

/** An object of a class, such as a clock, is only itself. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

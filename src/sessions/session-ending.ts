import { epochSeconds, nextTurn, type Clock } from "../clock.js";
import { ReportedStore, type StoreFailureListener } from "./reported-store.js";
import { traceOf, type TracedReason } from "./end-trace.js";
import type { KeyedHashes, Sealer } from "./seal.js";
import type { SessionStore } from "../ports/session-store.js";

/** Store operations at a time. */
const BATCH = 16;
/** Batches after which other work runs. With a store that responds at once, they take some milliseconds. */
const BATCHES_PER_TURN = 8;

export interface SessionEndingOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Called after every failed store operation. */
  readonly onStoreFailure?: StoreFailureListener;
  /** Called with the key of each session that was ended. */
  readonly onEnded?: (key: string, reason: TracedReason) => void;
}

/** Ends sessions without their cookies. */
export interface SessionEnding {
  /**
   * Deletes the sessions with these keys and leaves their traces.
   *
   * @returns how many sessions it ended
   * @throws StoreUnavailableError some sessions may have ended
   */
  end(keys: readonly string[], reason: TracedReason): Promise<number>;
}

export function createSessionEnding(options: SessionEndingOptions): SessionEnding {
  const { sealer, clock, onEnded } = options;
  const store = new ReportedStore(options.store, clock, options.onStoreFailure);
  async function endOne(key: string, reason: TracedReason): Promise<boolean> {
    const removed = await store.delete(key);
    if (removed === undefined) return false;
    // Without a trace, the session has ended too. The removed entry may itself be the trace of an earlier call.
    await store.insert(key, traceOf(sealer, key, reason, epochSeconds(clock))).catch(() => false);
    if (removed.subject === undefined) return false;
    onEnded?.(key, reason);
    return true;
  }
  return { end: async (keys, reason) => (await inBatches(keys, (key) => endOne(key, reason))).filter(Boolean).length };
}

/**
 * Lists the keys under the hashes of SECRET_KEY and of each fallback. A session that was not written since a rotation still has the earlier
 * hash. Then lists in reverse order, because a write in between may move a session from one hash to the other.
 */
export async function keysUnder(hashes: KeyedHashes, list: (hash: string) => Promise<readonly string[]>): Promise<string[]> {
  const keys = new Set<string>();
  for (const hash of [...hashes, ...hashes.slice(0, -1).reverse()]) for (const key of await list(hash)) keys.add(key);
  return [...keys];
}

/** Returns the results for all items. Works on {@link BATCH} items at a time, and lets other work run in between. */
export async function inBatches<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    results.push(...(await Promise.all(items.slice(start, start + BATCH).map(work))));
    if ((start / BATCH) % BATCHES_PER_TURN === BATCHES_PER_TURN - 1) await nextTurn();
  }
  return results;
}

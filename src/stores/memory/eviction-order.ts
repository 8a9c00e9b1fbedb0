import type { Stored } from "../../ports/session-store.js";

/** One entry of the memory store. */
export interface Slot {
  readonly key: string;
  /** Never modified, so that callers can share it. */
  stored: Stored;
  /** The number of its last write. */
  order: number;
  /** The neighbours in the eviction order. */
  older: Slot | undefined;
  newer: Slot | undefined;
}

/**
 * Pending logins in the order of their writes. This is also the order of their expiry, because all of them live equally long.
 * They are linked, because a Set finds its first member slowly after many deletions.
 */
export class EvictionOrder {
  #oldest: Slot | undefined;
  #newest: Slot | undefined;

  get oldest(): Slot | undefined {
    return this.#oldest;
  }

  add(slot: Slot): void {
    slot.older = this.#newest;
    slot.newer = undefined;
    if (slot.older === undefined) this.#oldest = slot;
    else slot.older.newer = slot;
    this.#newest = slot;
  }

  remove(slot: Slot): void {
    const { older, newer } = slot;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    // A slot that stays in the store must not hold those that leave it.
    slot.older = slot.newer = undefined;
  }
}

import { epochSeconds, nextTurn, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import { StoreUnavailableError } from "../../errors.js";
import type {
  EndWatcher,
  Entry,
  EntryPage,
  SessionStore,
  Stored,
} from "../../ports/session-store.js";
import { LIST_FIELDS, LIST_PAGE, type ListField } from "../stored-entries.js";
import { SWEEP_EVERY_MS } from "../sweep.js";

const DEFAULT_MAX_SESSIONS = 100_000;
const MAX_MAX_SESSIONS = 16_000_000;
/**
 * Entries that are swept before other work runs: about a millisecond if all of them have expired.
 */
const SLICE_ENTRIES = 2_000;
/** Only an expiry, a logout or a restart frees space, so an early retry would fail again. */
const FULL_RETRY_SECONDS = 60;

const NOTHING: Promise<undefined> = Promise.resolve(undefined);
const YES: Promise<boolean> = Promise.resolve(true);
const NO: Promise<boolean> = Promise.resolve(false);

/**
 * Stores sessions in this process's memory, for development, tests and applications of a single
 * process. The sessions end with the process. Records are not encrypted, because they never leave
 * it.
 *
 * When the store is full, expired entries are dropped first, then the oldest pending login. If only
 * signed-in sessions are left, an insert rejects with `StoreUnavailableError`. A signed-in session
 * is never evicted.
 *
 * @throws TypeError when `maxSessions` is not a whole number within its bounds
 *
 * @example
 * const auth = idpAuth({ store: memoryStore({ maxSessions: 10_000 }) });
 */
export function memoryStore(
  options: {
    /** Default: the system clock. */
    readonly clock?: Clock;
    /**
     * The maximum number of entries, signed-in sessions and pending logins together: 1 to 16,000,000,
     * the limit of a JavaScript Map. Default 100,000: at two to three kilobytes a session it fits
     * Node's default heap, even when a flood of logins fills it with the largest possible records.
     * For 1,000,000, give Node about 4 GB (`--max-old-space-size=4096`).
     */
    readonly maxSessions?: number;
  } = {},
): SessionStore {
  const maxSessions = options.maxSessions ?? DEFAULT_MAX_SESSIONS;
  if (!Number.isInteger(maxSessions) || maxSessions < 1 || maxSessions > MAX_MAX_SESSIONS) {
    throw new TypeError(
      `memoryStore: maxSessions must be a whole number from 1 to ${String(MAX_MAX_SESSIONS)}, got ${String(maxSessions)}.`,
    );
  }
  return createMemoryStore(options.clock ?? systemClock, maxSessions);
}

/** One entry of the memory store. */
interface Slot {
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
 * Pending logins in the order of their writes. This is also the order of their expiry, because all
 * of them live equally long. They are linked, because a Set finds its first member slowly after
 * many deletions.
 */
function evictionOrder() {
  let oldest: Slot | undefined;
  let newest: Slot | undefined;

  return {
    oldest: () => oldest,

    add(slot: Slot): void {
      slot.older = newest;
      slot.newer = undefined;
      if (slot.older === undefined) oldest = slot;
      else slot.older.newer = slot;
      newest = slot;
    },

    remove(slot: Slot): void {
      const { older, newer } = slot;
      if (older === undefined) oldest = newer;
      else older.newer = newer;
      if (newer === undefined) newest = older;
      else newer.older = older;
      // A slot that stays in the store must not hold those that leave it.
      slot.older = slot.newer = undefined;
    },
  };
}

/** The methods are not async functions, because their results are known at once. */
function createMemoryStore(clock: Clock, maxSessions: number): SessionStore {
  const slots = new Map<string, Slot>();
  /** In the order of their last writes. */
  const indexes: Readonly<Record<ListField, Map<string, Set<Slot>>>> = {
    subject: new Map(),
    sid: new Map(),
  };
  const evictable = evictionOrder();
  /** Each in an object of its own, because the same watcher may watch twice. */
  const watchers = new Set<{ readonly watcher: EndWatcher }>();
  /** Counts the writes of the whole store, so that every version is unique. */
  let writes = 0;
  /** No entry expires earlier. */
  let nextExpiry: EpochSeconds = Infinity;
  let cancelSweep: (() => void) | undefined;

  /**
   * The cursor is the order of the last entry. A later write moves an entry to a later page, so no
   * entry is missed.
   */
  function list(field: ListField, hash: string, cursor = "0"): EntryPage {
    const entries = new Map<string, Stored>();
    for (const slot of indexes[field].get(hash) ?? []) {
      if (slot.order <= Number(cursor) || isExpired(slot)) continue;
      entries.set(slot.key, slot.stored);
      if (entries.size === LIST_PAGE) return { entries, next: String(slot.order) };
    }
    return { entries };
  }

  function live(key: string): Slot | undefined {
    const slot = slots.get(key);
    return slot === undefined || isExpired(slot) ? undefined : slot;
  }

  function isExpired(slot: Slot): boolean {
    return slot.stored.expiresAt <= epochSeconds(clock);
  }

  function write(
    entry: Entry,
    expiresAt: EpochSeconds,
    lastActive: EpochSeconds | undefined,
  ): Stored {
    writes += 1;
    nextExpiry = Math.min(nextExpiry, expiresAt);
    return storedOf(entry, { version: String(writes), expiresAt, lastActive });
  }

  function remove(slot: Slot): void {
    slots.delete(slot.key);
    forget(slot);
    if (slots.size > 0) return;
    cancelSweep?.();
    cancelSweep = undefined;
  }

  function index(slot: Slot): void {
    if (slot.stored.subject === undefined) evictable.add(slot);
    for (const field of LIST_FIELDS) {
      const hash = slot.stored[field];
      if (hash === undefined) continue;
      const listed = indexes[field].get(hash);
      if (listed === undefined) indexes[field].set(hash, new Set([slot]));
      else listed.add(slot);
    }
  }

  function forget(slot: Slot): void {
    if (slot.stored.subject === undefined) evictable.remove(slot);
    for (const field of LIST_FIELDS) {
      const hash = slot.stored[field] ?? "";
      const listed = indexes[field].get(hash);
      listed?.delete(slot);
      if (listed?.size === 0) indexes[field].delete(hash);
    }
  }

  function makeRoom(): boolean {
    removeExpired();
    if (slots.size < maxSessions) return true;
    const oldest = evictable.oldest();
    if (oldest === undefined) return false;
    remove(oldest);
    return true;
  }

  /**
   * Removes some expired entries, if there are any. Otherwise it reads all entries at most once a
   * second: about 1 ms for 100,000.
   */
  function removeExpired(): void {
    const now = epochSeconds(clock);
    if (now < nextExpiry) return;
    let next = Infinity;
    let removed = 0;
    for (const slot of slots.values()) {
      if (slot.stored.expiresAt > now) {
        next = Math.min(next, slot.stored.expiresAt);
      } else {
        remove(slot);
        removed += 1;
        if (removed === SLICE_ENTRIES) return;
      }
    }
    nextExpiry = next;
  }

  function full(): StoreUnavailableError {
    return new StoreUnavailableError(
      `The memory store is full: it holds ${String(maxSessions)} signed-in sessions. Raise maxSessions, or use a store outside the process.`,
      { retryAfter: FULL_RETRY_SECONDS },
    );
  }

  /** An empty store has no timer, so that a finished process can exit with any clock. */
  function scheduleSweep(): void {
    cancelSweep ??= clock.timer(SWEEP_EVERY_MS.memory, () => void sweep());
  }

  async function sweep(): Promise<void> {
    let swept = 0;
    for (const slot of slots.values()) {
      if (isExpired(slot)) remove(slot);
      swept += 1;
      if (swept % SLICE_ENTRIES === 0) await nextTurn();
    }
    // Between two slices the store may have become empty and filled again, and may have a new
    // timer.
    cancelSweep?.();
    cancelSweep = undefined;
    if (slots.size > 0) scheduleSweep();
  }

  return {
    name: "memory",
    inProcess: true,
    get(key) {
      const slot = live(key);
      return slot === undefined ? NOTHING : Promise.resolve(slot.stored);
    },

    insert(key, entry) {
      const present = slots.get(key);
      if (present !== undefined) {
        if (!isExpired(present)) return NO;
        remove(present);
      }
      if (slots.size >= maxSessions && !makeRoom()) return Promise.reject(full());
      const stored = write(entry, entry.expiresAt, entry.lastActive);
      const slot: Slot = { key, stored, order: writes, older: undefined, newer: undefined };
      slots.set(key, slot);
      index(slot);
      scheduleSweep();
      return YES;
    },

    replace(key, entry, version) {
      const slot = live(key);
      if (slot === undefined || slot.stored.version !== version) return NO;
      const { expiresAt, lastActive } = slot.stored;
      forget(slot);
      slot.stored = write(
        entry,
        Math.max(expiresAt, entry.expiresAt),
        later(lastActive, entry.lastActive),
      );
      slot.order = writes;
      index(slot);
      return YES;
    },

    touch(key, lastActive, expiresAt) {
      const slot = live(key);
      if (slot === undefined) return NO;
      const { stored } = slot;
      const stamp = later(stored.lastActive, lastActive ?? undefined);
      if (expiresAt <= stored.expiresAt && stamp === stored.lastActive) return YES;
      slot.stored = storedOf(stored, {
        version: stored.version,
        expiresAt: Math.max(stored.expiresAt, expiresAt),
        lastActive: stamp,
      });
      return YES;
    },

    delete(key) {
      const slot = slots.get(key);
      if (slot === undefined) return NOTHING;
      const isLive = !isExpired(slot);
      remove(slot);
      return isLive ? Promise.resolve(slot.stored) : NOTHING;
    },

    listBySubject: async (subject, cursor) => list("subject", subject, cursor),
    listBySid: async (sid, cursor) => list("sid", sid, cursor),

    async getMany(keys) {
      const found = new Map<string, Stored>();
      for (const key of keys) {
        const slot = live(key);
        if (slot !== undefined) found.set(key, slot.stored);
      }
      return found;
    },

    async announceEnd(key, reason) {
      for (const { watcher } of [...watchers]) watcher.ended(key, reason);
    },

    watchEnds(watcher) {
      const own = { watcher };
      watchers.add(own);
      queueMicrotask(() => {
        if (watchers.has(own)) watcher.connected(true);
      });
      return () => void watchers.delete(own);
    },
  };
}

/** What a write sets besides the entry's own fields. */
interface Written {
  readonly version: string;
  readonly expiresAt: EpochSeconds;
  readonly lastActive: EpochSeconds | undefined;
}

function storedOf(entry: Entry, { version, expiresAt, lastActive }: Written): Stored {
  const { lastActive: _replaced, ...fields } = entry;
  return Object.freeze({
    ...fields,
    version,
    expiresAt,
    ...(lastActive !== undefined && { lastActive }),
  });
}

function later(
  stored: EpochSeconds | undefined,
  given: EpochSeconds | undefined,
): EpochSeconds | undefined {
  if (stored === undefined || given === undefined) return stored ?? given;
  return Math.max(stored, given);
}

import { StoreUnavailableError } from "../../errors.js";
import type { EndWatcher, Entry, EntryPage, SessionStore, Stored } from "../../ports/session-store.js";
import { epochSeconds, nextTurn, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import { LIST_FIELDS, LIST_PAGE, type ListField } from "../stored-entries.js";

export interface MemoryStoreOptions {
  /** Default: the system clock. */
  readonly clock?: Clock;
  /**
   * The maximum number of entries, signed-in sessions and pending logins together: 1 to 16,000,000, the limit of a JavaScript Map.
   * Default 100,000: at two to three kilobytes a session it fits Node's default heap, even when a flood of logins fills it with the
   * largest possible records. For 1,000,000, give Node about 4 GB (`--max-old-space-size=4096`).
   */
  readonly maxSessions?: number;
}

const DEFAULT_MAX_SESSIONS = 100_000;
const MAX_MAX_SESSIONS = 16_000_000;
const SWEEP_MILLISECONDS = 30_000;
/** Entries that are swept before other work runs: about a millisecond if all of them have expired. */
const SLICE = 2_000;
/** Only an expiry, a logout or a restart frees space, so an early retry would fail again. */
const FULL_RETRY_SECONDS = 60;

const NOTHING: Promise<undefined> = Promise.resolve(undefined);
const YES: Promise<boolean> = Promise.resolve(true);
const NO: Promise<boolean> = Promise.resolve(false);

/**
 * Stores sessions in this process's memory, for development, tests and applications of a single process. The sessions end with the
 * process. Records are not encrypted, because they never leave it.
 *
 * When the store is full, expired entries are dropped first, then the oldest pending login. If only signed-in
 * sessions are left, an insert rejects with `StoreUnavailableError`. A signed-in session is never evicted.
 *
 * @throws TypeError when `maxSessions` is not a whole number within its bounds
 */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  const maxSessions = options.maxSessions ?? DEFAULT_MAX_SESSIONS;
  if (!Number.isInteger(maxSessions) || maxSessions < 1 || maxSessions > MAX_MAX_SESSIONS) {
    throw new TypeError(
      `memoryStore: maxSessions must be a whole number from 1 to ${String(MAX_MAX_SESSIONS)}, got ${String(maxSessions)}.`,
    );
  }
  return new MemoryStore(options.clock ?? systemClock, maxSessions);
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
 * Pending logins in the order of their writes. This is also the order of their expiry, because all of them live equally long.
 * They are linked, because a Set finds its first member slowly after many deletions.
 */
class EvictionOrder {
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

/** The methods are not async functions, because their results are known at once. */
class MemoryStore implements SessionStore {
  readonly name = "memory";
  readonly inProcess = true;

  readonly #clock: Clock;
  readonly #maxSessions: number;
  readonly #slots = new Map<string, Slot>();
  /** In the order of their last writes. */
  readonly #indexes: Readonly<Record<ListField, Map<string, Set<Slot>>>> = { subject: new Map(), sid: new Map() };
  readonly #evictable = new EvictionOrder();
  /** Each in an object of its own, because the same watcher may watch twice. */
  readonly #watchers = new Set<{ readonly watcher: EndWatcher }>();
  /** Counts the writes of the whole store, so that every version is unique. */
  #writes = 0;
  /** No entry expires earlier. */
  #nextExpiry: EpochSeconds = Infinity;
  #cancelSweep: (() => void) | undefined;

  constructor(clock: Clock, maxSessions: number) {
    this.#clock = clock;
    this.#maxSessions = maxSessions;
  }

  get(key: string): Promise<Stored | undefined> {
    const slot = this.#live(key);
    return slot === undefined ? NOTHING : Promise.resolve(slot.stored);
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    const present = this.#slots.get(key);
    if (present !== undefined) {
      if (!this.#isExpired(present)) return NO;
      this.#remove(present);
    }
    if (this.#slots.size >= this.#maxSessions && !this.#makeRoom()) return Promise.reject(this.#full());
    const stored = this.#write(entry, entry.expiresAt, entry.lastActive);
    const slot: Slot = { key, stored, order: this.#writes, older: undefined, newer: undefined };
    this.#slots.set(key, slot);
    this.#index(slot);
    this.#scheduleSweep();
    return YES;
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    const slot = this.#live(key);
    if (slot === undefined || slot.stored.version !== version) return NO;
    const { expiresAt, lastActive } = slot.stored;
    this.#forget(slot);
    slot.stored = this.#write(entry, Math.max(expiresAt, entry.expiresAt), later(lastActive, entry.lastActive));
    slot.order = this.#writes;
    this.#index(slot);
    return YES;
  }

  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean> {
    const slot = this.#live(key);
    if (slot === undefined) return NO;
    const { stored } = slot;
    const stamp = later(stored.lastActive, lastActive ?? undefined);
    if (expiresAt <= stored.expiresAt && stamp === stored.lastActive) return YES;
    slot.stored = storedOf(stored, stored.version, Math.max(stored.expiresAt, expiresAt), stamp);
    return YES;
  }

  delete(key: string): Promise<Stored | undefined> {
    const slot = this.#slots.get(key);
    if (slot === undefined) return NOTHING;
    const isLive = !this.#isExpired(slot);
    this.#remove(slot);
    return isLive ? Promise.resolve(slot.stored) : NOTHING;
  }

  async listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.#list("subject", subject, cursor);
  }

  async listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.#list("sid", sid, cursor);
  }

  async getMany(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const found = new Map<string, Stored>();
    for (const key of keys) {
      const slot = this.#live(key);
      if (slot !== undefined) found.set(key, slot.stored);
    }
    return found;
  }

  async announceEnd(key: string, reason: string): Promise<void> {
    for (const { watcher } of [...this.#watchers]) watcher.ended(key, reason);
  }

  watchEnds(watcher: EndWatcher): () => void {
    const own = { watcher };
    this.#watchers.add(own);
    queueMicrotask(() => {
      if (this.#watchers.has(own)) watcher.connected(true);
    });
    return () => void this.#watchers.delete(own);
  }

  /** The cursor is the order of the last entry. A later write moves an entry to a later page, so no entry is missed. */
  #list(field: ListField, hash: string, cursor = "0"): EntryPage {
    const entries = new Map<string, Stored>();
    for (const slot of this.#indexes[field].get(hash) ?? []) {
      if (slot.order <= Number(cursor) || this.#isExpired(slot)) continue;
      entries.set(slot.key, slot.stored);
      if (entries.size === LIST_PAGE) return { entries, next: String(slot.order) };
    }
    return { entries };
  }

  #live(key: string): Slot | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined || this.#isExpired(slot) ? undefined : slot;
  }

  #isExpired(slot: Slot): boolean {
    return slot.stored.expiresAt <= epochSeconds(this.#clock);
  }

  #write(entry: Entry, expiresAt: EpochSeconds, lastActive: EpochSeconds | undefined): Stored {
    this.#writes += 1;
    this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt);
    return storedOf(entry, String(this.#writes), expiresAt, lastActive);
  }

  #remove(slot: Slot): void {
    this.#slots.delete(slot.key);
    this.#forget(slot);
    if (this.#slots.size > 0) return;
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #index(slot: Slot): void {
    if (slot.stored.subject === undefined) this.#evictable.add(slot);
    for (const field of LIST_FIELDS) {
      const hash = slot.stored[field];
      if (hash === undefined) continue;
      const slots = this.#indexes[field].get(hash);
      if (slots === undefined) this.#indexes[field].set(hash, new Set([slot]));
      else slots.add(slot);
    }
  }

  #forget(slot: Slot): void {
    if (slot.stored.subject === undefined) this.#evictable.remove(slot);
    for (const field of LIST_FIELDS) {
      const hash = slot.stored[field] ?? "";
      const slots = this.#indexes[field].get(hash);
      slots?.delete(slot);
      if (slots?.size === 0) this.#indexes[field].delete(hash);
    }
  }

  #makeRoom(): boolean {
    this.#removeExpired();
    if (this.#slots.size < this.#maxSessions) return true;
    const { oldest } = this.#evictable;
    if (oldest === undefined) return false;
    this.#remove(oldest);
    return true;
  }

  /** Removes some expired entries, if there are any. Otherwise it reads all entries at most once a second: about 1 ms for 100,000. */
  #removeExpired(): void {
    const now = epochSeconds(this.#clock);
    if (now < this.#nextExpiry) return;
    let nextExpiry = Infinity;
    let removed = 0;
    for (const slot of this.#slots.values()) {
      if (slot.stored.expiresAt > now) {
        nextExpiry = Math.min(nextExpiry, slot.stored.expiresAt);
      } else {
        this.#remove(slot);
        removed += 1;
        if (removed === SLICE) return;
      }
    }
    this.#nextExpiry = nextExpiry;
  }

  #full(): StoreUnavailableError {
    return new StoreUnavailableError(
      `The memory store is full: it holds ${String(this.#maxSessions)} signed-in sessions. Raise maxSessions, or use a store outside the process.`,
      { retryAfter: FULL_RETRY_SECONDS },
    );
  }

  /** An empty store has no timer, so that a finished process can exit with any clock. */
  #scheduleSweep(): void {
    this.#cancelSweep ??= this.#clock.timer(SWEEP_MILLISECONDS, () => void this.#sweep());
  }

  async #sweep(): Promise<void> {
    let swept = 0;
    for (const slot of this.#slots.values()) {
      if (this.#isExpired(slot)) this.#remove(slot);
      swept += 1;
      if (swept % SLICE === 0) await nextTurn();
    }
    // Between two slices the store may have become empty and filled again, and may have a new timer.
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    if (this.#slots.size > 0) this.#scheduleSweep();
  }
}

function storedOf(entry: Entry, version: string, expiresAt: EpochSeconds, lastActive: EpochSeconds | undefined): Stored {
  const { lastActive: _replaced, ...fields } = entry;
  return Object.freeze({ ...fields, version, expiresAt, ...(lastActive !== undefined && { lastActive }) });
}

function later(stored: EpochSeconds | undefined, given: EpochSeconds | undefined): EpochSeconds | undefined {
  if (stored === undefined || given === undefined) return stored ?? given;
  return Math.max(stored, given);
}

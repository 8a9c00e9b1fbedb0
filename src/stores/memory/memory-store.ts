import { StoreUnavailableError } from "../../errors.js";
import type { EndWatcher, Entry, SessionStore, Stored } from "../../ports/session-store.js";
import { epochSeconds, nextTurn, systemClock, type Clock, type EpochSeconds } from "../../clock.js";
import { EndsInProcess } from "./ends.js";
import { ExpiryQueue, type Slot } from "./expiry-queue.js";

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
/** Entries that are removed or checked before other work runs: about a millisecond. */
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
 * When the store is full, expired entries are dropped first, then the pending login that would expire soonest. If only signed-in
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

/**
 * The methods are not async functions, because their results are known at once. Signed-in sessions and pending logins have separate
 * queues, because only pending logins may be evicted.
 */
class MemoryStore implements SessionStore {
  readonly name = "memory";
  readonly inProcess = true;

  readonly #clock: Clock;
  readonly #maxSessions: number;
  readonly #slots = new Map<string, Slot>();
  /** An index, because anyone can cause a lookup by `sid` with a front-channel request. */
  readonly #bySid = new Map<string, Set<Slot>>();
  readonly #signedIn = new ExpiryQueue();
  readonly #pending = new ExpiryQueue();
  readonly #ends = new EndsInProcess();
  /** Counts the writes of the whole store, so that every version is unique. */
  #writes = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(clock: Clock, maxSessions: number) {
    this.#clock = clock;
    this.#maxSessions = maxSessions;
  }

  get(key: string): Promise<Stored | undefined> {
    const slot = this.#slots.get(key);
    return slot === undefined || this.#isExpired(slot) ? NOTHING : Promise.resolve(slot.stored);
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    const present = this.#slots.get(key);
    if (present !== undefined) {
      if (!this.#isExpired(present)) return NO;
      this.#remove(present);
    }
    if (this.#slots.size >= this.#maxSessions && !this.#makeRoom()) return Promise.reject(this.#full());
    const stored = this.#write(entry, entry.expiresAt, entry.lastActive);
    const slot: Slot = { key, stored, order: this.#writes, position: 0 };
    this.#slots.set(key, slot);
    this.#queueOf(stored).add(slot);
    this.#indexSid(slot);
    this.#scheduleSweep();
    return YES;
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    const slot = this.#live(key);
    if (slot === undefined || slot.stored.version !== version) return NO;
    const { expiresAt, lastActive } = slot.stored;
    this.#queueOf(slot.stored).remove(slot);
    this.#forgetSid(slot);
    slot.stored = this.#write(entry, Math.max(expiresAt, entry.expiresAt), later(lastActive, entry.lastActive));
    this.#queueOf(slot.stored).add(slot);
    this.#indexSid(slot);
    return YES;
  }

  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean> {
    const slot = this.#live(key);
    if (slot === undefined) return NO;
    const { stored } = slot;
    const stamp = later(stored.lastActive, lastActive ?? undefined);
    const isRenewed = expiresAt > stored.expiresAt;
    if (!isRenewed && stamp === stored.lastActive) return YES;
    slot.stored = storedOf(stored, stored.version, isRenewed ? expiresAt : stored.expiresAt, stamp);
    if (isRenewed) this.#queueOf(stored).postponed(slot);
    return YES;
  }

  delete(key: string): Promise<Stored | undefined> {
    const slot = this.#slots.get(key);
    if (slot === undefined) return NOTHING;
    const isLive = !this.#isExpired(slot);
    this.#remove(slot);
    return isLive ? Promise.resolve(slot.stored) : NOTHING;
  }

  listBySubject(subject: string): Promise<string[]> {
    return this.#listOf(subject);
  }

  async listBySid(sid: string): Promise<string[]> {
    return [...(this.#bySid.get(sid) ?? [])].filter((slot) => !this.#isExpired(slot)).map(({ key }) => key);
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
    this.#ends.announce(key, reason);
  }

  watchEnds(watcher: EndWatcher): () => void {
    return this.#ends.watch(watcher);
  }

  /** Scans all entries in slices. An index would cost memory for every session, and only signed-in users cause this scan. */
  async #listOf(subject: string): Promise<string[]> {
    const keys: string[] = [];
    let looked = 0;
    for (const slot of this.#slots.values()) {
      if (slot.stored.subject === subject && !this.#isExpired(slot)) keys.push(slot.key);
      looked += 1;
      if (looked % SLICE === 0) await nextTurn();
    }
    return keys;
  }

  #live(key: string): Slot | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined || this.#isExpired(slot) ? undefined : slot;
  }

  #isExpired(slot: Slot): boolean {
    return slot.stored.expiresAt <= epochSeconds(this.#clock);
  }

  #queueOf(stored: Stored): ExpiryQueue {
    return stored.subject === undefined ? this.#pending : this.#signedIn;
  }

  #write(entry: Entry, expiresAt: EpochSeconds, lastActive: EpochSeconds | undefined): Stored {
    this.#writes += 1;
    return storedOf(entry, String(this.#writes), expiresAt, lastActive);
  }

  #remove(slot: Slot): void {
    this.#slots.delete(slot.key);
    this.#queueOf(slot.stored).remove(slot);
    this.#forgetSid(slot);
    if (this.#slots.size > 0) return;
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #indexSid(slot: Slot): void {
    const { sid } = slot.stored;
    if (sid === undefined) return;
    const slots = this.#bySid.get(sid);
    if (slots === undefined) this.#bySid.set(sid, new Set([slot]));
    else slots.add(slot);
  }

  #forgetSid(slot: Slot): void {
    const { sid } = slot.stored;
    const slots = sid === undefined ? undefined : this.#bySid.get(sid);
    if (sid === undefined || slots === undefined) return;
    slots.delete(slot);
    if (slots.size === 0) this.#bySid.delete(sid);
  }

  #firstExpired(): Slot | undefined {
    return [this.#pending.first, this.#signedIn.first].find((slot) => slot !== undefined && this.#isExpired(slot));
  }

  #makeRoom(): boolean {
    const leaving = this.#firstExpired() ?? this.#pending.first;
    if (leaving === undefined) return false;
    this.#remove(leaving);
    return true;
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
    let removed = 0;
    for (let slot = this.#firstExpired(); slot !== undefined; slot = this.#firstExpired()) {
      this.#remove(slot);
      removed += 1;
      if (removed % SLICE === 0) await nextTurn();
    }
    // Between two slices the store may have become empty and filled again, and may have a new timer.
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    if (this.#slots.size > 0) this.#scheduleSweep();
  }
}

/** Optional fields that are absent stay absent. */
function storedOf(entry: Entry, version: string, expiresAt: EpochSeconds, lastActive: EpochSeconds | undefined): Stored {
  const { data, subject, sid, summary } = entry;
  return Object.freeze({
    data,
    version,
    expiresAt,
    ...(lastActive !== undefined && { lastActive }),
    ...(subject !== undefined && { subject }),
    ...(sid !== undefined && { sid }),
    ...(summary !== undefined && { summary }),
  });
}

function later(stored: EpochSeconds | undefined, given: EpochSeconds | undefined): EpochSeconds | undefined {
  if (stored === undefined || given === undefined) return stored ?? given;
  return Math.max(stored, given);
}

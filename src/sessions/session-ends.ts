import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionRecord } from "../record/record.js";
import type { Handle } from "./record-codec.js";
import type { ReportedStore } from "./reported-store.js";
import type { SessionEntries } from "./session-entries.js";
import { judge, untilEnd, type EndReason, type PolicySettings, type SessionEnd } from "../record/session-policy.js";

/** Milliseconds between two looks at the limits of the watched sessions. */
const TICK = 1_000;
/** Milliseconds between two looks at the watched sessions in the store, if the store tells nothing. An end shows within two ticks more. */
const POLL = 3_000;
/** The same if the store tells of ends: only for a message that was lost. */
const SAFETY_POLL = 60_000;
/** Milliseconds after which a look that has not settled no longer keeps the next one waiting. Some session middleware never responds. */
const LOOK_LIMIT = 30_000;
/** Sessions that are read together. */
const BATCH = 500;

/** What a look at a stored session found. */
export interface Looked {
  /** Undefined: the session is gone. */
  readonly record: SessionRecord | undefined;
  /** Why it is gone, if it left a trace. */
  readonly reason?: EndReason | undefined;
}

/** Reads the newest state of several sessions, in their order. Undefined: this one cannot be read now. It rejects in an outage. */
export type Look<Target> = (targets: readonly Target[]) => Promise<readonly (Looked | undefined)[]>;

interface Watched<Target> {
  readonly target: Target;
  readonly listeners: Set<(reason: SessionEnd) => void>;
  /** When a limit may end the session. */
  dueAt: EpochSeconds;
  /** A look found neither the session nor its trace. */
  isGone?: boolean;
}

export interface SessionEndsOptions<Target> {
  readonly look: Look<Target>;
  readonly clock: Clock;
  readonly policy: PolicySettings;
  /** Tells of ends in other processes, if it can. */
  readonly store?: Pick<SessionStore, "announceEnd" | "watchEnds"> | undefined;
  /** Called when the store stops telling of ends after it did. */
  readonly onLost?: () => void;
}

/**
 * Watches sessions for connections that stay open. While there are any, one timer runs in the process; the store is read every few
 * seconds at most, whatever the number of connections. An outage ends no session.
 */
export class SessionEnds<Target> {
  readonly #options: SessionEndsOptions<Target>;
  readonly #watched = new Map<string, Watched<Target>>();
  #cancelTick: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #isConnected = false;
  #pollAt = 0;
  #polling: Promise<void> | undefined;
  #pollingSince = 0;

  constructor(options: SessionEndsOptions<Target>) {
    this.#options = options;
  }

  /**
   * Calls a function once when the session ends.
   *
   * @param key the session's key
   * @returns a function that stops it
   */
  watch(key: string, target: Target, listener: (reason: SessionEnd) => void): () => void {
    let watched = this.#watched.get(key);
    // Due at once: the session may have ended since it was read.
    if (watched === undefined) this.#watched.set(key, (watched = { target, listeners: new Set(), dueAt: 0 }));
    const { listeners } = watched;
    listeners.add(listener);
    this.#run();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watched.get(key)?.listeners === listeners) this.#watched.delete(key);
      this.#restIfIdle();
    };
  }

  /** Reports the end of a session in this process, and tells the other processes. */
  ended(key: string, reason: SessionEnd): void {
    this.#fire(key, reason);
    void this.#announce(key, reason);
  }

  /** Never rejects: the session has ended, whether a store can tell of it or not. */
  async #announce(key: string, reason: SessionEnd): Promise<void> {
    try {
      await this.#options.store?.announceEnd?.(key, reason);
    } catch {
      // The other processes poll.
    }
  }

  #fire(key: string, reason: SessionEnd): void {
    const watched = this.#watched.get(key);
    if (watched === undefined) return;
    this.#watched.delete(key);
    for (const listener of watched.listeners) listener(reason);
    this.#restIfIdle();
  }

  #run(): void {
    if (this.#cancelTick !== undefined) return;
    const { clock, store } = this.#options;
    this.#pollAt = clock.monotonic() + POLL;
    this.#unwatch = store?.watchEnds?.({
      ended: (key, reason) => {
        const watched = this.#watched.get(key);
        if (watched !== undefined) void this.#lookAt([[key, watched]], reason);
      },
      connected: (isConnected) => {
        if (this.#isConnected && !isConnected) this.#options.onLost?.();
        this.#isConnected = isConnected;
        // An end between the last look and this moment was not told.
        this.#pollAt = 0;
      },
    });
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelTick = this.#options.clock.timer(TICK, () => {
      this.#schedule();
      this.#tick();
    });
  }

  #restIfIdle(): void {
    if (this.#watched.size > 0) return;
    this.#cancelTick?.();
    this.#unwatch?.();
    this.#cancelTick = this.#unwatch = undefined;
    this.#isConnected = false;
  }

  #tick(): void {
    const { clock } = this.#options;
    if (this.#polling !== undefined && clock.monotonic() - this.#pollingSince < LOOK_LIMIT) return;
    const isPoll = clock.monotonic() >= this.#pollAt;
    const now = epochSeconds(clock);
    const due = [...this.#watched].filter(([, { dueAt }]) => isPoll || dueAt <= now);
    if (isPoll) this.#pollAt = clock.monotonic() + (this.#isConnected ? SAFETY_POLL : POLL);
    if (due.length === 0) return;
    const polling = this.#lookAtAll(due).finally(() => {
      if (this.#polling === polling) this.#polling = undefined;
    });
    [this.#polling, this.#pollingSince] = [polling, clock.monotonic()];
  }

  async #lookAtAll(entries: readonly (readonly [string, Watched<Target>])[]): Promise<void> {
    for (let start = 0; start < entries.length; start += BATCH) await this.#lookAt(entries.slice(start, start + BATCH));
  }

  /** @param told the reason that another process gave; unchecked */
  async #lookAt(entries: readonly (readonly [string, Watched<Target>])[], told?: string): Promise<void> {
    const found = await this.#options.look(entries.map(([, { target }]) => target)).catch(() => []);
    const { clock, policy } = this.#options;
    const now = epochSeconds(clock);
    entries.forEach(([key, watched], index) => {
      const looked = found[index];
      if (looked === undefined || this.#watched.get(key) !== watched) return;
      const { record, reason } = looked;
      if (record === undefined) {
        // The trace is written after the delete, so the next tick looks for it once more. A told end has left its trace already.
        const isFinal = reason !== undefined || told !== undefined || watched.isGone === true;
        if (isFinal) this.#fire(key, reason ?? (told === "replaced" ? "replaced" : "logout"));
        else Object.assign(watched, { isGone: true, dueAt: 0 });
        return;
      }
      const verdict = judge(record, policy, now);
      if (verdict.kind === "ended") this.#fire(key, verdict.reason);
      else watched.dueAt = now + untilEnd(record, policy, now);
    });
  }
}

/** Reads bundled sessions by their handles. */
export function lookInto(store: ReportedStore, entries: SessionEntries): Look<Handle> {
  return async (handles) => {
    const found = await store.getMany(handles.map(({ key }) => key));
    return handles.map((handle) => {
      const stored = found.get(handle.key);
      const reason: EndReason | undefined = stored && (entries.endOf(stored, handle) ?? "no_credentials");
      return { record: stored && entries.recordOf(stored, handle), reason };
    });
  };
}

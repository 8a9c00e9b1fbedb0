import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionRecord } from "../record/record.js";
import { judge, untilEnd, type EndReason, type PolicySettings, type SessionEnd } from "../record/session-policy.js";

/** Milliseconds between two checks of the limits of the watched sessions. */
const TICK = 1_000;
/** Milliseconds between two reads of all watched sessions, if the store announces no ends. Listeners run at most two ticks later. */
const POLL = 3_000;
/** The same if the store announces ends. These reads find an end whose announcement was lost. */
const SAFETY_POLL = 60_000;
/** Milliseconds after which a look that has not settled no longer keeps the next one waiting. Some session middleware never responds. */
const LOOK_LIMIT = 30_000;
/** Sessions that are read together. */
const BATCH = 500;

/** The result of reading a watched session. */
export interface Looked {
  /** Undefined: the session is gone. */
  readonly record: SessionRecord | undefined;
  /** Why it is gone, if it left a trace. */
  readonly reason?: EndReason | undefined;
}

/** Reads the newest state of several sessions, in their order. Undefined: this session cannot be read now. Rejects in an outage. */
export type Look<Target> = (targets: readonly Target[]) => Promise<readonly (Looked | undefined)[]>;

interface Watched<Target> {
  readonly target: Target;
  readonly listeners: Set<(reason: SessionEnd) => void>;
  /** When a limit may end the session. */
  dueAt: EpochSeconds;
  /** A read found neither the session nor its trace. */
  isGone?: boolean;
}

export interface SessionEndWatchOptions<Target> {
  readonly look: Look<Target>;
  readonly clock: Clock;
  readonly policy: PolicySettings;
  /** Announces ends between processes, if it has the methods. */
  readonly store?: Pick<SessionStore, "announceEnd" | "watchEnds"> | undefined;
  /** Called when the store no longer announces ends. */
  readonly onLost?: () => void;
}

/**
 * Watches sessions for connections that stay open. While sessions are watched, one timer runs in the process. Each tick reads all due
 * sessions together, however many connections they have. An outage ends no session.
 */
export class SessionEndWatch<Target> {
  readonly #options: SessionEndWatchOptions<Target>;
  readonly #watched = new Map<string, Watched<Target>>();
  #cancelTick: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #isConnected = false;
  #pollAt = 0;
  #polling: Promise<void> | undefined;
  #pollingSince = 0;

  constructor(options: SessionEndWatchOptions<Target>) {
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

  /** Calls the listeners of a session that has ended, and announces the end to other processes. */
  ended(key: string, reason: SessionEnd): void {
    this.#fire(key, reason);
    const announce = async (): Promise<void> => this.#options.store?.announceEnd?.(key, reason);
    // Best effort: the other processes poll.
    announce().catch(() => undefined);
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
        // Ends since the last read were not announced to this process.
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

  /** @param told the announced reason; not validated */
  async #lookAt(entries: readonly (readonly [string, Watched<Target>])[], told?: string): Promise<void> {
    const found = await this.#options.look(entries.map(([, { target }]) => target)).catch(() => []);
    const { clock, policy } = this.#options;
    const now = epochSeconds(clock);
    entries.forEach(([key, watched], index) => {
      const looked = found[index];
      if (looked === undefined || this.#watched.get(key) !== watched) return;
      const { record, reason } = looked;
      if (record === undefined) {
        // The trace is written after the delete, so the next tick reads it once more. An announced end has left its trace already.
        const isFinal = reason !== undefined || told !== undefined || watched.isGone === true;
        if (isFinal) this.#fire(key, reason ?? (told === "replaced" ? "replaced" : "logout"));
        else [watched.isGone, watched.dueAt] = [true, 0];
        return;
      }
      watched.isGone = false;
      const verdict = judge(record, policy, now);
      if (verdict.kind === "ended") this.#fire(key, verdict.reason);
      else watched.dueAt = now + untilEnd(record, policy, now);
    });
  }
}

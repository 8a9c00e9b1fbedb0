import { AsyncResource } from "node:async_hooks";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { SessionEnd } from "../record/end-reason.js";
import type { SessionRecord } from "../record/record.js";
import { judge, untilEnd, type PolicySettings } from "../record/session-policy.js";
import type { EndAnnouncements } from "./store-failures.js";

/** Milliseconds between two checks of the limits of the watched sessions. */
const TICK_MS = 1_000;
/**
 * Milliseconds between two reads of all watched sessions, if the store announces no ends. Listeners
 * run at most two ticks later.
 */
const POLL_MS = 3_000;
/** The same if the store announces ends. These reads find an end whose announcement was lost. */
const SAFETY_POLL_MS = 60_000;
/**
 * Milliseconds after which a look that has not settled no longer keeps the next one waiting. Some
 * session middleware never responds.
 */
const LOOK_LIMIT_MS = 30_000;
/** Sessions that are read together. */
const BATCH_SESSIONS = 500;

/** The result of reading a watched session. */
export interface Looked {
  /** Undefined: the session is gone. */
  readonly record: SessionRecord | undefined;
  /** Why it is gone, if it left a trace. */
  readonly reason?: SessionEnd | undefined;
}

/**
 * Reads the newest state of several sessions, in their order. Undefined: this session cannot be
 * read now. Rejects in an outage.
 */
export type Look<Target> = (targets: readonly Target[]) => Promise<readonly (Looked | undefined)[]>;

/**
 * Where the one timer of all sessions runs. Otherwise every look, for as long as the process runs,
 * would be a part of the trace of the request that watched first.
 */
const OUTSIDE_OF_REQUESTS = new AsyncResource("idpauth.session-end-watch");

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
  readonly store?: EndAnnouncements | undefined;
  /** Called when the store no longer announces ends. */
  readonly onLost?: () => void;
}

/**
 * Watches sessions for connections that stay open. While sessions are watched, one timer runs in
 * the process. Each tick reads all due sessions together, however many connections they have. An
 * outage ends no session.
 */
export interface SessionEndWatch<Target> {
  /**
   * Calls a function once when the session ends.
   *
   * @param key the session's key
   * @returns a function that stops it
   */
  watch(key: string, target: Target, listener: (reason: SessionEnd) => void): () => void;
  /** Calls the listeners of a session that has ended, and announces the end to other processes. */
  ended(key: string, reason: SessionEnd): void;
}

export function createSessionEndWatch<Target>({
  look,
  clock,
  policy,
  store,
  onLost,
}: SessionEndWatchOptions<Target>): SessionEndWatch<Target> {
  const sessions = new Map<string, Watched<Target>>();
  let isConnected = false;
  let pollAt = 0;
  let pollingSince = 0;
  let cancelTick: (() => void) | undefined;
  let unwatch: (() => void) | undefined;
  let polling: Promise<void> | undefined;

  function watch(key: string, target: Target, listener: (reason: SessionEnd) => void): () => void {
    let watched = sessions.get(key);
    // Due at once: the session may have ended since it was read.
    if (watched === undefined)
      sessions.set(key, (watched = { target, listeners: new Set(), dueAt: 0 }));
    const { listeners } = watched;
    listeners.add(listener);
    if (cancelTick === undefined) OUTSIDE_OF_REQUESTS.runInAsyncScope(run);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && sessions.get(key)?.listeners === listeners) sessions.delete(key);
      restIfIdle();
    };
  }

  function ended(key: string, reason: SessionEnd): void {
    fire(key, reason);
    const announce = async (): Promise<void> => store?.announceEnd?.(key, reason);
    // Best effort: the other processes poll.
    announce().catch(() => undefined);
  }

  function fire(key: string, reason: SessionEnd): void {
    const watched = sessions.get(key);
    if (watched === undefined) return;
    sessions.delete(key);
    for (const listener of watched.listeners) listener(reason);
    restIfIdle();
  }

  function run(): void {
    pollAt = clock.monotonic() + POLL_MS;
    unwatch = store?.watchEnds?.({
      ended: (key, reason) => {
        const watched = sessions.get(key);
        if (watched !== undefined) void lookAt([[key, watched]], reason);
      },
      connected: (isNow) => {
        if (isConnected && !isNow) onLost?.();
        isConnected = isNow;
        // Ends since the last read were not announced to this process.
        pollAt = 0;
      },
    });
    schedule();
  }

  function schedule(): void {
    cancelTick = clock.timer(TICK_MS, () => {
      schedule();
      tick();
    });
  }

  function restIfIdle(): void {
    if (sessions.size > 0) return;
    cancelTick?.();
    unwatch?.();
    cancelTick = unwatch = undefined;
    isConnected = false;
  }

  function tick(): void {
    if (polling !== undefined && clock.monotonic() - pollingSince < LOOK_LIMIT_MS) return;
    const isPoll = clock.monotonic() >= pollAt;
    const now = epochSeconds(clock);
    const due = [...sessions].filter(([, { dueAt }]) => isPoll || dueAt <= now);
    if (isPoll) pollAt = clock.monotonic() + (isConnected ? SAFETY_POLL_MS : POLL_MS);
    if (due.length === 0) return;
    const poll = lookAtAll(due).finally(() => {
      if (polling === poll) polling = undefined;
    });
    [polling, pollingSince] = [poll, clock.monotonic()];
  }

  async function lookAtAll(
    entries: readonly (readonly [string, Watched<Target>])[],
  ): Promise<void> {
    for (let start = 0; start < entries.length; start += BATCH_SESSIONS)
      await lookAt(entries.slice(start, start + BATCH_SESSIONS));
  }

  /** @param told the announced reason; not validated */
  async function lookAt(
    entries: readonly (readonly [string, Watched<Target>])[],
    told?: string,
  ): Promise<void> {
    const found = await look(entries.map(([, { target }]) => target)).catch(() => []);
    const now = epochSeconds(clock);
    entries.forEach(([key, watched], index) => {
      const looked = found[index];
      if (looked === undefined || sessions.get(key) !== watched) return;
      const { record, reason } = looked;
      if (record === undefined) {
        // The trace is written after the delete, so the next tick reads it once more. An announced
        // end has left its trace already.
        const isFinal = reason !== undefined || told !== undefined || watched.isGone === true;
        if (isFinal) fire(key, reason ?? (told === "replaced" ? "replaced" : "logout"));
        else [watched.isGone, watched.dueAt] = [true, 0];
        return;
      }
      watched.isGone = false;
      const verdict = judge(record, policy, now);
      if (verdict.kind === "ended") fire(key, verdict.reason);
      else watched.dueAt = now + untilEnd(record, policy, now);
    });
  }

  return { watch, ended };
}

import type { Clock } from "../clock.js";
import { createBackOff, type BackOff, type Trouble } from "./endpoint-back-off.js";

/** Milliseconds. If a second session fails within this time, the provider has an outage; the first session's token is not the cause. */
const SHARED_WITHIN = 10_000;

/** The maximum number of sessions with a back-off. The oldest is removed first. */
const MAX_SESSIONS = 10_000;

/**
 * The back-off of refreshes: a shared one for an outage of the provider, and one for each session that fails. A session
 * whose token always fails never delays another session.
 */
export class RefreshBackOff {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #shared: BackOff;
  readonly #sessions = new Map<string, BackOff>();
  #last: { readonly session: string; readonly at: number } | undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#shared = createBackOff(clock, random);
  }

  /** @throws ProviderUnavailableError `backing_off` */
  assertReady(session: string): void {
    this.#shared.assertReady();
    this.#sessions.get(session)?.assertReady();
  }

  /** Reports a failure that no session's token can cause, such as no response. */
  allFailed(startedAt: number, trouble?: Trouble): number {
    return this.#shared.failed(startedAt, trouble);
  }

  /** Reports a response that asks for a later retry, such as 5xx or 429. A second session's failure within 10 s concerns all sessions. */
  sessionFailed(session: string, startedAt: number, trouble?: Trouble): number {
    const seconds = this.tokenFailed(session, startedAt, trouble);
    const now = this.#clock.monotonic();
    const other = this.#last;
    this.#last = { session, at: now };
    if (other === undefined || other.session === session || now - other.at > SHARED_WITHIN) return seconds;
    return Math.max(seconds, this.#shared.failed(startedAt, trouble));
  }

  /** Reports a response that this session's token may have caused, such as 403. It never concerns another session. */
  tokenFailed(session: string, startedAt: number, trouble?: Trouble): number {
    const backOff = this.#sessions.get(session) ?? createBackOff(this.#clock, this.#random);
    // Moved to the end of the map, as the newest.
    this.#sessions.delete(session);
    this.#sessions.set(session, backOff);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return backOff.failed(startedAt, trouble);
  }

  succeeded(session: string): void {
    this.#shared.succeeded();
    this.#sessions.delete(session);
  }
}

import type { Clock } from "../clock.js";
import { createBackOff, type BackOff, type Trouble } from "./back-off.js";

/** Milliseconds within which a second session's trouble shows that the provider has it, not the first session's token. */
const SHARED_WITHIN = 10_000;

/** Sessions whose back-off is remembered; the oldest goes first. */
const MAX_SESSIONS = 10_000;

/**
 * The back-off of refreshes: one that all sessions share, for an outage of the provider, and one for each session in trouble. A
 * session whose token always fails keeps no other session waiting. Our decision.
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

  /** No response, or one that no session's token can cause. */
  allFailed(startedAt: number, trouble?: Trouble): number {
    return this.#shared.failed(startedAt, trouble);
  }

  /** A response that asks this session to come back later: 5xx, 429 and the like. A second session's within 10 s concerns all. */
  sessionFailed(session: string, startedAt: number, trouble?: Trouble): number {
    const seconds = this.tokenFailed(session, startedAt, trouble);
    const now = this.#clock.monotonic();
    const other = this.#last;
    this.#last = { session, at: now };
    if (other === undefined || other.session === session || now - other.at > SHARED_WITHIN) return seconds;
    return Math.max(seconds, this.#shared.failed(startedAt, trouble));
  }

  /** A response that this session's own token may have caused, such as 403: it never concerns another session. */
  tokenFailed(session: string, startedAt: number, trouble?: Trouble): number {
    const backOff = this.#sessions.get(session) ?? createBackOff(this.#clock, this.#random);
    // At the end of the map, as the newest.
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

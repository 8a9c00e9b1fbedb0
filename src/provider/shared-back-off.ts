/** When failures of single sessions block the requests of all sessions, and who may pass. */
import type { Clock } from "../clock.js";
import { createBackOff, type BackOff, type Failure } from "./back-off.js";
import { untilAborted } from "./http-to-provider.js";

/**
 * If a second session fails within this time, and nothing has succeeded since the first one began
 * to fail, the provider has an outage; neither session's token is the cause.
 */
const SHARED_FAILURE_MS = 10_000;

/**
 * After as many sessions in a row have failed while the back-off is open, none is let through until
 * it ends: an overloaded provider must not get a request for each session. Our decision.
 */
const MAX_OPEN_FAILURES = 10;

/** After this time, a trial whose end was not reported is over. Longer than a refresh can take. */
const MAX_TRIAL_MS = 60_000;

/** A session, or an API of it, that wants to send a request. */
export interface Contender {
  readonly session: string;
  /** Whether its own requests fail. */
  readonly hasFailed: boolean;
}

/** A session whose requests fail. */
export interface FailingSession {
  readonly session: string;
  /** The clock's `monotonic()` when the first request began that failed since its last success. */
  readonly failingSince: number;
}

/**
 * The back-off of all sessions at one endpoint. A network failure, a timeout or a refused client
 * opens it at once. A response such as 500 may be about one session's token: some providers answer
 * so for every deleted user. It opens the back-off only if a second session fails too, and nothing
 * has succeeded in between. Even then, sessions that have not failed are let through, one at a time,
 * and the success of one closes it.
 */
export interface SharedBackOff {
  secondsLeft(): number;
  /** @throws ProviderUnavailableError `backing_off`, unless `enter` may let this session through */
  assertReady(contender: Contender): void;
  /**
   * Waits for this session's turn. Call `leave` after its request.
   *
   * @throws ProviderUnavailableError `backing_off`, or `timeout`: the signal ends the wait
   */
  enter(contender: Contender, signal: AbortSignal): Promise<void>;
  leave(session: string): void;
  /** Reports a failure that concerns all sessions. @returns the seconds that are left */
  failedForAll(startedAt: number, failure: Failure): number;
  /** Reports a failure that may concern this session alone. @returns the seconds that are left */
  failedForOne(failing: FailingSession, startedAt: number, failure: Failure): number;
  /** Reports a success elsewhere at this endpoint: failures before it concern single sessions. */
  works(): void;
  /** Reports a success that closes the back-off. */
  succeeded(): void;
}

/** The session that is let through while the back-off is open. */
interface Trial {
  readonly session: string;
  readonly startedAt: number;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

export function createSharedBackOff(clock: Clock, random: () => number): SharedBackOff {
  return new SessionsBackOff(clock, random);
}

/** A class, because each of a thousand providers may have two. */
class SessionsBackOff implements SharedBackOff {
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  /** Whether responses alone have opened it. */
  #isByResponses = false;
  /** Of sessions, since it was opened. */
  #failuresWhileOpen = 0;
  #workedAt = -Infinity;
  /** The last failure of a session that may show an outage. */
  #last: { readonly session: string; readonly at: number } | undefined;
  #trial: Trial | undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#backOff = createBackOff(clock, random);
  }

  secondsLeft(): number {
    return this.#backOff.secondsLeft();
  }

  assertReady({ hasFailed }: Contender): void {
    if (hasFailed || !this.#isByResponses || this.#failuresWhileOpen >= MAX_OPEN_FAILURES)
      this.#backOff.assertReady();
  }

  async enter(contender: Contender, signal: AbortSignal): Promise<void> {
    while (this.#backOff.secondsLeft() > 0) {
      this.assertReady(contender);
      const now = this.#clock.monotonic();
      if (this.#trial === undefined || now - this.#trial.startedAt >= MAX_TRIAL_MS) {
        this.#endTrial();
        this.#trial = trialOf(contender.session, now);
        return;
      }
      const { ended } = this.#trial;
      await untilAborted(signal, () => ended);
    }
  }

  #endTrial(): void {
    this.#trial?.end();
    this.#trial = undefined;
  }

  leave(session: string): void {
    if (this.#trial?.session === session) this.#endTrial();
  }

  failedForAll(startedAt: number, failure: Failure): number {
    this.#isByResponses = false;
    return this.#backOff.failed(startedAt, failure);
  }

  failedForOne(
    { session, failingSince }: FailingSession,
    startedAt: number,
    failure: Failure,
  ): number {
    if (this.#backOff.secondsLeft() > 0) {
      this.#failuresWhileOpen += 1;
      // Of the same outage. Only Retry-After makes the wait longer.
      return this.#backOff.failed(-Infinity, failure);
    }
    if (failingSince <= this.#workedAt) return 0;
    const now = this.#clock.monotonic();
    const other = this.#last;
    this.#last = { session, at: now };
    if (other === undefined || other.session === session || now - other.at > SHARED_FAILURE_MS)
      return 0;
    this.#isByResponses = true;
    this.#failuresWhileOpen = 0;
    return this.#backOff.failed(startedAt, failure);
  }

  works(): void {
    this.#workedAt = this.#clock.monotonic();
    this.#last = undefined;
  }

  succeeded(): void {
    this.works();
    this.#backOff.succeeded();
    this.#endTrial();
  }
}

function trialOf(session: string, startedAt: number): Trial {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { session, startedAt, ended, end };
}

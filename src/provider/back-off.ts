import { ProviderUnavailableError } from "../errors.js";
import type { Clock } from "../clock.js";

const FIRST_SECONDS = 1;
const LONGEST_SECONDS = 30;
const LONGEST_RETRY_AFTER_SECONDS = 60;

export interface Trouble {
  readonly retryAfter?: string | null | undefined;
  readonly misconfigured?: boolean;
}

/** Keeps this process away from one endpoint for a while after an outage, so that a provider in trouble gets no storm. */
export interface BackOff {
  /** Seconds for which the endpoint is left alone, rounded up; 0: it may be asked. */
  secondsLeft(): number;
  /** @throws ProviderUnavailableError `backing_off`, with the seconds that are left */
  assertReady(): void;
  /**
   * An outage. The wait doubles once per wave, not once per request of it.
   *
   * @param startedAt the clock's `monotonic()` when the request began
   * @param trouble `retryAfter`: the response's Retry-After header; `misconfigured`: an operator has to act, and `assertReady` says so meanwhile
   * @returns seconds for which the endpoint is left alone now
   */
  failed(startedAt: number, trouble?: Trouble): number;
  /** The endpoint works; the next outage begins at the shortest wait again. */
  succeeded(): void;
}

/** @param random in [0, 1); spreads the processes of a fleet */
export function createBackOff(clock: Clock, random: () => number): BackOff {
  let seconds = 0;
  let failedAt = -Infinity;
  let until = -Infinity;
  let isMisconfigured = false;

  const secondsLeft = () => Math.max(0, Math.ceil((until - clock.monotonic()) / 1000));

  return {
    secondsLeft,
    assertReady() {
      const left = secondsLeft();
      if (left > 0) throw new ProviderUnavailableError("backing_off", { retryAfter: left, misconfigured: isMisconfigured });
    },
    failed(startedAt, { retryAfter, misconfigured = false } = {}) {
      const now = clock.monotonic();
      isMisconfigured = misconfigured;
      const asked = retryAfterSeconds(retryAfter, clock.now());
      if (startedAt > failedAt) {
        seconds = seconds === 0 ? FIRST_SECONDS : Math.min(seconds * 2, LONGEST_SECONDS);
        failedAt = now;
        until = now + (asked ?? seconds * (0.75 + random() / 4)) * 1000;
      } else if (asked !== undefined) {
        until = Math.max(until, now + asked * 1000);
      }
      return secondsLeft();
    },
    succeeded() {
      seconds = 0;
      failedAt = -Infinity;
      until = -Infinity;
    },
  };
}

/** Retry-After as seconds or as an HTTP date (RFC 9110 section 10.2.3), at most 60; undefined when it asks for no wait. */
export function retryAfterSeconds(value: string | null | undefined, now: number): number | undefined {
  if (value === null || value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) : undefined;
}

import { ProviderUnavailableError } from "../errors.js";
import type { Clock } from "../clock.js";

const FIRST_SECONDS = 1;
const LONGEST_SECONDS = 30;
const LONGEST_RETRY_AFTER_SECONDS = 60;

export interface Trouble {
  readonly retryAfter?: string | null | undefined;
  readonly misconfigured?: boolean;
}

/** Blocks requests to one endpoint for a while after an outage, so that the provider is not overloaded. */
export interface BackOff {
  /** Returns the seconds for which requests are blocked, rounded up; 0: not blocked. */
  secondsLeft(): number;
  /** @throws ProviderUnavailableError `backing_off`, with the seconds that are left */
  assertReady(): void;
  /**
   * Reports an outage. The wait doubles once for concurrent requests, not once per request.
   *
   * @param startedAt the clock's `monotonic()` when the request began
   * @param trouble `retryAfter`: the response's Retry-After header; `misconfigured`: an operator must act; `assertReady` throws with this flag
   * @returns the seconds for which requests are blocked now
   */
  failed(startedAt: number, trouble?: Trouble): number;
  /** Reports a success. The next outage starts with the shortest wait. */
  succeeded(): void;
}

/** @param random in [0, 1): jitter, so that processes do not retry at the same time */
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

/** Reads Retry-After, in seconds or as an HTTP date (RFC 9110 section 10.2.3). At most 60; undefined for no wait. */
export function retryAfterSeconds(value: string | null | undefined, now: number): number | undefined {
  if (value === null || value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) : undefined;
}

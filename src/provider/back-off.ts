import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";

const FIRST_WAIT_SECONDS = 1;
const MAX_WAIT_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 60;
/**
 * The reason of a request that was not sent, because `sign()` failed. The key service may throttle,
 * which strangers' logins can cause, so it never blocks other users.
 */
export const SIGNATURE_FAILED = "client_assertion";

/** A failed request. */
export interface Failure {
  readonly reason: string;
  /** Of the response. Undefined: no complete response came. */
  readonly status?: number | undefined;
  /** Whether the response's body asks to try again later. Its status may say something else. */
  readonly asksToTryLater?: boolean;
  /** The response's Retry-After header. */
  readonly retryAfter?: string | null | undefined;
  /** An operator must act. `assertReady` throws with this flag. */
  readonly misconfigured?: boolean;
  /** The longest wait in seconds; default 30. */
  readonly longest?: number;
}

/** A back-off, or what decides which back-off a failure concerns. */
export interface FailureListener {
  succeeded(): void;
  /**
   * @param startedAt the clock's `monotonic()` when the request began
   * @returns the seconds for which requests are blocked
   */
  failed(startedAt: number, failure: Failure): number;
}

/**
 * Blocks requests to one endpoint for a while after an outage, so that the provider is not
 * overloaded.
 */
export interface BackOff {
  /** Returns the seconds for which requests are blocked, rounded up; 0: not blocked. */
  secondsLeft(): number;
  /** @throws ProviderUnavailableError `backing_off`, with the seconds that are left */
  assertReady(): void;
  /**
   * Reports an outage. The wait doubles once for concurrent requests, not once per request.
   *
   * @param startedAt the clock's `monotonic()` when the request began
   * @returns the seconds for which requests are blocked now
   */
  failed(startedAt: number, failure?: Partial<Failure>): number;
  /** Reports a success. The next outage starts with the shortest wait. */
  succeeded(): void;
}

/**
 * @param random in [0, 1): jitter, so that processes do not retry at the same time
 * @param loginHelps whether a new sign-in is not blocked
 */
export function createBackOff(clock: Clock, random: () => number, loginHelps = false): BackOff {
  return new OutageBackOff(clock, random, loginHelps);
}

/** A class, because each provider has a dozen and an application may have a thousand providers. */
class OutageBackOff implements BackOff {
  protected readonly clock: Clock;
  readonly #random: () => number;
  readonly #loginHelps: boolean;
  #seconds = 0;
  #failedAt = -Infinity;
  #until = -Infinity;
  #isMisconfigured = false;

  constructor(clock: Clock, random: () => number, loginHelps: boolean) {
    this.clock = clock;
    this.#random = random;
    this.#loginHelps = loginHelps;
  }

  secondsLeft(): number {
    return Math.max(0, Math.ceil((this.#until - this.clock.monotonic()) / 1000));
  }

  assertReady(): void {
    const left = this.secondsLeft();
    if (left > 0)
      throw new ProviderUnavailableError("backing_off", {
        retryAfter: left,
        misconfigured: this.#isMisconfigured,
        loginHelps: this.#loginHelps,
      });
  }

  failed(
    startedAt: number,
    { retryAfter, misconfigured = false, longest = MAX_WAIT_SECONDS }: Partial<Failure> = {},
  ): number {
    const now = this.clock.monotonic();
    this.#isMisconfigured = misconfigured;
    const asked = retryAfterSeconds(retryAfter, this.clock.now());
    if (startedAt > this.#failedAt) {
      this.#seconds =
        this.#seconds === 0 ? FIRST_WAIT_SECONDS : Math.min(this.#seconds * 2, longest);
      this.#failedAt = now;
      this.#until = now + (asked ?? this.#seconds * (0.75 + this.#random() / 4)) * 1000;
    } else if (asked !== undefined) {
      this.#until = Math.max(this.#until, now + asked * 1000);
    }
    return this.secondsLeft();
  }

  succeeded(): void {
    this.#seconds = 0;
    this.#failedAt = -Infinity;
    this.#until = -Infinity;
  }
}

/**
 * Reads Retry-After, in seconds or as an HTTP date (RFC 9110 section 10.2.3). At most 60; undefined
 * for no wait.
 */
export function retryAfterSeconds(
  value: string | null | undefined,
  now: number,
): number | undefined {
  if (value === null || value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : undefined;
}

/**
 * Returns the back-off of requests that users cause one by one: sign-ins, and revocations at their
 * end. An attacker can send any code, and a response may concern one user only, so only failures
 * that neither a code nor a token can cause block other users.
 */
export function createSingleRequestBackOff(clock: Clock, random: () => number): BackOff {
  return new SingleRequestBackOff(clock, random, false);
}

class SingleRequestBackOff extends OutageBackOff {
  override failed(startedAt: number, failure: Partial<Failure> = {}): number {
    const { misconfigured = false, reason, retryAfter } = failure;
    if (reason === "invalid_client" || isWithoutResponse(failure))
      return super.failed(startedAt, { misconfigured });
    return retryAfterSeconds(retryAfter, this.clock.now()) ?? 1;
  }
}

/** Whether no complete response came, for a reason outside this process. */
export function isWithoutResponse({ status, reason }: Partial<Failure>): boolean {
  return status === undefined && reason !== "too_large" && reason !== SIGNATURE_FAILED;
}

/** Whether a status asks for a later retry. */
export function asksForRetry(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

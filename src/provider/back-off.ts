import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";

const FIRST_WAIT_SECONDS = 1;
const MAX_WAIT_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 60;
/** Each attempt whose tokens can't be verified spends another rotated refresh token. */
const MAX_UNVERIFIED_WAIT_SECONDS = 300;

/**
 * If a second session fails within this time, the provider has an outage; the first session's token
 * is not the cause.
 */
const SHARED_FAILURE_MS = 10_000;

/** The maximum number of back-offs of sessions and their APIs. The oldest is removed first. */
const MAX_BACK_OFFS = 10_000;

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
  let seconds = 0;
  let failedAt = -Infinity;
  let until = -Infinity;
  let isMisconfigured = false;

  const secondsLeft = () => Math.max(0, Math.ceil((until - clock.monotonic()) / 1000));

  return {
    secondsLeft,
    assertReady() {
      const left = secondsLeft();
      if (left > 0)
        throw new ProviderUnavailableError("backing_off", {
          retryAfter: left,
          misconfigured: isMisconfigured,
          loginHelps,
        });
    },
    failed(startedAt, { retryAfter, misconfigured = false, longest = MAX_WAIT_SECONDS } = {}) {
      const now = clock.monotonic();
      isMisconfigured = misconfigured;
      const asked = retryAfterSeconds(retryAfter, clock.now());
      if (startedAt > failedAt) {
        seconds = seconds === 0 ? FIRST_WAIT_SECONDS : Math.min(seconds * 2, longest);
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
 * Returns the back-off of sign-ins at one endpoint. An attacker can send any code, and a response
 * may concern one user only. So only failures that no code can cause block other users.
 */
export function createSignInBackOff(clock: Clock, random: () => number): BackOff {
  const shared = createBackOff(clock, random);
  return {
    ...shared,
    failed(startedAt, failure = {}) {
      const { misconfigured = false, reason, retryAfter } = failure;
      if (reason === "invalid_client" || isWithoutResponse(failure))
        return shared.failed(startedAt, { misconfigured });
      return retryAfterSeconds(retryAfter, clock.now()) ?? 1;
    },
  };
}

function isWithoutResponse({ status, reason }: Partial<Failure>): boolean {
  return status === undefined && reason !== "too_large" && reason !== SIGNATURE_FAILED;
}

/** Whether a status asks for a later retry. */
export function asksForRetry(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** What a refresh is for: a session's own tokens, or the token of one API. */
export interface RefreshOf {
  /** The session's key. */
  readonly session: string;
  readonly target?: { readonly api: string } | undefined;
}

/** Returns the key of what fails alone: a session, or an API of a session. */
export function keyOf({ session, target }: RefreshOf): string {
  return target === undefined ? session : `${session} ${target.api}`;
}

/**
 * The back-off of refreshes: a shared one for an outage of the provider, and one for each session
 * that fails, and for each API of it. A session whose token always fails never delays another
 * session, and an API that gets no tokens delays only this session's requests to this API.
 */
export interface RefreshBackOff {
  /**
   * @param api a refresh for this API also waits for its own back-off
   * @throws ProviderUnavailableError `backing_off`
   */
  assertReady(session: string, api?: string): void;
  /** Reports a failed refresh, or a failed userinfo request that confirms one. @returns seconds */
  failed(refresh: RefreshOf, startedAt: number, failure: Failure): number;
  /**
   * Reports new tokens that cannot be verified, which never concerns another session.
   *
   * @returns the error with the session's own wait
   */
  verificationFailed(
    refresh: RefreshOf,
    startedAt: number,
    error: ProviderUnavailableError,
  ): ProviderUnavailableError;
  /** The error of a failure: if only this session waits, a new sign-in may succeed at once. */
  withLogin(error: ProviderUnavailableError): ProviderUnavailableError;
  /** Reports that the token endpoint works. */
  responded(): void;
  /** Reports that new tokens are verified. */
  succeeded(refresh: RefreshOf): void;
}

export function createRefreshBackOff(clock: Clock, random: () => number): RefreshBackOff {
  const own = new Map<string, BackOff>();
  const shared = createBackOff(clock, random);
  let last: { readonly session: string; readonly at: number } | undefined;

  function assertReady(session: string, api?: string): void {
    shared.assertReady();
    own.get(session)?.assertReady();
    if (api !== undefined) own.get(`${session} ${api}`)?.assertReady();
  }

  function failed(refresh: RefreshOf, startedAt: number, failure: Failure): number {
    const { status, reason, misconfigured = false } = failure;
    const { session, target } = refresh;
    if (!misconfigured && isWithoutResponse(failure)) return shared.failed(startedAt, failure);
    // Whether a response is about the API or about the client, the session's own refresh shows.
    if (target !== undefined) return ownFailed(refresh, startedAt, failure);
    if (reason === "invalid_client") return shared.failed(startedAt, failure);
    // This session's token may have caused it, or the key service is busy.
    const isTokensFault = status !== undefined && status >= 400 && !asksForRetry(status);
    const seconds = ownFailed(refresh, startedAt, failure);
    if (misconfigured || isTokensFault || reason === SIGNATURE_FAILED) return seconds;
    const now = clock.monotonic();
    const other = last;
    last = { session, at: now };
    if (other === undefined || other.session === session || now - other.at > SHARED_FAILURE_MS)
      return seconds;
    return Math.max(seconds, shared.failed(startedAt, failure));
  }

  function verificationFailed(
    refresh: RefreshOf,
    startedAt: number,
    error: ProviderUnavailableError,
  ): ProviderUnavailableError {
    const { reason, cause, isMisconfiguration: misconfigured } = error;
    const isUnverified = reason === "unknown_key" || misconfigured;
    const longest = isUnverified ? MAX_UNVERIFIED_WAIT_SECONDS : MAX_WAIT_SECONDS;
    const retryAfter = ownFailed(refresh, startedAt, { misconfigured, longest });
    return withLogin(new ProviderUnavailableError(reason, { cause, retryAfter, misconfigured }));
  }

  /** Reports a failure that concerns only this session, or only this API of it. */
  function ownFailed(refresh: RefreshOf, startedAt: number, failure: Partial<Failure>): number {
    const key = keyOf(refresh);
    const backOff = own.get(key) ?? createBackOff(clock, random, true);
    // Moved to the end of the map, as the newest.
    own.delete(key);
    own.set(key, backOff);
    const [oldest] = own.keys();
    if (own.size > MAX_BACK_OFFS && oldest !== undefined) own.delete(oldest);
    return backOff.failed(startedAt, failure);
  }

  function withLogin(error: ProviderUnavailableError): ProviderUnavailableError {
    if (shared.secondsLeft() > 0) return error;
    const { reason, cause, retryAfter, isMisconfiguration: misconfigured } = error;
    const options = { cause, retryAfter, misconfigured, loginHelps: true };
    return new ProviderUnavailableError(reason, options);
  }

  function responded(): void {
    shared.succeeded();
  }

  function succeeded(refresh: RefreshOf): void {
    own.delete(keyOf(refresh));
  }

  return { assertReady, failed, verificationFailed, withLogin, responded, succeeded };
}

/** How long a session's entry and its cookie live, and when the user's activity renews them. */
import type { EpochSeconds } from "../clock.js";

const DEFAULT_TTL_SECONDS = 14 * 86_400;
/** Seconds by which the entry outlives the session, so that the browser learns why it has ended. */
const LONGER_THAN_SESSION_SECONDS = 86_400;

/**
 * Seconds that an entry lives in the store without a renewal, if `IDP_SESSION_TTL` isn't set.
 *
 * @param maxAge `IDP_SESSION_MAX_AGE`
 */
export function defaultTtl(maxAge: number | null): number {
  const forMaxAge = Math.min((maxAge ?? 0) + LONGER_THAN_SESSION_SECONDS, Number.MAX_SAFE_INTEGER);
  return Math.max(DEFAULT_TTL_SECONDS, forMaxAge);
}

/** Seconds between two renewals, at least of a session that lives for two days. */
const RENEWAL_SECONDS = 86_400;

/**
 * Browsers keep no cookie longer (RFC 6265bis section 5.5). The record alone decides when a session
 * ends.
 */
const MAX_COOKIE_SECONDS = 400 * 86_400;

/** Seconds between two renewals. A session that lives less than two days is renewed at half of it. */
export function renewalInterval(sessionTtl: number): number {
  return Math.min(RENEWAL_SECONDS, sessionTtl / 2);
}

/** Seconds for which the browser keeps the cookie. @param maxAge `IDP_SESSION_MAX_AGE` */
export function cookieLife(maxAge: number | null): number {
  return Math.min(MAX_COOKIE_SECONDS, (maxAge ?? MAX_COOKIE_SECONDS) + RENEWAL_SECONDS);
}

// A guard or an accessor can renew a session, but can't send its cookie. The lowest bit of the
// expiry says so to the next request that can: a `touch` stores nothing else, and a response that
// always sent the cookie could bring back the key that another tab's sign-in has just replaced.

/** The expiry of an entry whose cookie is as new: an even second. */
export function expiryWithCookie(time: EpochSeconds): EpochSeconds {
  return time + (time % 2);
}

/** The expiry of an entry whose cookie hasn't been sent since its renewal: an odd second. */
export function expiryWithoutCookie(time: EpochSeconds): EpochSeconds {
  return expiryWithCookie(time) - 1;
}

/** Whether the cookie hasn't been sent since the entry's renewal. */
export function lacksCookie(expiresAt: EpochSeconds): boolean {
  return expiresAt % 2 === 1;
}

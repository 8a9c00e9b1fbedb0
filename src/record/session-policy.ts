import { hasEpochTimePassed, type EpochSeconds } from "../clock.js";
import type { EndReason } from "./end-reason.js";
import type { SessionRecord } from "./record.js";

/**
 * What the policy decides about a session: valid, valid after a refresh, or ended. A refresh renews
 * the tokens, unless only the application's code has to accept the claims (`review_due`).
 */
export type Verdict =
  | { readonly kind: "valid" }
  | { readonly kind: "refresh"; readonly reason: "id_token_expired" | "review_due" }
  | { readonly kind: "ended"; readonly reason: EndReason };

/** The settings that the policy reads. Ages in seconds; null: no such session limit. */
export interface PolicySettings {
  readonly sessionAutoRefresh: boolean;
  readonly sessionMaxAge: number | null;
  readonly sessionIdleTimeout: number | null;
  /** Epoch seconds. A session that was signed in earlier has ended. */
  readonly sessionsNotBefore?: EpochSeconds | null;
  /** The version of the application's claims schema. Absent: there is no schema. */
  readonly claimsVersion?: string | undefined;
}

/**
 * Seconds by which a stamp may lie in the future, because the clocks of processes differ. A later
 * stamp is invalid.
 */
export const MAX_FUTURE_SECONDS = 300;

const VALID: Verdict = Object.freeze({ kind: "valid" });
const REFRESH: Verdict = Object.freeze({ kind: "refresh", reason: "id_token_expired" });
const REVIEW: Verdict = Object.freeze({ kind: "refresh", reason: "review_due" });

const ended = (reason: EndReason): Verdict => Object.freeze({ kind: "ended", reason });
const NO_CREDENTIALS = ended("no_credentials");
const MAX_AGE = ended("max_age");
const IDLE = ended("idle");
const SIGNED_IN_BEFORE = ended("signed_in_before");
const SESSION_EXPIRY = ended("session_expiry");
const REJECTED = { claims_rejected: ended("claims_rejected"), denied: ended("denied") };
const AUTO_REFRESH_OFF = ended("auto_refresh_off");
const REFRESH_REJECTED = ended("refresh_rejected");
const NO_REFRESH_TOKEN = ended("no_refresh_token");

/** Decides whether the session is valid, in the specification's order. */
export function judge(
  record: SessionRecord | undefined,
  settings: PolicySettings,
  now: EpochSeconds,
): Verdict {
  if (record?.credentials === undefined) return NO_CREDENTIALS;
  // 1. and 2. The session limits; 2b. the provider's own limit.
  const limit = limitReached(record, record.idp_state.session_expiry, settings, now);
  if (limit !== undefined) return limit;
  // The application's code has ended it.
  if (record.idp_state.rejected !== undefined) return REJECTED[record.idp_state.rejected];
  // 3. The ID token has not expired. Without a usable `exp` it counts as expired.
  if (!hasEpochTimePassed(record.id_info?.exp as number, now))
    return isReviewDue(record, settings) ? REVIEW : VALID;
  // 4. A refresh may extend a session within its limits.
  if (!settings.sessionAutoRefresh) return AUTO_REFRESH_OFF;
  if (record.credentials.refresh_token !== undefined) return REFRESH;
  // 5. There is nothing to refresh with.
  return record.idp_state.refresh_rejected === true ? REFRESH_REJECTED : NO_REFRESH_TOKEN;
}

/**
 * Whether the application's code has to accept the claims: after a refresh, or because its schema
 * has another version.
 */
function isReviewDue(
  { idp_state: state }: SessionRecord,
  { claimsVersion }: PolicySettings,
): boolean {
  return (
    state.review_due === true ||
    (claimsVersion !== undefined && state.claims_version !== claimsVersion)
  );
}

type Stamps = Pick<SessionRecord, "idp_login_at" | "idp_last_active">;

/**
 * The first session limit that these stamps exceed.
 * @param expiry the claim `session_expiry`; undefined: none
 */
// eslint-disable-next-line @typescript-eslint/max-params -- No object for each guarded request.
function limitReached(
  stamps: Stamps,
  expiry: unknown,
  { sessionMaxAge, sessionIdleTimeout, sessionsNotBefore }: PolicySettings,
  now: EpochSeconds,
): Verdict | undefined {
  // Counted from the sign-in; a refresh never moves it.
  if (sessionMaxAge !== null && isBeyond(stamps.idp_login_at, sessionMaxAge, now)) return MAX_AGE;
  if (sessionIdleTimeout !== null && isBeyond(stamps.idp_last_active, sessionIdleTimeout, now))
    return IDLE;
  // Unlike the ages, this limit also ends a session without a stamp: it may be an old one.
  if (
    typeof sessionsNotBefore === "number" &&
    !(now - (ageOf(stamps.idp_login_at, now) ?? Infinity) >= sessionsNotBefore)
  )
    return SIGNED_IN_BEFORE;
  if (expiry !== undefined && hasEpochTimePassed(expiry as number, now)) return SESSION_EXPIRY;
  return undefined;
}

/** Whether a session with these stamps exceeds no session limit. */
// eslint-disable-next-line @typescript-eslint/max-params -- No object for each guarded request.
export function isWithinLimits(
  stamps: Stamps,
  expiry: unknown,
  settings: PolicySettings,
  now: EpochSeconds,
): boolean {
  return limitReached(stamps, expiry, settings, now) === undefined;
}

/**
 * Whether more than `limit` seconds lie between the stamp and now. A missing stamp is within the
 * limit, an invalid one beyond.
 */
function isBeyond(stamp: unknown, limit: number, now: EpochSeconds): boolean {
  const age = ageOf(stamp, now);
  return age !== undefined && !(age <= limit);
}

/**
 * Seconds since the stamp: undefined for a missing stamp, NaN for an invalid one. Null is invalid:
 * JSON writes NaN as null.
 */
function ageOf(stamp: unknown, now: EpochSeconds): number | undefined {
  if (stamp === undefined) return undefined;
  if (typeof stamp !== "number" || !Number.isFinite(stamp) || stamp > now + MAX_FUTURE_SECONDS)
    return NaN;
  return Math.max(0, now - stamp);
}

/** Seconds until each limit of a session. Null: no such limit, or no stamp to count from. */
export interface Remaining {
  readonly idToken: number | null;
  readonly maxAge: number | null;
  readonly idle: number | null;
  readonly sessionExpiry: number | null;
}

/** Returns the seconds until each limit of the session; never below zero. */
export function remaining(
  record: SessionRecord,
  settings: PolicySettings,
  now: EpochSeconds,
): Remaining {
  const exp = record.id_info?.exp;
  return {
    idToken: typeof exp === "number" && Number.isFinite(exp) ? secondsUntil(exp, now) : null,
    maxAge: left(record.idp_login_at, settings.sessionMaxAge, now),
    idle: left(record.idp_last_active, settings.sessionIdleTimeout, now),
    sessionExpiry:
      record.idp_state.session_expiry === undefined
        ? null
        : secondsUntil(record.idp_state.session_expiry, now),
  };
}

/** Seconds until the session ends if the user does nothing more. Infinity: no limit applies. */
export function untilEnd(
  record: SessionRecord,
  settings: PolicySettings,
  now: EpochSeconds,
): number {
  const { idToken, maxAge, idle, sessionExpiry } = remaining(record, settings, now);
  const isRefreshable =
    settings.sessionAutoRefresh && record.credentials?.refresh_token !== undefined;
  return Math.min(
    ...[maxAge, idle, sessionExpiry, isRefreshable ? null : idToken].map(
      (seconds) => seconds ?? Infinity,
    ),
  );
}

/** Zero for a time that is no number. */
function secondsUntil(time: unknown, now: EpochSeconds): number {
  return typeof time === "number" && Number.isFinite(time) ? Math.max(0, time - now) : 0;
}

function left(stamp: unknown, limit: number | null, now: EpochSeconds): number | null {
  const age = ageOf(stamp, now);
  if (limit === null || age === undefined) return null;
  return Number.isNaN(age) ? 0 : Math.max(0, limit - age);
}

import type { SessionRecord } from "./record.js";
import { hasEpochTimePassed, type EpochSeconds } from "../clock.js";

/** Why a session does not count: the code that events, the log, the index and the guard's 401 carry. */
export type EndReason = "no_credentials" | "max_age" | "idle" | "auto_refresh_off" | "refresh_rejected" | "no_refresh_token";

/** What the gate says of a session: good as it is, good after a refresh, or ended. */
export type Verdict = { readonly kind: "valid" } | { readonly kind: "refresh" } | { readonly kind: "ended"; readonly reason: EndReason };

/** The settings that the gate looks at. Ages in seconds; null: no such cap. */
export interface PolicySettings {
  readonly sessionAutoRefresh: boolean;
  readonly sessionMaxAge: number | null;
  readonly sessionIdleTimeout: number | null;
}

/** A stamp this far in the future counts as now: the clocks of a fleet differ. Beyond it, the stamp is not believed. */
export const MAX_FUTURE_SECONDS = 300;

const VALID: Verdict = Object.freeze({ kind: "valid" });
const REFRESH: Verdict = Object.freeze({ kind: "refresh" });

const ended = (reason: EndReason): Verdict => Object.freeze({ kind: "ended", reason });
const NO_CREDENTIALS = ended("no_credentials");
const MAX_AGE = ended("max_age");
const IDLE = ended("idle");
const AUTO_REFRESH_OFF = ended("auto_refresh_off");
const REFRESH_REJECTED = ended("refresh_rejected");
const NO_REFRESH_TOKEN = ended("no_refresh_token");

/** The policy gate, in the specification's order. Pure: the same three in, the same verdict out. */
export function judge(record: SessionRecord | undefined, settings: PolicySettings, now: EpochSeconds): Verdict {
  if (record?.credentials === undefined) return NO_CREDENTIALS;
  // 1. and 2. The caps.
  const cap = limitReached(record, settings, now);
  if (cap !== undefined) return cap;
  // 3. The ID token is still good. No id_info, or none with a usable `exp`, counts as expired.
  if (!hasEpochTimePassed(record.id_info?.exp as number, now)) return VALID;
  // 4. A refresh may extend what no cap has ended.
  if (!settings.sessionAutoRefresh) return AUTO_REFRESH_OFF;
  if (record.credentials.refresh_token !== undefined) return REFRESH;
  // 5. Nothing left; say which of the two ways there was.
  return record.idp_state.refresh_rejected === true ? REFRESH_REJECTED : NO_REFRESH_TOKEN;
}

type Stamps = Pick<SessionRecord, "idp_login_at" | "idp_last_active">;

/** The first cap that has ended a session with these stamps. */
function limitReached(stamps: Stamps, { sessionMaxAge, sessionIdleTimeout }: PolicySettings, now: EpochSeconds): Verdict | undefined {
  // Anchored to the login; a refresh never moves it.
  if (sessionMaxAge !== null && isBeyond(stamps.idp_login_at, sessionMaxAge, now)) return MAX_AGE;
  if (sessionIdleTimeout !== null && isBeyond(stamps.idp_last_active, sessionIdleTimeout, now)) return IDLE;
  return undefined;
}

/** Whether neither cap has ended a session with these stamps, as far as they tell. Pure. */
export function isWithinLimits(stamps: Stamps, settings: PolicySettings, now: EpochSeconds): boolean {
  return limitReached(stamps, settings, now) === undefined;
}

/** Whether more than `limit` seconds lie between the stamp and now. A missing stamp is within, a broken one beyond. */
function isBeyond(stamp: unknown, limit: number, now: EpochSeconds): boolean {
  const age = ageOf(stamp, now);
  return age !== undefined && !(age <= limit);
}

/**
 * Seconds since the stamp: undefined for a missing one, NaN for one that cannot be believed. Null is not missing: it is
 * what JSON makes of a NaN.
 */
function ageOf(stamp: unknown, now: EpochSeconds): number | undefined {
  if (stamp === undefined) return undefined;
  if (typeof stamp !== "number" || !Number.isFinite(stamp) || stamp > now + MAX_FUTURE_SECONDS) return NaN;
  return Math.max(0, now - stamp);
}

/** Seconds until each limit of a session is reached; null where there is no such limit, or no stamp to count from. */
export interface Remaining {
  readonly idToken: number | null;
  readonly maxAge: number | null;
  readonly idle: number | null;
}

/** How long a session may go on as it is, never below zero. Pure. */
export function remaining(record: SessionRecord, settings: PolicySettings, now: EpochSeconds): Remaining {
  const exp = record.id_info?.exp;
  return {
    idToken: typeof exp === "number" && Number.isFinite(exp) ? Math.max(0, exp - now) : null,
    maxAge: left(record.idp_login_at, settings.sessionMaxAge, now),
    idle: left(record.idp_last_active, settings.sessionIdleTimeout, now),
  };
}

function left(stamp: unknown, limit: number | null, now: EpochSeconds): number | null {
  const age = ageOf(stamp, now);
  if (limit === null || age === undefined) return null;
  return Number.isNaN(age) ? 0 : Math.max(0, limit - age);
}

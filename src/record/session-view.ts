import { remaining, type PolicySettings } from "./policy.js";
import { deepFreeze, userPayload, type IdInfo, type SessionRecord, type UserPayload } from "./record.js";
import type { EpochSeconds } from "../clock.js";

/** The verified claims of the ID token. `iss` and `sub` together identify the user (OpenID Connect Core section 5.7). */
export interface Claims extends IdInfo {
  readonly iss: string;
  readonly sub: string;
}

/** The session of a signed-in user, as `getSession` gives it. Frozen. Times are epoch seconds, the unit of `exp`. */
export interface Session {
  readonly user: UserPayload;
  readonly claims: Claims;
  /** When the user signed in; null: not known. A refresh does not change it. */
  readonly signedInAt: EpochSeconds | null;
  /** When the user was last active, which is this request; null without an idle timeout (`IDP_SESSION_IDLE_TIMEOUT`). */
  readonly lastActive: EpochSeconds | null;
  /**
   * When the session ends if the user does nothing more: the earliest of the maximum age, the idle timeout and, where the ID token
   * cannot be refreshed, its `exp`. Null: none of them applies. The lifetime of an unused record (`IDP_SESSION_TTL`) does not count.
   */
  readonly expiresAt: EpochSeconds | null;
}

/**
 * The typed view of a record that has passed the gate. Pure.
 *
 * @returns null for a record that does not identify a user by `iss` and `sub`; idpauth writes no such record
 */
export function sessionView(record: SessionRecord, policy: PolicySettings, now: EpochSeconds): Session | null {
  const claims = record.id_info;
  if (!hasSubject(claims)) return null;
  const isStamped = policy.sessionIdleTimeout !== null;
  // The record was read before this access moved the stamp.
  const left = remaining(isStamped ? { ...record, idp_last_active: now } : record, policy, now);
  const isRefreshable = policy.sessionAutoRefresh && record.credentials?.refresh_token !== undefined;
  const ends = [left.maxAge, left.idle, isRefreshable ? null : left.idToken].filter((seconds) => seconds !== null);
  return deepFreeze({
    user: userPayload(claims),
    // The claims may be part of the framework's own session, which must stay changeable.
    // An ordinary object: a record's parts have no prototype. The memory store's record is frozen to its leaves already.
    claims: Object.isFrozen(claims) ? Object.freeze({ ...claims }) : structuredClone(claims),
    signedInAt: Number.isFinite(record.idp_login_at) ? (record.idp_login_at as EpochSeconds) : null,
    lastActive: isStamped ? now : null,
    expiresAt: ends.length === 0 ? null : now + Math.min(...ends),
  });
}

function hasSubject(claims: IdInfo | undefined): claims is Claims {
  return isText(claims?.iss) && isText(claims?.sub);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

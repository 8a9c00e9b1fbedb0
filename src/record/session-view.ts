import { remaining, type PolicySettings } from "./session-policy.js";
import { hasSubject, userPayload, type Claims, type UserPayload } from "./identity.js";
import { deepFreeze } from "./json.js";
import type { SessionRecord } from "./record.js";
import type { EpochSeconds } from "../clock.js";

/** The session of a signed-in user, as `getSession` returns it. Frozen. Times are epoch seconds, the unit of `exp`. */
export interface Session {
  readonly user: UserPayload;
  readonly claims: Claims;
  /** When the user signed in. Null: not known. A refresh does not change it. */
  readonly signedInAt: EpochSeconds | null;
  /** When the user was last active: the time of this request. Null without an idle timeout (`IDP_SESSION_IDLE_TIMEOUT`). */
  readonly lastActive: EpochSeconds | null;
  /**
   * When the session ends if the user does nothing more: the earliest of the maximum age, the idle timeout and, if the ID token
   * cannot be refreshed, its `exp`. Null: none of them applies. `IDP_SESSION_TTL`, the lifetime of an unused record, does not count.
   */
  readonly expiresAt: EpochSeconds | null;
}

/**
 * Returns the session that a record describes. The record has passed the policy gate.
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
    // A copy with an ordinary prototype. Claims in a framework's own session must stay unfrozen, so those are cloned. The memory
    // store's are frozen already.
    claims: Object.isFrozen(claims) ? Object.freeze({ ...claims }) : structuredClone(claims),
    signedInAt: Number.isFinite(record.idp_login_at) ? (record.idp_login_at as EpochSeconds) : null,
    lastActive: isStamped ? now : null,
    expiresAt: ends.length === 0 ? null : now + Math.min(...ends),
  });
}

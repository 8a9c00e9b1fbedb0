import type { EpochSeconds } from "../clock.js";
import {
  claimsWithOutput,
  hasSubject,
  sessionUser,
  type Claims,
  type SessionUser,
} from "./identity.js";
import { deepFreeze } from "./json.js";
import type { SessionRecord } from "./record.js";
import { untilEnd, type PolicySettings } from "./session-policy.js";
import { withoutUndefined } from "./without-undefined.js";

/**
 * The session of a signed-in user, as `getSession` returns it. Frozen. Times are epoch seconds, the
 * unit of `exp`. It is for the server only: what a browser may see is `clientState`.
 *
 * @typeParam OwnClaims the output of the claims schema
 * @typeParam Data the application's own data
 */
export interface Session<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /** From the verified claims: `id` is `sub`. */
  readonly user: SessionUser;
  /**
   * The verified claims; where the option `claims` is set, the output of the schema replaces claims
   * of the same name.
   */
  readonly claims: Claims & OwnClaims;
  /**
   * The data that `onSignIn` and `updateData` stored. Each key may be missing: a session that began
   * before the present `onSignIn` has what was stored then, and an empty object at first.
   * `IDP_SESSIONS_NOT_BEFORE` ends such sessions.
   */
  readonly data: Readonly<Partial<Data>>;
  /**
   * The key of the provider that the user signed in at. Absent: the application has one provider,
   * without a key.
   */
  readonly provider?: string;
  /** When the user signed in. Null: not known. A refresh does not change it. */
  readonly signedInAt: EpochSeconds | null;
  /**
   * When the user was last active: the time of this request. Null without an idle timeout
   * (`IDP_SESSION_IDLE_TIMEOUT`).
   */
  readonly lastActive: EpochSeconds | null;
  /**
   * When the session ends if the user does nothing more: the earliest of the maximum age, the idle
   * timeout, the provider's own limit (claim `session_expiry`) and, if the ID token cannot be
   * refreshed, its `exp`. Null: none of them applies. `IDP_SESSION_TTL`, the lifetime of an unused
   * record, does not count.
   */
  readonly expiresAt: EpochSeconds | null;
}

export interface SessionViewOptions {
  readonly policy: PolicySettings;
  readonly now: EpochSeconds;
  /** The key of the record's provider. */
  readonly provider?: string | undefined;
}

/**
 * Returns the session that a record describes. The record has passed the policy.
 *
 * @returns null for a record that does not identify a user by `iss` and `sub`; idpauth writes no
 *   such record
 */
export function sessionView(
  record: SessionRecord,
  { policy, now, provider }: SessionViewOptions,
): Session | null {
  const claims = record.id_info;
  if (!hasSubject(claims)) return null;
  const isStamped = policy.sessionIdleTimeout !== null;
  // The record was read before this access moved the stamp.
  const left = untilEnd(isStamped ? { ...record, idp_last_active: now } : record, policy, now);
  return deepFreeze({
    ...identityIn(record, claims, provider),
    ...withoutUndefined({ provider }),
    signedInAt: Number.isFinite(record.idp_login_at) ? (record.idp_login_at as EpochSeconds) : null,
    lastActive: isStamped ? now : null,
    expiresAt: left === Infinity ? null : now + left,
  });
}

/** The part of a session that its times do not change. Null as for `sessionView`. */
export function sessionIdentity(
  record: SessionRecord,
  provider: string | undefined,
): Pick<Session, "user" | "claims" | "data"> | null {
  const claims = record.id_info;
  return hasSubject(claims) ? deepFreeze(identityIn(record, claims, provider)) : null;
}

function identityIn(
  record: SessionRecord,
  claims: Claims,
  provider: string | undefined,
): Pick<Session, "user" | "claims" | "data"> {
  const { claims: output, data = {} } = record.idp_state;
  return {
    user: sessionUser(claims, provider),
    claims: viewOf(claimsWithOutput(claims, output), Object.isFrozen(claims)),
    data: viewOf(data, Object.isFrozen(data)),
  };
}

/**
 * Returns a value that can be frozen. Values in a framework's own session must stay unfrozen; the
 * memory store's are frozen already.
 */
function viewOf<Value extends object>(value: Value, isFrozen: boolean): Value {
  return isFrozen ? { ...value } : structuredClone(value);
}

/** The changes that a refresh makes to the record. */
import type { EpochSeconds } from "../clock.js";
import type { Credentials, SpentRefresh, Identity } from "./credentials.js";
import type { DpopBinding } from "./dpop.js";
import type { PrivateState, RefreshLease, Rejection, SessionRecord } from "./record.js";
import { withoutUndefined } from "./without-undefined.js";

/** A session that is refreshed has not ended: an end that was announced before has been lifted. */
export function withLease(record: SessionRecord, lease: RefreshLease): SessionRecord {
  const { ended: _lifted, ...state } = record.idp_state;
  return { ...record, idp_state: { ...state, lease } };
}

export function withoutLease(record: SessionRecord): SessionRecord {
  const { lease: _lease, ...state } = record.idp_state;
  return { ...record, idp_state: state };
}

/**
 * The record with a rotated refresh token, and with the key that it may be bound to. A record
 * without credentials has nothing to refresh, so it loses the lease.
 */
export function withRefreshToken(
  record: SessionRecord,
  { refreshToken, dpop }: Pick<SpentRefresh, "dpop"> & { readonly refreshToken: string },
): SessionRecord {
  if (record.credentials === undefined) return withoutLease(record);
  const credentials = { ...record.credentials, refresh_token: refreshToken };
  return withDpop({ ...record, credentials }, dpop);
}

/** The record with a key and its newest nonce. Undefined: the request had no proof. */
export function withDpop(record: SessionRecord, dpop: DpopBinding | undefined): SessionRecord {
  return dpop === undefined ? record : { ...record, idp_state: { ...record.idp_state, dpop } };
}

/**
 * The record after a refused refresh.
 *
 * @param dropped a refresh token that may still work at the provider
 */
export function withoutRefreshToken(
  record: SessionRecord,
  dropped: string | undefined,
): SessionRecord {
  const freed = withoutLease(record);
  if (freed.credentials === undefined) return freed;
  const { refresh_token: _spent, ...credentials } = freed.credentials;
  const idpState = {
    ...freed.idp_state,
    refresh_rejected: true as const,
    ...withoutUndefined({ dropped_token: dropped }),
  };
  return { ...freed, credentials, idp_state: idpState };
}

/**
 * The record after the application's code ended the session.
 *
 * @param revokes whether the refresh token is revoked at the provider; the record keeps it until
 *   then
 */
export function withRejection(
  record: SessionRecord,
  rejected: Rejection,
  revokes: boolean,
): SessionRecord {
  const { review_due: _due, ...state } = record.idp_state;
  const ended = withoutRefreshToken(
    { ...record, idp_state: state },
    revokes ? record.credentials?.refresh_token : undefined,
  );
  const { refresh_rejected: _rejected, ...rest } = ended.idp_state;
  return { ...ended, idp_state: { ...rest, rejected } };
}

export function withoutDroppedToken(record: SessionRecord, token: string): SessionRecord {
  const { dropped_token: dropped, ...state } = record.idp_state;
  return dropped === token ? { ...record, idp_state: state } : record;
}

/** The response to a refresh, and what it changes. */
export interface RefreshedTokens {
  readonly spent: SpentRefresh;
  readonly verified: Identity;
  /** The application's code must accept the tokens first; the lease stays until then. */
  readonly isReviewed?: boolean;
  /** The time of the refresh, if an API had rejected the access token. */
  readonly forcedAt?: EpochSeconds | undefined;
}

/**
 * The record after a successful refresh. `idp_login_at` stays: a refresh never extends the session
 * limits. An end that was announced during the refresh stays too, except the one by the provider's
 * own limit, which a refresh can move.
 */
export function withTokens(
  record: SessionRecord,
  { spent, verified, isReviewed = false, forcedAt }: RefreshedTokens,
): SessionRecord {
  const { idInfo, userinfoClaims } = verified;
  const freed = isReviewed && record.credentials !== undefined ? record : withoutLease(record);
  if (freed.credentials === undefined || spent.accessToken === undefined) return freed;
  const {
    access_token_expires_at: _old,
    userinfo_claims: _claims,
    refresh_rejected: _rejected,
    rejected_token: _rejectedToken,
    ended,
    ...rest
  } = freed.idp_state;
  const state = isReviewed ? rest : withoutOutput(rest);
  return {
    ...freed,
    credentials: renewed(freed.credentials, spent.accessToken, spent),
    id_info: idInfo,
    idp_state: {
      ...state,
      tokens_received_at: spent.receivedAt,
      ...laterExpiry(rest.session_expiry, idInfo["session_expiry"]),
      ...withoutUndefined({
        // The key stays while the token of an API may be bound to it.
        dpop: spent.dpop ?? rest.dpop,
        id_token: spent.idToken,
        id_token_alg: verified.idTokenAlg,
        userinfo_claims: userinfoClaims.length > 0 ? userinfoClaims : undefined,
        review_due: isReviewed ? true : undefined,
        forced_at: forcedAt,
        access_token_expires_at: spent.accessTokenExpiresAt,
        ended: ended === "session_expiry" ? undefined : ended,
      }),
    },
  };
}

function renewed(
  { token_type: _type, ...before }: Credentials,
  token: string,
  { refreshToken, scopes, tokenType }: SpentRefresh,
): Credentials {
  return {
    ...before,
    token,
    // The refresh token is written again: a framework may have saved an old copy of its session
    // meanwhile, with the spent one.
    ...withoutUndefined({ refresh_token: refreshToken, scopes, token_type: tokenType }),
  };
}

/** A refresh moves the provider's limit only to a later time. It sets a first limit, too. */
function laterExpiry(stored: unknown, claimed: unknown): Pick<PrivateState, "session_expiry"> {
  if (typeof claimed !== "number" || (typeof stored === "number" && claimed <= stored)) return {};
  return { session_expiry: claimed };
}

/**
 * The state without the output of a schema for the old claims. A process with a schema runs it
 * again.
 */
function withoutOutput({
  claims: _output,
  claims_version: _version,
  ...state
}: PrivateState): PrivateState {
  return state;
}

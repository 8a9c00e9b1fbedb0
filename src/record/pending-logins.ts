/** The changes that a login and its callback make to the record: pending logins and used states. */
import type { EpochSeconds } from "../clock.js";
import { dataOfSameUser, type Review } from "./application-data.js";
import type { SignIn } from "./credentials.js";
import { isSameUser, type IdentifiedUser, type IdInfo } from "./identity.js";
import { ownProperties } from "./json.js";
import {
  RECORD_VERSION,
  userIn,
  type PendingLogin,
  type PrivateState,
  type SessionRecord,
} from "./record.js";
import { withoutUndefined } from "./without-undefined.js";

export const MAX_PENDING_LOGINS = 8;
/** Seconds after which a started login expires. */
export const PENDING_LOGIN_SECONDS = 600;
/** The states that a record remembers, so that a callback with one of them is a repeated one. */
export const MAX_USED_STATES = 8;

export function isAlive(login: PendingLogin, now: EpochSeconds): boolean {
  return now < login.started_at + PENDING_LOGIN_SECONDS;
}

/**
 * Adds a login. Beyond the maximum, another one is dropped: the oldest that a script or another
 * site started, because a page that polls must not push out the user's own, else the oldest.
 * `oauth_state` and `final_redirect` repeat the newest; but the page of a signed-in user's session
 * stays if another site may have begun the login.
 */
export function withLogin(
  record: SessionRecord,
  login: PendingLogin,
  debug?: unknown,
): SessionRecord {
  const now = login.started_at;
  const others = (record.idp_state.logins ?? []).filter((other) => isAlive(other, now));
  while (others.length >= MAX_PENDING_LOGINS) {
    const first = others.findIndex(({ unattended }) => unattended === true);
    others.splice(Math.max(first, 0), 1);
  }
  // A repeated callback of a signed-in user leads there, so it must be a page of the user's own.
  const isOwn = login.cross_site !== true || record.credentials === undefined;
  return withoutUndefined({
    ...record,
    debug,
    final_redirect: isOwn ? login.final_redirect : record.final_redirect,
    oauth_state: login.state,
    idp_state: { ...record.idp_state, logins: [...others, login] },
  });
}

/** Returns the login with this state. It may have expired. */
export function findLogin(record: SessionRecord, state: string): PendingLogin | undefined {
  return record.idp_state.logins?.find((login) => login.state === state);
}

/** A login that has come back. */
export interface ReturnedLogin {
  readonly state: string;
  readonly stateHash: string;
  /** Now, if the login was silent and the provider needs the user. */
  readonly silentFailedAt?: EpochSeconds | undefined;
  /** Its code is exchanged now. */
  readonly isExchanged?: boolean;
}

/** Removes a login and remembers its state by hash. Returns the same record if it has no such login. */
export function withoutLogin(
  record: SessionRecord,
  { state, stateHash, silentFailedAt, isExchanged = false }: ReturnedLogin,
): SessionRecord {
  const before = record.idp_state.logins ?? [];
  const logins = before.filter((login) => login.state !== state);
  if (logins.length === before.length) return record;
  const { used = [], exchanging = [] } = record.idp_state;
  return withoutUndefined({
    ...record,
    oauth_state: logins.at(-1)?.state,
    idp_state: {
      ...stateWithLogins(record.idp_state, logins),
      used: newest([...used, stateHash]),
      ...(isExchanged && { exchanging: newest([...exchanging, stateHash]) }),
      ...withoutUndefined({ silent_failed_at: silentFailedAt }),
    },
  });
}

function newest(hashes: readonly string[]): readonly string[] {
  return hashes.slice(-MAX_USED_STATES);
}

/** Whether the code of this state is being exchanged, in any process. */
export function isExchanging(record: SessionRecord, stateHash: string): boolean {
  return record.idp_state.exchanging?.includes(stateHash) === true;
}

/** Remembers that an exchange has ended without a session. */
export function withoutExchange(record: SessionRecord, stateHash: string): SessionRecord {
  if (!isExchanging(record, stateHash)) return record;
  const { exchanging = [], ...state } = record.idp_state;
  const others = exchanging.filter((other) => other !== stateHash);
  return {
    ...record,
    idp_state: others.length === 0 ? state : { ...state, exchanging: others },
  };
}

export function isUsedState(record: SessionRecord, stateHash: string): boolean {
  return record.idp_state.used?.includes(stateHash) === true;
}

/**
 * Whether a login may finish for this identity. An attacker who planted the cookie before the
 * current sign-in may have started the login and know its state. So a login from before the sign-in
 * must not switch the user to another account. A login that was started after it may finish for any
 * user.
 *
 * @param record the record that the login was removed from
 */
export function mayFinish(
  record: SessionRecord,
  login: PendingLogin,
  user: IdentifiedUser,
): boolean {
  return login.carried === undefined || isSameUser(userIn(record), user);
}

/** A sign-in that the application's code has accepted. */
export interface AcceptedSignIn {
  readonly signIn: SignIn;
  readonly login: PendingLogin;
  readonly now: EpochSeconds;
  /** Whether an idle timeout is configured. */
  readonly stampsActivity: boolean;
  /**
   * What the application's code decided. Its change gets the data of the same user's session, else
   * an empty object.
   */
  readonly review?: Review;
}

/**
 * The record after a sign-in: new credentials, id_info and stamps; no lease, no remembered end
 * reason. The hashes of used states stay. Other tabs' pending logins stay too, but may now finish
 * for this user only.
 */
export function signedIn(
  record: SessionRecord,
  { signIn, login, now, stampsActivity, review = {} }: AcceptedSignIn,
): SessionRecord {
  const { claims, changeData } = review;
  const data = dataOfSameUser(record, signIn);
  const { logins: before, used } = record.idp_state;
  const askedBefore = (isSameUser(userIn(record), signIn) && record.idp_state.asked_apis) || [];
  const logins = before?.map((other) => ({ ...other, carried: true as const }));
  return withoutUndefined({
    credentials: signIn.credentials,
    id_info: signIn.idInfo,
    oauth_state: record.oauth_state,
    // A repeated callback of a signed-in user leads there, so it must be a page of the user's own.
    final_redirect: login.cross_site === true ? undefined : login.final_redirect,
    debug: record.debug,
    idp_login_at: now,
    idp_last_active: stampsActivity ? now : undefined,
    idp_state: withoutUndefined({
      v: RECORD_VERSION,
      logins,
      used,
      issuer: login.issuer,
      provider: signIn.sourceKey,
      dpop: signIn.dpop,
      access_token_expires_at: signIn.accessTokenExpiresAt,
      tokens_received_at: signIn.receivedAt,
      ...stateOfSignIn(signIn.idInfo),
      id_token: signIn.idToken,
      id_token_alg: signIn.idTokenAlg,
      userinfo_claims: signIn.userinfoClaims.length === 0 ? undefined : signIn.userinfoClaims,
      asked_apis: login.api === undefined ? undefined : [...new Set([...askedBefore, login.api])],
      claims: claims?.output,
      claims_version: claims?.version,
      data: changeData === undefined ? data : changeData(data ?? {}),
    }),
  });
}

/**
 * Returns the claims that a logout by the provider compares, and the provider's time limit. They
 * come only from the ID token.
 */
export function stateOfSignIn(idInfo: IdInfo): Partial<PrivateState> {
  const { sid, iat, session_expiry: expiry } = ownProperties(idInfo);
  return withoutUndefined({
    sid: typeof sid === "string" && sid !== "" ? sid : undefined,
    signed_in_iat: typeof iat === "number" ? iat : undefined,
    session_expiry: expiry,
  });
}

function stateWithLogins(state: PrivateState, logins: readonly PendingLogin[]): PrivateState {
  const { logins: _before, ...rest } = state;
  return logins.length === 0 ? rest : { ...rest, logins };
}

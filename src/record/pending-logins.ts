/** Pending logins and used states: the part of the record that a login writes and its callback uses up. All pure. */
import {
  isSamePerson,
  MAX_PENDING_LOGINS,
  MAX_USED_STATES,
  PENDING_LOGIN_SECONDS,
  RECORD_VERSION,
  type IdInfo,
  type PendingLogin,
  type PrivateState,
  type SessionRecord,
} from "./record.js";
import type { EpochSeconds } from "../clock.js";
import type { SignIn } from "../ports/provider.js";

function isAlive(login: PendingLogin, now: EpochSeconds): boolean {
  return now < login.started_at + PENDING_LOGIN_SECONDS;
}

/** Adds a login; the oldest one goes when there are too many. The two mirrors show the newest. */
export function withLogin(record: SessionRecord, login: PendingLogin, now: EpochSeconds, debug?: unknown): SessionRecord {
  const alive = (record.idp_state.logins ?? []).filter((other) => isAlive(other, now));
  return withoutUndefined({
    ...record,
    debug,
    final_redirect: login.final_redirect,
    oauth_state: login.state,
    idp_state: { ...record.idp_state, logins: [...alive, login].slice(-MAX_PENDING_LOGINS) },
  });
}

export function findLogin(record: SessionRecord, state: string, now: EpochSeconds): PendingLogin | undefined {
  return record.idp_state.logins?.find((login) => login.state === state && isAlive(login, now));
}

/** Takes a login out for good and remembers its state by hash. Gives the same record when the login is not there. */
export function withoutLogin(record: SessionRecord, state: string, stateHash: string): SessionRecord {
  const before = record.idp_state.logins ?? [];
  const logins = before.filter((login) => login.state !== state);
  if (logins.length === before.length) return record;
  return withoutUndefined({
    ...record,
    oauth_state: logins.at(-1)?.state,
    idp_state: {
      ...stateWithLogins(record.idp_state, logins),
      used: [...(record.idp_state.used ?? []), stateHash].slice(-MAX_USED_STATES),
    },
  });
}

export function isUsedState(record: SessionRecord, stateHash: string): boolean {
  return record.idp_state.used?.includes(stateHash) === true;
}

/**
 * Whether a login may finish for this identity. A login that was started before the present sign-in may come from an attacker,
 * who planted the cookie of that time and knows the login's state: it must not switch the user to another account. A login that
 * was started since may finish for anyone.
 *
 * @param record the record that the login was taken out of
 */
export function mayFinish(record: SessionRecord, login: PendingLogin, idInfo: IdInfo): boolean {
  return login.carried === undefined || isSamePerson(record.id_info, idInfo);
}

/**
 * What a completed callback leaves: credentials, id_info and stamps written anew; remembered reason and lease gone. The
 * hashes of used states stay, and so do other tabs' pending logins, which may now finish for this user only.
 *
 * @param stampActivity whether an idle timeout is configured
 */
export function signedIn(
  record: SessionRecord,
  signIn: SignIn,
  login: PendingLogin,
  now: EpochSeconds,
  stampActivity: boolean,
): SessionRecord {
  const { logins: before, used } = record.idp_state;
  const logins = before?.map((other) => ({ ...other, carried: true as const }));
  return withoutUndefined({
    credentials: signIn.credentials,
    id_info: signIn.idInfo,
    oauth_state: record.oauth_state,
    final_redirect: login.final_redirect,
    debug: record.debug,
    idp_login_at: now,
    idp_last_active: stampActivity ? now : undefined,
    idp_state: withoutUndefined({
      v: RECORD_VERSION,
      logins,
      used,
      issuer: login.issuer,
      access_token_expires_at: signIn.accessTokenExpiresAt,
      tokens_received_at: signIn.receivedAt,
      userinfo_claims: signIn.userinfoClaims.length === 0 ? undefined : signIn.userinfoClaims,
    }),
  });
}

function stateWithLogins(state: PrivateState, logins: readonly PendingLogin[]): PrivateState {
  const { logins: _before, ...rest } = state;
  return logins.length === 0 ? rest : { ...rest, logins };
}

type Defined<Value> = { [Key in keyof Value]: Exclude<Value[Key], undefined> };

function withoutUndefined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<Value>;
}

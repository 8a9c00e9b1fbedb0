/** Why a signed-in user gets no access token for an API, and whether another login helps. Pure. */
import type { EpochSeconds } from "../clock.js";
import { isRecent } from "./recent-refusal.js";
import type { SessionRecord } from "./record.js";
import { NEEDS_USER } from "./silent-login.js";
import { apiEntry } from "./stored-api-tokens.js";

/**
 * The refusals that a login can help with: it asks the user. `invalid_grant` is here after a base
 * refresh has shown that the session is fine. `refresh_rejected`: the API has rejected the token,
 * and no refresh can replace it.
 */
const ASKS_USER: readonly string[] = [
  ...NEEDS_USER,
  "mfa_required",
  "invalid_grant",
  "refresh_rejected",
];

/**
 * Refusals of an API with `consent: "later"` that a login can help with once: before a login has
 * asked for the API, they can mean that the user hasn't consented. Afterwards they are the
 * operator's mistake, and another login would end the same way. Keycloak ignores a scope that the
 * login hasn't asked for, so the token that comes isn't for this API.
 */
const UNCONSENTED: readonly string[] = [
  "invalid_target",
  "invalid_scope",
  "api_token_audience",
  "api_scopes_missing",
];

/** Whether a login of this session has requested the API by its name. Pure. */
export function hasAskedFor({ idp_state: state }: SessionRecord, api: string): boolean {
  return state.asked_apis?.includes(api) === true;
}

/**
 * Whether the user has just come back from a login that requested this API, so that another one
 * would end the same way. Pure.
 */
export function hasJustAskedFor(record: SessionRecord, api: string, now: EpochSeconds): boolean {
  return hasAskedFor(record, api) && hasJustSignedIn(record, now);
}

function hasJustSignedIn({ idp_login_at: at }: SessionRecord, now: EpochSeconds): boolean {
  return typeof at === "number" && isRecent(at, now);
}

/** Why there is nothing to request a token with. `token_expired`: the session's own token. */
export type MissingReason =
  "auto_refresh_off" | "refresh_rejected" | "no_refresh_token" | "token_expired";

/** Why a user who is signed in gets no token for an API. */
export type Lack = {
  /** Whether a login may bring what is missing. Otherwise it would only lead back here. */
  readonly loginHelps: boolean;
} & (
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "missing"; readonly reason: MissingReason }
);

/** An API, as far as it decides who gets a token for it. */
export interface WantedApi {
  readonly api: string;
  /** What its tokens are requested with. Undefined: it gets the session's token. */
  readonly target: string | undefined;
  readonly consentLater: boolean;
}

/** The setting and the time that decide what a user lacks. */
export interface LackAt {
  readonly sessionAutoRefresh: boolean;
  readonly now: EpochSeconds;
  /** The session's own token stays rejected by an API. Default false. */
  readonly isTokenRejected?: boolean;
}

/** Returns why a record has no token for an API, although its user is signed in. Pure. */
export function lackOf(
  record: SessionRecord,
  { api, target, consentLater }: WantedApi,
  { sessionAutoRefresh, now, isTokenRejected = false }: LackAt,
): Lack {
  const { credentials, idp_state: state } = record;
  const asked = state.asked_apis ?? [];
  const entry = target === undefined ? undefined : apiEntry(record, api, target);
  if (entry?.refused !== undefined && (isRecent(entry.at, now) || credentials?.refresh_token)) {
    const isForUser =
      ASKS_USER.includes(entry.refused) ||
      (consentLater && !hasAskedFor(record, api) && UNCONSENTED.includes(entry.refused));
    const loginHelps = isForUser && !hasJustAskedFor(record, api, now);
    return { kind: "refused", reason: entry.refused, loginHelps };
  }
  const lack = (reason: MissingReason, loginHelps: boolean): Lack => {
    return { kind: "missing", reason, loginHelps };
  };
  // A login brings another one, unless the API has rejected that one, too.
  if (target === undefined && isTokenRejected)
    return lack("refresh_rejected", !hasJustAskedFor(record, api, now));
  // A login brings another one, unless that has expired when it comes.
  if (target === undefined) return lack("token_expired", !hasJustSignedIn(record, now));
  if (!sessionAutoRefresh) return lack("auto_refresh_off", false);
  if (state.refresh_rejected === true)
    return lack("refresh_rejected", !hasJustSignedIn(record, now));
  // Which API the login asked for makes no difference: all have the same refresh token.
  return lack("no_refresh_token", asked.length === 0);
}

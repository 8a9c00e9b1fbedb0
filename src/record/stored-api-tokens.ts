/**
 * The access tokens for APIs in the record. They are in it so that a logout ends them, too, and no
 * old copy overwrites newer ones.
 */
import { hasEpochTimePassed, type EpochSeconds } from "../clock.js";
import { MAX_API_ENTRIES, type ApiEntry, type SessionRecord } from "./record.js";
import type { PolicySettings } from "./session-policy.js";
import { NEEDS_USER } from "./silent-login.js";
import { isUnexpired, staysValid } from "./token-validity.js";
import { withoutUndefined } from "./without-undefined.js";

/**
 * The refusals that a login can help with: it asks the user. `invalid_grant` is here after a base
 * refresh has shown that the session is fine.
 */
const ASKS_USER: readonly string[] = [...NEEDS_USER, "mfa_required", "invalid_grant"];

/**
 * Refusals of an API with `consent: "later"` that a login can help with once: before a login has
 * asked for the API, they can mean that the user hasn't consented. Afterwards they are the
 * operator's mistake, and another login would end the same way.
 */
const UNCONSENTED: readonly string[] = ["invalid_target", "invalid_scope"];

/**
 * Seconds for which a refusal counts, and in which a rejected token is replaced only once. Our
 * decision.
 */
export const REFUSAL_SECONDS = 60;

/** Returns what the record has for an API, if it was requested with the same settings. */
export function apiEntry(record: SessionRecord, api: string, target: string): ApiEntry | undefined {
  const { apis } = record.idp_state;
  const entry = apis !== undefined && Object.hasOwn(apis, api) ? apis[api] : undefined;
  return entry?.target === target ? entry : undefined;
}

/**
 * Whether something was written within the last minute. A time in the future, of another clock,
 * counts as now.
 */
export function isRecent(at: EpochSeconds | undefined, now: EpochSeconds): boolean {
  return at !== undefined && now - at < REFUSAL_SECONDS;
}

/** The entry's token, unless it has expired. */
export function unexpiredToken(entry: ApiEntry | undefined, now: EpochSeconds): string | undefined {
  return entry !== undefined && isUnexpired({ expiresAt: entry.expires_at }, now)
    ? entry.token
    : undefined;
}

/** What a call wants of an API's token. */
export interface WantedValidity {
  /** Seconds for which the token must stay valid; at most half of its life counts. */
  readonly minValidity: number;
  /** A token that the API has rejected. */
  readonly rejected?: string | undefined;
}

/** Whether an API's token has to be requested. Pure. */
export function isApiTokenDue(
  entry: ApiEntry | undefined,
  { minValidity, rejected }: WantedValidity,
  now: EpochSeconds,
): boolean {
  if (entry?.refused !== undefined) return !isRecent(entry.at, now);
  if (entry?.token === undefined) return true;
  if (entry.token === rejected) return entry.forced !== true || !isRecent(entry.at, now);
  return !staysValid({ receivedAt: entry.at, expiresAt: entry.expires_at }, minValidity, now);
}

/** A provider's refusal to issue an API's token. */
export interface ApiRefusal {
  /** The provider's error code, or the check that the token failed. */
  readonly refused: string;
  /** What a login for the API has to ask for, as the text of the parameter `claims`. */
  readonly claims?: string | undefined;
}

/**
 * The entry after a refusal. A token that is still valid stays, unless the API has rejected it.
 * Pure.
 */
export function refusedEntry(
  before: ApiEntry | undefined,
  {
    target,
    refused,
    claims,
    rejected,
  }: ApiRefusal & { target: string; rejected?: string | undefined },
  now: EpochSeconds,
): ApiEntry {
  const { claims: _claims, ...kept } = before ?? {};
  const isKept = ![undefined, rejected].includes(unexpiredToken(before, now));
  return { ...(isKept && kept), ...withoutUndefined({ target, at: now, refused, claims }) };
}

/**
 * The record with a new entry, without those that are over. If there are too many, the oldest goes.
 */
export function withApiEntry(
  record: SessionRecord,
  api: string,
  entry: ApiEntry,
  now: EpochSeconds,
): SessionRecord {
  if (record.credentials === undefined) return record;
  const { [api]: _replaced, ...others } = record.idp_state.apis ?? {};
  const kept = Object.entries(others)
    .filter(([, other]) => !isOver(other, now))
    .toSorted(([, one], [, other]) => other.at - one.at)
    .slice(0, MAX_API_ENTRIES - 1);
  return {
    ...record,
    idp_state: { ...record.idp_state, apis: Object.fromEntries([...kept, [api, entry]]) },
  };
}

function isOver(
  { token, at, expires_at: expiresAt, refused }: ApiEntry,
  now: EpochSeconds,
): boolean {
  if (refused !== undefined && isRecent(at, now)) return false;
  return token === undefined || (expiresAt !== undefined && hasEpochTimePassed(expiresAt, now));
}

/**
 * Whether the user has just come back from a login that requested this API, so that another one
 * would end the same way. Pure.
 */
export function hasJustAskedFor(record: SessionRecord, api: string, now: EpochSeconds): boolean {
  return record.idp_state.asked_apis?.includes(api) === true && hasJustSignedIn(record, now);
}

function hasJustSignedIn({ idp_login_at: at }: SessionRecord, now: EpochSeconds): boolean {
  return typeof at === "number" && isRecent(at, now);
}

/** What a login for an API adds to its request, because of the session that starts it. */
export interface ApiLogin {
  /** What the provider has demanded, as the text of the parameter `claims`. */
  readonly claims?: string;
  /** The session lacks the refresh token. */
  readonly wantsRefreshToken: boolean;
}

/** Returns what a login for an API has to bring that a signed-in session lacks. Pure. */
export function apiLogin(record: SessionRecord, api: string): ApiLogin {
  const { apis = {} } = record.idp_state;
  const { claims } = (Object.hasOwn(apis, api) ? apis[api] : undefined) ?? {};
  return {
    ...withoutUndefined({ claims }),
    wantsRefreshToken: record.credentials?.refresh_token === undefined,
  };
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

/** What a call for an API's token gets, if the user is signed in. */
export type ApiTokenOutcome = { readonly kind: "token"; readonly token: string } | Lack;

/** Returns what a call gets from a record whose user is signed in. Pure. */
export function apiTokenOutcome(
  record: SessionRecord,
  { rejected, ...wanted }: WantedApi & { readonly rejected?: string | undefined },
  policy: Pick<PolicySettings, "sessionAutoRefresh">,
  now: EpochSeconds,
): ApiTokenOutcome {
  const entry =
    wanted.target === undefined ? undefined : apiEntry(record, wanted.api, wanted.target);
  const token = unexpiredToken(entry, now);
  // A refusal of an early renewal is no refusal of the token that is still valid.
  return token !== undefined && (entry?.refused === undefined || token !== rejected)
    ? { kind: "token", token }
    : lackOf(record, wanted, policy, now);
}

/** Returns why a record has no token for an API, although its user is signed in. Pure. */
export function lackOf(
  record: SessionRecord,
  { api, target, consentLater }: WantedApi,
  { sessionAutoRefresh }: Pick<PolicySettings, "sessionAutoRefresh">,
  now: EpochSeconds,
): Lack {
  const { credentials, idp_state: state } = record;
  const asked = state.asked_apis ?? [];
  const entry = target === undefined ? undefined : apiEntry(record, api, target);
  if (entry?.refused !== undefined && (isRecent(entry.at, now) || credentials?.refresh_token)) {
    const isAsked = asked.includes(api);
    const isForUser =
      ASKS_USER.includes(entry.refused) ||
      (consentLater && !isAsked && UNCONSENTED.includes(entry.refused));
    const loginHelps = isForUser && !hasJustAskedFor(record, api, now);
    return { kind: "refused", reason: entry.refused, loginHelps };
  }
  const lack = (reason: MissingReason, loginHelps: boolean): Lack => {
    return { kind: "missing", reason, loginHelps };
  };
  // A login brings another one, unless that has expired when it comes.
  if (target === undefined) return lack("token_expired", !hasJustSignedIn(record, now));
  if (!sessionAutoRefresh) return lack("auto_refresh_off", false);
  if (state.refresh_rejected === true)
    return lack("refresh_rejected", !hasJustSignedIn(record, now));
  // Which API the login asked for makes no difference: all have the same refresh token.
  return lack("no_refresh_token", asked.length === 0);
}

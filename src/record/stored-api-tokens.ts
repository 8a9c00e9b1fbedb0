/**
 * The access tokens for APIs in the record. They are in it so that a logout ends them, too, and no
 * old copy overwrites newer ones.
 */
import { hasEpochTimePassed, type EpochSeconds } from "../clock.js";
import { isRecent } from "./recent-refusal.js";
import type { ApiEntry, SessionRecord } from "./record.js";
import { isUnexpired, staysValid, type TokenLife, type WantedValidity } from "./token-validity.js";
import { withoutUndefined } from "./without-undefined.js";

/** The APIs whose tokens a record keeps. Each can be 2 KB, and every access decrypts them. */
export const MAX_API_ENTRIES = 8;

/** Returns what the record has for an API, if it was requested with the same settings. */
export function apiEntry(record: SessionRecord, api: string, target: string): ApiEntry | undefined {
  const { apis } = record.idp_state;
  const entry = apis !== undefined && Object.hasOwn(apis, api) ? apis[api] : undefined;
  return entry?.target === target ? entry : undefined;
}

/** The entry's token, unless it has expired. */
export function unexpiredToken(entry: ApiEntry | undefined, now: EpochSeconds): string | undefined {
  return entry !== undefined && isUnexpired(lifeOf(entry), now) ? entry.token : undefined;
}

/**
 * The token that a call gets of an entry. Undefined: none that can be used. Pure.
 *
 * @param rejected a token that the API has rejected
 */
export function usableToken(
  entry: ApiEntry | undefined,
  rejected: string | undefined,
  now: EpochSeconds,
): string | undefined {
  const token = unexpiredToken(entry, now);
  // A refusal of an early renewal is no refusal of the token that is still valid.
  return entry?.refused === undefined || token !== rejected ? token : undefined;
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
  return !staysValid(lifeOf(entry), minValidity, now);
}

function lifeOf({ at, expires_at: expiresAt }: ApiEntry): TokenLife {
  return { receivedAt: at, expiresAt };
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

/** The entry of an API that gets into a record. */
export interface NewApiEntry {
  /** The API's name. */
  readonly api: string;
  readonly entry: ApiEntry;
  readonly now: EpochSeconds;
}

/**
 * The record with a new entry, without those that are over. If there are too many, the oldest goes.
 */
export function withApiEntry(
  record: SessionRecord,
  { api, entry, now }: NewApiEntry,
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

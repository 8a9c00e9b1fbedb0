/**
 * The access tokens for APIs in the record. They are in it so that a logout ends them, too, and no
 * old copy overwrites newer ones.
 */
import { hasEpochTimePassed, type EpochSeconds } from "../clock.js";
import { MAX_API_ENTRIES, type ApiEntry, type SessionRecord } from "./record.js";

/**
 * Seconds for which a refusal counts, and in which a rejected token is replaced only once. Our
 * decision.
 */
export const REMEMBERED = 60;

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
  return at !== undefined && now - at < REMEMBERED;
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

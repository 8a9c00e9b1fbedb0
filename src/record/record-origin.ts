/** The origin that a session belongs to, where an application has several. */
import type { SessionRecord } from "./record.js";

/**
 * Whether something was stored at another origin than the request's.
 *
 * @param stored undefined: it was stored when there was one origin, so it counts at each
 * @param own undefined: there is one origin
 */
export function isElsewhere(stored: string | undefined, own: string | undefined): boolean {
  return stored !== undefined && own !== undefined && stored !== own;
}

/** Returns a signed-in record with its origin. One that has an origin keeps it. */
export function withOrigin(record: SessionRecord, own: string | undefined): SessionRecord {
  const { credentials, idp_state: state } = record;
  if (own === undefined || credentials === undefined || state.origin !== undefined) return record;
  return { ...record, idp_state: { ...state, origin: own } };
}

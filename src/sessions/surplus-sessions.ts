/** Which of a user's sessions end if there are more than `IDP_SESSIONS_PER_USER`. */
import type { EpochSeconds } from "../clock.js";

/** When a session began and was last used. */
export interface SessionTimes {
  /** Epoch seconds of the sign-in. Null: not known. */
  readonly signedInAt: EpochSeconds | null;
  /** Of the last recorded access: epoch seconds with a fraction. */
  readonly activeAt: number;
  /** As long as the session is new, when it began: epoch seconds with a fraction. */
  readonly beganAt: number;
}

interface Kept {
  /** How many sessions stay. */
  readonly most: number;
  /** The store's key of the session whose sign-in asks. */
  readonly newest: string;
  /** The times of this session. */
  readonly own: SessionTimes;
}

/**
 * Returns the keys of the sessions to end, those with the oldest last activity first. Only sessions
 * that began before `newest` end, and `newest` itself if `most` others began after it: a sign-in at
 * the same time makes this check itself, and all processes agree which of the two came first.
 */
export function surplusSessions(
  others: ReadonlyMap<string, SessionTimes>,
  { most, newest, own }: Kept,
): readonly string[] {
  const sessions = new Map(others).set(newest, own);
  const isEarlier = ([key, { signedInAt, beganAt }]: [string, SessionTimes]) =>
    ((signedInAt ?? 0) - (own.signedInAt ?? 0) ||
      beganAt - own.beganAt ||
      (key < newest ? -1 : 0)) < 0;
  const earlier = [...sessions].filter(isEarlier);
  earlier.sort(
    ([, a], [, b]) => a.activeAt - b.activeAt || (a.signedInAt ?? 0) - (b.signedInAt ?? 0),
  );
  const surplus = Math.max(0, sessions.size - most);
  const keys = earlier.slice(0, surplus).map(([key]) => key);
  // So many sessions began after this one, whose checks may have come too early to see it.
  if (keys.length < surplus) keys.push(newest);
  return keys;
}

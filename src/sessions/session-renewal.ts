/** When the user's activity extends the life of a session's entry and sends its cookie again. */
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { Entry } from "../ports/session-store.js";
import {
  expiryWithCookie,
  expiryWithoutCookie,
  lacksCookie,
  renewalInterval,
} from "../record/entry-life.js";
import type { SessionEntries } from "./session-entries.js";

export interface SessionRenewalOptions {
  readonly sessionTtl: number;
  readonly clock: Clock;
  readonly entries: SessionEntries;
  /** Without an idle timeout, only a renewal tells when the user was active. */
  readonly recordsActivity: boolean;
}

export interface SessionRenewal {
  readonly recordsActivity: boolean;
  /**
   * Until when a renewal that is due extends the session's life. Undefined: none is due.
   *
   * @param sendsCookie whether the response sends the cookie
   */
  renewedUntil(key: string, stored: Entry, sendsCookie: boolean): EpochSeconds | undefined;
}

export function createSessionRenewal(options: SessionRenewalOptions): SessionRenewal {
  const { sessionTtl, clock, entries, recordsActivity } = options;
  const interval = renewalInterval(sessionTtl);
  return {
    recordsActivity,
    renewedUntil(key, stored, sendsCookie) {
      const { expiresAt } = stored;
      const now = epochSeconds(clock);
      const fullLife = now + sessionTtl;
      const isCookieDue = sendsCookie && lacksCookie(expiresAt) && expiresAt <= fullLife;
      const isDue =
        isCookieDue ||
        fullLife - expiresAt >= interval ||
        // After IDP_SESSION_TTL was lowered, the life isn't extended, but the activity is recorded.
        (recordsActivity &&
          expiresAt > fullLife + 1 &&
          now - (entries.activeAt(key, stored) ?? 0) >= interval);
      if (!isDue) return undefined;
      return sendsCookie ? expiryWithCookie(fullLife) : expiryWithoutCookie(fullLife);
    },
  };
}

import { createHash } from "node:crypto";
import { StoreUnavailableError } from "../errors.js";
import { isWithinLimits, type PolicySettings } from "../record/session-policy.js";
import type { SessionStore, Stored } from "../ports/session-store.js";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import { inBatches, keysUnder, type SessionEnding } from "./session-ending.js";
import { ReportedStore, type StoreFailureListener } from "./reported-store.js";
import type { Sealer } from "./seal.js";
import { readSummary } from "./device-summary.js";

/** The two claims that identify a user (OpenID Connect Core section 5.7). */
export interface Subject {
  readonly iss: string;
  readonly sub: string;
}

/** A signed-in session of a user, for a device list. */
export interface ListedSession {
  /** Identifies the session for `endSession`. Reveals neither the cookie nor the store's key. */
  readonly id: string;
  /** Epoch seconds. Null: not known. */
  readonly loginAt: EpochSeconds | null;
  /**
   * Epoch seconds of the last recorded access. Without an idle timeout, accesses are not recorded. Then it is the sign-in or the last
   * renewal of the session's life, which happens at most once a day.
   */
  readonly lastActive: EpochSeconds | null;
  /** What the option `sessionLabel` returned when the user signed in. */
  readonly label: string | null;
  /** Whether it is the session of the given request. */
  readonly current: boolean;
}

export interface SubjectSessionsOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly policy: PolicySettings;
  /** Seconds. */
  readonly sessionTtl: number;
  /** Called after every failed store operation. */
  readonly onStoreFailure?: StoreFailureListener;
  readonly ending: SessionEnding;
}

/** Finds the sessions of a user without their cookies. All methods reject with StoreUnavailableError if the store fails. */
export interface SubjectSessions {
  /**
   * Lists the sessions within their session limits, the newest sign-in first.
   *
   * @param current the store's key of the request's own session
   */
  list(subject: Subject, current: string | undefined): Promise<readonly ListedSession[]>;
  /** Ends one session. Resolves to false if the user has no such session. */
  end(subject: Subject, id: string): Promise<boolean>;
  /**
   * Ends all sessions except the one with the key `except`.
   *
   * @returns how many sessions it ended
   */
  endAll(subject: Subject, except: string | undefined): Promise<number>;
  /** Whether the user has a session that began at `since`, in epoch seconds, or later. */
  hasSignedInSince(subject: Subject, since: EpochSeconds): Promise<boolean>;
}

/** Rounds of listing and deleting. If sessions remain after them, the store is broken or the user signs in all the time. */
const MAX_ROUNDS = 8;

export function createSubjectSessions(options: SubjectSessionsOptions): SubjectSessions {
  const { sealer, clock, policy, sessionTtl, ending } = options;
  const store = new ReportedStore(options.store, clock, options.onStoreFailure);

  const keysOf = ({ iss, sub }: Subject) => keysUnder(sealer.subjectHashes(iss, sub), (hash) => store.listBySubject(hash));

  function listed(key: string, stored: Stored, current: string | undefined): ListedSession | undefined {
    const summary = readSummary(sealer, key, stored);
    const loginAt = summary?.loginAt ?? null;
    const stamps = { ...(loginAt !== null && { idp_login_at: loginAt }), idp_last_active: stored.lastActive };
    const now = epochSeconds(clock);
    if (!isWithinLimits(stamps, summary?.sessionExpiry ?? undefined, policy, now)) return undefined;
    return {
      id: publicId(key),
      loginAt,
      lastActive: Math.min(now, Math.max(stored.lastActive ?? 0, loginAt ?? 0, stored.expiresAt - sessionTtl)),
      label: summary?.label ?? null,
      current: key === current,
    };
  }

  return {
    async list(subject, current) {
      const found = await inBatches(await keysOf(subject), async (key) => {
        const stored = await store.get(key);
        return stored && listed(key, stored, current);
      });
      return found.filter((session) => session !== undefined).sort((a, b) => (b.loginAt ?? 0) - (a.loginAt ?? 0));
    },
    async end(subject, id) {
      const key = (await keysOf(subject)).find((candidate) => publicId(candidate) === id);
      return key !== undefined && (await ending.end([key], "ended_everywhere")) === 1;
    },
    async endAll(subject, except) {
      let ended = 0;
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        // Listed again after each round: a sign-in that just finished may have moved a session to a new key.
        const keys = (await keysOf(subject)).filter((key) => key !== except);
        if (keys.length === 0) return ended;
        ended += await ending.end(keys, "ended_everywhere");
      }
      throw new StoreUnavailableError("The session store still lists sessions that were just deleted.");
    },
    async hasSignedInSince(subject, since) {
      const found = await inBatches(await keysOf(subject), async (key) => {
        const stored = await store.get(key);
        return stored && readSummary(sealer, key, stored)?.loginAt;
      });
      return found.some((loginAt) => loginAt !== undefined && loginAt !== null && loginAt >= since);
    },
  };
}

/** A hash, so that a page with a device list does not reveal the store's keys. */
function publicId(key: string): string {
  return createHash("sha256").update(`idpauth session ${key}`).digest("base64url").slice(0, 22);
}

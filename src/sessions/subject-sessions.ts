import { createHash } from "node:crypto";
import { asStoreUnavailable, StoreUnavailableError } from "../errors.js";
import { isWithinLimits, type PolicySettings } from "../record/policy.js";
import type { SessionStore, Stored } from "../ports/session-store.js";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { StoreFailureListener } from "./bundled-sessions.js";
import type { Sealer } from "./seal.js";
import { readSummary } from "./device-summary.js";

/** One person at one provider: the two claims that identify a visitor for ever (OpenID Connect Core section 5.7). */
export interface Subject {
  readonly iss: string;
  readonly sub: string;
}

/** A signed-in session of a person, for a device list. */
export interface ListedSession {
  /** Names the session for `endSession`. Reveals neither the cookie nor the store's key. */
  readonly id: string;
  /** Epoch seconds; null: not known. */
  readonly loginAt: EpochSeconds | null;
  /**
   * Epoch seconds of the last access that left a mark. Without an idle timeout accesses are not stamped, and this is the last
   * renewal of the session's life, which the component's own answers do once a day, or the sign-in.
   */
  readonly lastActive: EpochSeconds | null;
  /** What the option `sessionLabel` said when the visitor signed in. */
  readonly label: string | null;
  /** Whether it is the session of the request that was given. */
  readonly current: boolean;
}

export interface SubjectSessionsOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly policy: PolicySettings;
  /** Seconds. */
  readonly sessionTtl: number;
  /** Told of every operation of the store that failed. */
  readonly onStoreFailure?: StoreFailureListener;
}

/** The sessions of one person, found without a cookie of theirs. All methods reject with StoreUnavailableError in an outage. */
export interface SubjectSessions {
  /**
   * Those within their caps, the newest sign-in first.
   *
   * @param current the store's key of the session that asks
   */
  list(subject: Subject, current: string | undefined): Promise<readonly ListedSession[]>;
  /** Ends one; false: there is no such session of this person. */
  end(subject: Subject, id: string): Promise<boolean>;
  /**
   * Ends all, but for the one with the key `except`.
   *
   * @returns how many there were
   */
  endAll(subject: Subject, except: string | undefined): Promise<number>;
  /** Whether this person has a session that began at `since`, in epoch seconds, or later. */
  hasSignedInSince(subject: Subject, since: EpochSeconds): Promise<boolean>;
}

/** A store that still lists sessions after so many rounds of deleting them is broken, or somebody signs in without end. */
const MAX_ROUNDS = 8;

/** Operations that are asked of the store at a time. */
const BATCH = 16;

export function createSubjectSessions(options: SubjectSessionsOptions): SubjectSessions {
  const { store, sealer, clock, policy, sessionTtl, onStoreFailure } = options;

  async function ask<Answer>(question: Promise<Answer>): Promise<Answer> {
    const started = clock.monotonic();
    try {
      return await question;
    } catch (error) {
      onStoreFailure?.(error, clock.monotonic() - started);
      throw asStoreUnavailable(error);
    }
  }

  /**
   * Under SECRET_KEY and each fallback: what was not written since a rotation still lies under the earlier key. One after
   * the other and back again, since a write meanwhile may move a session from either hash to the other.
   */
  async function keysOf({ iss, sub }: Subject): Promise<string[]> {
    const hashes = sealer.subjectHashes(iss, sub);
    const keys = new Set<string>();
    for (const hash of [...hashes, ...hashes.slice(0, -1).reverse()]) {
      for (const key of await ask(store.listBySubject(hash))) keys.add(key);
    }
    return [...keys];
  }

  function listed(key: string, stored: Stored, current: string | undefined): ListedSession | undefined {
    const summary = readSummary(options, key, stored);
    const loginAt = summary?.loginAt ?? null;
    const stamps = { ...(loginAt !== null && { idp_login_at: loginAt }), idp_last_active: stored.lastActive };
    const now = epochSeconds(clock);
    if (!isWithinLimits(stamps, policy, now)) return undefined;
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
        const stored = await ask(store.get(key));
        return stored && listed(key, stored, current);
      });
      return found.filter((session) => session !== undefined).sort((a, b) => (b.loginAt ?? 0) - (a.loginAt ?? 0));
    },
    async end(subject, id) {
      const key = (await keysOf(subject)).find((candidate) => publicId(candidate) === id);
      return key !== undefined && (await ask(store.delete(key))) !== undefined;
    },
    async endAll(subject, except) {
      let ended = 0;
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        // Listed again after each round: a sign-in that was being finished may just have moved a session to a new key.
        const keys = (await keysOf(subject)).filter((key) => key !== except);
        if (keys.length === 0) return ended;
        const removed = await inBatches(keys, (key) => ask(store.delete(key)));
        ended += removed.filter((stored) => stored !== undefined).length;
      }
      throw new StoreUnavailableError("The session store still lists sessions that were just deleted.");
    },
    async hasSignedInSince(subject, since) {
      const found = await inBatches(await keysOf(subject), async (key) => {
        const stored = await ask(store.get(key));
        return stored && readSummary(options, key, stored)?.loginAt;
      });
      return found.some((loginAt) => loginAt !== undefined && loginAt !== null && loginAt >= since);
    },
  };
}

/** A hash, so that a page with a device list does not show under which keys sessions are stored. */
function publicId(key: string): string {
  return createHash("sha256").update(`idpauth session ${key}`).digest("base64url").slice(0, 22);
}

async function inBatches<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    results.push(...(await Promise.all(items.slice(start, start + BATCH).map(work))));
  }
  return results;
}

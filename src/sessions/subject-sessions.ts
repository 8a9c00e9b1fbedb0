import { createHash } from "node:crypto";
import { epochSeconds, type EpochSeconds } from "../clock.js";
import type { Stored } from "../ports/session-store.js";
import type { Subject } from "../record/identity.js";
import type { ClientIdentity } from "../record/record.js";
import { isWithinLimits, type PolicySettings } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { SessionEnding } from "./end-by-key.js";
import { readSummary } from "./entry-summary.js";
import { allPagesUnder, pagesUnder } from "./listed-pages.js";
import type { KeyedHashes } from "./seal.js";
import type { SessionEntriesOptions } from "./session-entries.js";
import { surplusSessions, type SessionTimes } from "./surplus-sessions.js";

/** A signed-in session of a user, for a device list. */
export interface ListedSession {
  /** Identifies the session for `endSession`. Reveals neither the cookie nor the store's key. */
  readonly id: string;
  /** Epoch seconds. Null: not known. */
  readonly signedInAt: EpochSeconds | null;
  /**
   * Epoch seconds of the last recorded access. Without an idle timeout, accesses are not recorded.
   * Then it is the sign-in or the last renewal of the session's life, which happens at most once a
   * day.
   */
  readonly lastActive: EpochSeconds | null;
  /** The name that the session got when the user signed in: the option `sessionLabel`. */
  readonly label: string | null;
  /** Whether it is the session of the given request. */
  readonly current: boolean;
}

export interface SubjectSessionsOptions extends Pick<
  SessionEntriesOptions,
  "store" | "sealer" | "clock" | "hasSource" | "sessionTtl"
> {
  readonly clients: readonly ListedClient[];
  readonly policy: PolicySettings;
  readonly ending: SessionEnding;
}

/** A client of the list, with the key of its provider. */
export interface ListedClient extends ClientIdentity {
  readonly key?: string | undefined;
}

/** A user's sessions for a device list. */
export interface SessionList {
  /** The newest sign-in first. */
  readonly sessions: readonly ListedSession[];
  /** True: these are not all sessions, and perhaps not the newest. */
  readonly hasMore: boolean;
}

/** Which of a user's sessions are too many. */
export interface Surplus {
  /** `IDP_SESSIONS_PER_USER` */
  readonly most: number;
  /** The store's key of the newest session. */
  readonly newest: string;
  /** Called for each session as soon as it has ended. */
  readonly announce: () => void;
}

/**
 * Finds the sessions of a user without their cookies. All methods reject with StoreUnavailableError
 * if the store fails.
 */
export interface SubjectSessions {
  /**
   * Lists the sessions within their session limits.
   *
   * @param current the store's key of the request's own session, which its user's list always
   *   contains
   */
  list(subject: Subject, current: string | undefined): Promise<SessionList>;
  /** Ends one session. Resolves to false if the user has no such session. */
  end(subject: Subject, id: string, announce: () => void): Promise<boolean>;
  /**
   * Ends all sessions except the one with the key `except`.
   *
   * @param announce called for each session as soon as it has ended, also if a later one fails
   * @returns how many sessions it ended
   */
  endAll(subject: Subject, except: string | undefined, announce: () => void): Promise<number>;
  /** Ends the sessions beyond `most`, chosen by surplus-sessions.ts. */
  endSurplus(subject: Subject, surplus: Surplus): Promise<number>;
  /**
   * Whether the user has a session that began at `since`, in epoch seconds, or later. True if there
   * are too many sessions to read.
   */
  hasSignedInSince(subject: Subject, since: EpochSeconds): Promise<boolean>;
}

/** Sessions that one request reads of a user. It stops after the page that exceeds this number. */
const MAX_READ_SESSIONS = 1_000;
/**
 * Sessions beyond the maximum that one sign-in reads and ends. There are so many only after the
 * maximum was lowered.
 */
const MAX_SURPLUS = 500;

/** What the summary and the times of an entry say. */
type ReadSession = Pick<ListedSession, "lastActive" | "label"> &
  SessionTimes & { readonly isWithinLimits: boolean };

export function createSubjectSessions(options: SubjectSessionsOptions): SubjectSessions {
  const { store, sealer, clock, policy, sessionTtl, ending } = options;

  function hashesOf({ iss, sub, provider }: Subject): KeyedHashes {
    const named = options.clients.filter(({ key }) => provider !== undefined && key === provider);
    if (options.hasSource === true && provider !== undefined && named.length === 0)
      return sealer.subjectHashes({ issuer: iss, clientId: "", sourceKey: provider }, sub);
    const clients = named.length > 0 ? named : options.clients;
    const atIssuer = clients.filter(({ issuer }) => issuer === iss);
    // With several tenants, the issuer of the settings is another one.
    const [first, ...others] = new Set(
      (atIssuer.length > 0 ? atIssuer : clients).map(({ clientId }) => clientId),
    );
    const hashes = (clientId: string) => sealer.subjectHashes({ issuer: iss, clientId }, sub);
    return [...hashes(first ?? ""), ...others.flatMap(hashes)];
  }
  const allPagesOf = (subject: Subject) => allPagesUnder(store, "subject", hashesOf(subject));

  function readSession(key: string, stored: Stored): ReadSession {
    const summary = readSummary(sealer, key, stored);
    const signedInAt = summary?.signedInAt ?? null;
    const stamps = {
      ...withoutUndefined({ idp_login_at: signedInAt ?? undefined }),
      idp_last_active: stored.lastActive,
    };
    const now = epochSeconds(clock);
    // An entry of an earlier release tells its last renewal only by its expiry.
    const renewedAt = summary?.activeAt ?? stored.expiresAt - sessionTtl;
    const activeAt = Math.max(stored.lastActive ?? 0, signedInAt ?? 0, renewedAt);
    return {
      signedInAt,
      activeAt,
      beganAt: summary?.activeAt ?? signedInAt ?? 0,
      lastActive: Math.min(now, Math.floor(activeAt)),
      label: summary?.label ?? null,
      isWithinLimits: isWithinLimits(stamps, summary?.sessionExpiry ?? undefined, policy, now),
    };
  }

  async function readNewest(key: string): Promise<ReadSession | undefined> {
    const stored = await store.get(key);
    // Without a subject, it is the trace of a session that has ended.
    return stored?.subject === undefined ? undefined : readSession(key, stored);
  }

  /** Reads sessions by key, until there are more than `most`. */
  async function read(
    subject: Subject,
    most: number,
  ): Promise<{ sessions: Map<string, ReadSession>; hasMore: boolean }> {
    const sessions = new Map<string, ReadSession>();
    for await (const entries of pagesUnder(store, "subject", hashesOf(subject))) {
      for (const [key, stored] of entries) sessions.set(key, readSession(key, stored));
      if (sessions.size > most) return { sessions, hasMore: true };
    }
    return { sessions, hasMore: false };
  }

  return {
    async list(subject, current) {
      const { sessions, hasMore } = await read(subject, MAX_READ_SESSIONS);
      if (current !== undefined && !sessions.has(current)) {
        const own = await store.get(current);
        if (own?.subject !== undefined && hashesOf(subject).includes(own.subject))
          sessions.set(current, readSession(current, own));
      }
      const listed = [...sessions].flatMap(
        ([key, { isWithinLimits: isListed, signedInAt, lastActive, label }]) =>
          isListed
            ? { id: sessionId(key), signedInAt, lastActive, label, current: key === current }
            : [],
      );
      return {
        sessions: listed.sort((a, b) => (b.signedInAt ?? 0) - (a.signedInAt ?? 0)),
        hasMore,
      };
    },
    async end(subject, id, announce) {
      for await (const entries of allPagesOf(subject)) {
        const keys = [...entries.keys()].filter((key) => sessionId(key) === id);
        if (keys.length > 0)
          return (await ending.end(keys, { reason: "ended_everywhere", announce })) === 1;
      }
      return false;
    },
    endAll(subject, except, announce) {
      const list = () => allPagesOf(subject);
      return ending.endListed(list, (key) => key !== except, {
        reason: "ended_everywhere",
        announce,
      });
    },
    async endSurplus(subject, { most, newest, announce }) {
      const { sessions } = await read(subject, most + MAX_SURPLUS);
      const own = sessions.get(newest) ?? (await readNewest(newest));
      if (own === undefined) return 0;
      const keys = surplusSessions(sessions, { most, newest, own });
      return ending.end(keys, { reason: "too_many_sessions", announce });
    },
    async hasSignedInSince(subject, since) {
      const { sessions, hasMore } = await read(subject, MAX_READ_SESSIONS);
      return (
        hasMore ||
        [...sessions.values()].some(({ signedInAt }) => signedInAt !== null && signedInAt >= since)
      );
    },
  };
}

/**
 * Returns the `id` of a session: a hash, so that a page with a device list does not reveal the
 * store's keys.
 */
export function sessionId(key: string): string {
  return createHash("sha256").update(`idpauth session ${key}`).digest("base64url").slice(0, 22);
}

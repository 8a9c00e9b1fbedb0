import { epochSeconds, type EpochSeconds } from "../../src/clock.js";
import type { Entry, SessionStore, Stored } from "../../src/ports/session-store.js";
import type { ClientIdentity, SessionRecord } from "../../src/record/record.js";
import { newCookieValue, storeKeyOf } from "../../src/sessions/cookie.js";
import { createSessionEnding } from "../../src/sessions/end-by-key.js";
import { readSummaryJson } from "../../src/sessions/entry-summary.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { createSealer } from "../../src/sessions/seal.js";
import {
  createSessionEntries,
  type Handle,
  type SessionEntriesOptions,
} from "../../src/sessions/session-entries.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { SealingStore } from "./sealing-store.js";

export const ISSUER = "https://issuer.example";
export const CLIENT: ClientIdentity = { issuer: ISSUER, clientId: "client" };
export const SECRET = "a secret key of at least 32 bytes";
export const TTL = 14 * 86_400;

export interface SignIn {
  readonly sub?: unknown;
  readonly iss?: unknown;
  readonly clientId?: string;
  /** The provider's session. */
  readonly sid?: string;
  /** `iat` of the ID token of the sign-in. */
  readonly iat?: number;
  readonly signedInAt?: EpochSeconds | undefined;
  readonly lastActive?: EpochSeconds;
  readonly sessionExpiry?: unknown;
  /** The end of the session has been announced. */
  readonly ended?: string;
  readonly label?: string;
  /** The algorithm of the ID token's signature. */
  readonly idTokenAlg?: string;
  readonly expiresAt?: EpochSeconds;
  /** When the session began, as the summary says. Null: an earlier release wrote the entry. */
  readonly activeAt?: number | null;
}

export type StoredSessionsOptions = Partial<Omit<SessionEntriesOptions, "clock">> & {
  readonly clock?: TestClock;
};

/** A store with sessions that no request has made, and the parts that find them without cookies. */
export function storedSessions(options: StoredSessionsOptions = {}) {
  const clock = new TestClock();
  const sealing = new SealingStore(clock);
  const parts = {
    store: createReportedStore(sealing, clock),
    sealer: createSealer(SECRET, []),
    clock,
    names: {
      credentials: "credentials",
      oauth_state: "oauth_state",
      final_redirect: "final_redirect",
    },
    clients: [CLIENT],
    namesProviders: false,
    sessionTtl: TTL,
    keepIdToken: false,
    debug: false,
    ...options,
  };
  const entries = createSessionEntries(parts);
  const now = () => epochSeconds(clock);

  /** Stores a session and returns its handle. */
  async function signIn({ label, expiresAt, activeAt, ...given }: SignIn = {}): Promise<Handle> {
    const handle = newHandle();
    const record = recordOf({ signedInAt: now(), ...given });
    const entry = entries.newEntryOf(record, handle, label ?? null);
    await parts.store.insert(handle.key, {
      ...entry,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(activeAt !== undefined && { summary: summaryAt(activeAt, entry, handle.key) }),
    });
    return handle;
  }

  function summaryAt(activeAt: number | null, entry: Entry, key: string): Uint8Array {
    const { active_at: _now, ...members } = readSummaryJson(parts.sealer, key, entry) ?? {};
    return parts.sealer.sealSummary(
      JSON.stringify({ ...members, active_at: activeAt ?? undefined }),
      key,
    );
  }

  return {
    ...parts,
    sealing,
    entries,
    ending: createSessionEnding(parts),
    now,
    signIn,
    /** Which of these sessions are still there. A trace is none. */
    remaining: async (handles: readonly Handle[]) => {
      const found = await Promise.all(handles.map(({ key }) => sealing.peek(key)));
      return found.map((stored) => stored?.subject !== undefined);
    },
  };
}

export function newHandle(): Handle {
  const value = newCookieValue();
  return { value, key: storeKeyOf(value) };
}

/** The record of a signed-in user. */
export function recordOf({
  sub = "ada",
  iss = ISSUER,
  clientId = CLIENT.clientId,
  sid,
  iat,
  signedInAt,
  lastActive,
  sessionExpiry,
  ended,
  idTokenAlg,
}: SignIn = {}): SessionRecord {
  return {
    credentials: {
      token: "access",
      refresh_token: "refresh",
      token_uri: "",
      client_id: clientId,
      client_secret: "",
      scopes: [],
    },
    id_info: { iss, sub },
    ...(signedInAt !== undefined && { idp_login_at: signedInAt }),
    ...(lastActive !== undefined && { idp_last_active: lastActive }),
    idp_state: {
      v: 1,
      ...(sid !== undefined && { sid }),
      ...(iat !== undefined && { signed_in_iat: iat }),
      ...(sessionExpiry !== undefined && { session_expiry: sessionExpiry }),
      ...(ended !== undefined && { ended }),
      ...(idTokenAlg !== undefined && { id_token_alg: idTokenAlg }),
    },
  };
}

/** A store whose lists have lost every entry, which its scan still finds, two at a time. */
export function withLostLists(store: SealingStore, isWhole = () => false): SessionStore {
  const all = async (): Promise<[string, Stored][]> => {
    const found = await Promise.all(
      store.inserted.map(async (key) => [key, await store.peek(key)] as const),
    );
    return found.flatMap(([key, stored]) => (stored === undefined ? [] : [[key, stored]]));
  };
  const empty = () => Promise.resolve({ entries: new Map<string, Stored>() });
  return Object.assign(store, {
    listBySubject: empty,
    listBySid: empty,
    lossyIndex: {
      isWhole: () => Promise.resolve(isWhole()),
      scan: async (cursor = "0") => {
        const start = Number(cursor);
        const entries = await all();
        return {
          entries: new Map(entries.slice(start, start + 2)),
          next: start + 2 < entries.length ? String(start + 2) : undefined,
        };
      },
    },
  });
}

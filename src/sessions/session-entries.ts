/** A session as a store keeps it: its encrypted record, and the fields that it is found by. */
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Entry, Stored } from "../ports/session-store.js";
import type { SignInTrace } from "../ports/user-session.js";
import type { SessionEnd } from "../record/end-reason.js";
import { expiryWithCookie } from "../record/entry-life.js";
import { deepFreeze, isTooDeep, MAX_RECORD_LEVELS } from "../record/json.js";
import { PENDING_LOGIN_SECONDS } from "../record/pending-logins.js";
import {
  isOfClients,
  knownClientOf,
  withoutIdToken,
  withoutInherited,
  type ClientIdentity,
  type KnownClients,
  type SessionRecord,
} from "../record/record.js";
import { parseRecord, storedForm, type KeyNames } from "../record/stored-form.js";
import { newCookieValue, storeKeyOf } from "./cookie.js";
import { tracedReason, type TracedReason } from "./end-trace.js";
import { parsedJson, readSummary, sealedSummary, stampOf } from "./entry-summary.js";
import type { Sealer } from "./seal.js";
import type { Looked } from "./session-end-watch.js";
import {
  readSignInTrace,
  SIGN_IN_TRACE_SECONDS,
  signInTraceOf,
  type ReadTrace,
} from "./sign-in-trace.js";
import type { ReportedStore } from "./store-failures.js";

/** The cookie value that leads to a session, and the key that the session is stored under. */
export interface Handle {
  readonly value: string;
  readonly key: string;
}

export interface SessionEntriesOptions extends KnownClients {
  readonly store: ReportedStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly names: KeyNames;
  /** Undefined: every provider is in the list. */
  readonly isProviderKnown?: IsProviderKnown | undefined;
  /**
   * Whether the application names its providers: then a session of none of them has ended, because
   * its provider was removed.
   */
  readonly namesProviders: boolean;
  /** Seconds that a signed-in session lives after its last renewal. */
  readonly sessionTtl: number;
  /** Whether a logout shows the ID token to the provider. Otherwise it is not stored. */
  readonly keepIdToken: boolean;
  /** Outside debug mode a record's `debug` key is dropped. */
  readonly debug: boolean;
}

/**
 * Whether a source has the provider of a record, with the record's issuer and client.
 *
 * @throws ProviderUnavailableError the source fails; the session stays
 */
export type IsProviderKnown = (
  client: ClientIdentity & { readonly sourceKey: string },
) => boolean | Promise<boolean>;

/**
 * Whether a source no longer has the provider of a session. Its entry stays, because the answer may
 * come from a replica that lags.
 *
 * @throws ProviderUnavailableError
 */
export async function isGone(
  { credentials, idp_state: { issuer, provider: sourceKey } }: SessionRecord,
  isKnown: IsProviderKnown | undefined,
): Promise<boolean> {
  if (sourceKey === undefined || isKnown === undefined || credentials === undefined) return false;
  return !(await isKnown({ issuer: issuer ?? "", clientId: credentials.client_id, sourceKey }));
}

/** A record with the entry that it was read from. */
export interface Found {
  readonly record: SessionRecord;
  readonly stored: Stored;
}

/** What an entry has that isn't in its record. */
interface KeptOfSession {
  readonly label: string | null;
  /**
   * When the session began, or was last renewed by activity without an idle timeout: seconds since
   * the epoch, with a fraction. Null: an earlier release wrote the entry.
   */
  readonly activeAt: number | null;
  /** What a later release has written into the summary. */
  readonly others?: Readonly<Record<string, unknown>>;
  /** Of a signed-in session that exists already. */
  readonly expiresAt?: EpochSeconds;
}

/** A session under a new key. */
export interface Inserted {
  readonly handle: Handle;
  readonly entry: Entry;
}

/** What the store has under a session's key. */
export type Loaded =
  | ({ readonly kind: "found" } & Found)
  /** Only the trace of a session that ended without its cookie. */
  | { readonly kind: "ended"; readonly reason: TracedReason }
  /** A session of a provider that the settings no longer contain. */
  | { readonly kind: "removed"; readonly reason: "provider_removed" }
  /** Only the trace of the sign-in that gave the session another key. */
  | { readonly kind: "replaced"; readonly trace: ReadTrace }
  /** A record that this process cannot read. A caller must not take it for a logout. */
  | { readonly kind: "unreadable" };

/** Translates between the record of a session and its entry in a store. */
export interface SessionEntries {
  /**
   * Returns the entry of a record that has just begun.
   *
   * @param label what a device list calls the session
   */
  newEntryOf(record: SessionRecord, handle: Handle, label: string | null): Entry;
  /** Returns the entry of a changed record. It keeps the session's label and its times. */
  replacementOf(stored: Stored, record: SessionRecord, handle: Handle): Entry;
  /** Returns the entry of the same record, renewed by the user's activity. */
  renewalOf(found: Found, handle: Handle, expiresAt: EpochSeconds): Entry;
  /** When the session was last renewed by activity. Undefined: not known. */
  activeAt(key: string, stored: Entry): number | undefined;
  /** Undefined: this process cannot read the record, or the record belongs to another client. */
  recordOf(stored: Stored, handle: Handle): SessionRecord | undefined;
  /**
   * Returns why a session has ended, if only its trace is stored under its key, or if its provider
   * was removed.
   */
  endOf(stored: Stored, handle: Handle): TracedReason | "provider_removed" | undefined;
  /** Returns the entry that a sign-in leaves under the key that it replaces. */
  traceEntryOf(trace: SignInTrace, handle: Handle): Entry;
  /** Stores a record that has just begun, under a new key. @throws StoreUnavailableError */
  insertNew(record: SessionRecord, label: string | null): Promise<Inserted>;
  /** Deletes an entry whose cookie no browser has, whether it was written or not. Never rejects. */
  discard(handle: Handle): Promise<void>;
  /** Returns what a session's entry is. */
  loaded(stored: Stored, handle: Handle): Loaded;
  /** Reads the sessions of several handles. */
  look(handles: readonly Handle[]): Promise<Looked[]>;
}

export function createSessionEntries(options: SessionEntriesOptions): SessionEntries {
  /** Returns the entry of a record. */
  function entryOf(record: SessionRecord, handle: Handle, kept: KeptOfSession): Entry {
    const { clock, sessionTtl, debug, keepIdToken } = options;
    const { credentials, idp_last_active: lastActive } = record;
    const now = epochSeconds(clock);
    const { expiresAt = expiryWithCookie(now + sessionTtl) } = kept;
    return {
      data: encode(
        withoutInherited({
          ...(keepIdToken ? record : withoutIdToken(record)),
          idp_last_active: undefined,
          debug: debug ? record.debug : undefined,
        }),
        handle,
      ),
      expiresAt: credentials === undefined ? now + PENDING_LOGIN_SECONDS : expiresAt,
      ...(typeof lastActive === "number" && Number.isFinite(lastActive) && { lastActive }),
      ...fieldsWithoutCookie(record, handle.key, kept),
    };
  }

  /** What a signed-in session is found by, and what is readable of it, without its cookie. */
  function fieldsWithoutCookie(
    record: SessionRecord,
    key: string,
    { label, activeAt, others }: KeptOfSession,
  ): Partial<Entry> {
    const { sealer } = options;
    const { id_info: claims, idp_login_at: signedInAt, idp_state: state } = record;
    const client = knownClientOf(record, options);
    if (client === undefined) return {};
    const issuer = textOf(claims?.iss);
    return {
      subject: sealer.subjectHashes({ ...client, issuer }, textOf(claims?.sub))[0],
      ...(state.sid !== undefined && { sid: sealer.sidHashes(client, state.sid)[0] }),
      summary: sealedSummary(sealer, key, {
        ...others,
        login_at: stampOf(signedInAt) ?? undefined,
        label: label ?? undefined,
        active_at: activeAt ?? undefined,
        iat: state.signed_in_iat,
        session_expiry: stampOf(state.session_expiry) ?? undefined,
        is_ended: state.ended === undefined ? undefined : true,
        id_token_alg: state.id_token_alg,
      }),
    };
  }

  function newEntryOf(record: SessionRecord, handle: Handle, label: string | null): Entry {
    return entryOf(record, handle, { label, activeAt: options.clock.now() / 1000 });
  }

  function replacementOf(stored: Stored, record: SessionRecord, handle: Handle): Entry {
    const {
      label = null,
      activeAt = null,
      others = {},
    } = readSummary(options.sealer, handle.key, stored) ?? {};
    return entryOf(record, handle, { label, activeAt, others, expiresAt: stored.expiresAt });
  }

  function renewalOf({ record, stored }: Found, handle: Handle, expiresAt: EpochSeconds): Entry {
    const { label = null, others = {} } = readSummary(options.sealer, handle.key, stored) ?? {};
    const activeAt = options.clock.now() / 1000;
    return entryOf(record, handle, { label, activeAt, others, expiresAt });
  }

  function activeAt(key: string, stored: Entry): number | undefined {
    return readSummary(options.sealer, key, stored)?.activeAt ?? undefined;
  }

  function endOf(stored: Stored, handle: Handle): TracedReason | "provider_removed" | undefined {
    // A signed-in session has a subject, and a pending login has no summary.
    if (stored.subject !== undefined) {
      const record = options.namesProviders ? decode(stored.data, handle) : undefined;
      return record === undefined || isOfClients(record, options) ? undefined : "provider_removed";
    }
    return tracedReason(options.sealer, handle.key, stored);
  }

  function recordOf(stored: Stored, handle: Handle): SessionRecord | undefined {
    const record = decode(stored.data, handle);
    if (record === undefined || !isOfClients(record, options)) return undefined;
    // A process with other key names signed this user in. A write from here would lose its keys.
    if (record.credentials === undefined && stored.subject !== undefined) return undefined;
    return stored.lastActive === undefined
      ? record
      : { ...record, idp_last_active: stored.lastActive };
  }

  function traceEntryOf(trace: SignInTrace, handle: Handle): Entry {
    const expiresAt = epochSeconds(options.clock) + SIGN_IN_TRACE_SECONDS;
    return signInTraceOf(options.sealer, handle, { ...trace, expiresAt });
  }

  async function insertNew(record: SessionRecord, label: string | null): Promise<Inserted> {
    const value = newCookieValue();
    const handle = { value, key: storeKeyOf(value) };
    const entry = newEntryOf(record, handle, label);
    const isNew = await options.store.insert(handle.key, entry).catch(async (error: unknown) => {
      await discard(handle);
      throw error;
    });
    if (isNew) return { handle, entry };
    // 256 random bits do not collide: the store is broken.
    throw new StoreUnavailableError("The session store refused a new key.");
  }

  async function discard({ key }: Handle): Promise<void> {
    await options.store.delete(key).catch(() => undefined);
  }

  function loaded(stored: Stored, handle: Handle): Loaded {
    const record = recordOf(stored, handle);
    if (record !== undefined) return { kind: "found", record, stored };
    const reason = endOf(stored, handle);
    if (reason === "provider_removed") return { kind: "removed", reason };
    if (reason !== undefined) return { kind: "ended", reason };
    const trace = readSignInTrace(options.sealer, handle, stored);
    return trace === undefined ? { kind: "unreadable" } : { kind: "replaced", trace };
  }

  async function look(handles: readonly Handle[]): Promise<Looked[]> {
    const found = await options.store.getMany(handles.map(({ key }) => key));
    return Promise.all(
      handles.map(async (handle) => {
        const stored = found.get(handle.key);
        const record = stored && recordOf(stored, handle);
        // While the source fails, nobody is signed out.
        const isEnded =
          record !== undefined &&
          (await isGone(record, options.isProviderKnown).catch(() => false));
        if (isEnded) return { record: undefined, reason: "provider_removed" as const };
        return { record, reason: stored && endIn(stored, handle) };
      }),
    );
  }

  function endIn(stored: Stored, handle: Handle): SessionEnd {
    const reason = endOf(stored, handle);
    if (reason !== undefined) return reason;
    const trace = readSignInTrace(options.sealer, handle, stored);
    return trace === undefined ? "no_credentials" : "replaced";
  }

  /** A store in this process keeps the record itself, any other encrypted bytes. */
  function encode(record: SessionRecord, { value, key }: Handle): Entry["data"] {
    const { store, sealer, names } = options;
    return store.inProcess
      ? deepFreeze(record)
      : sealer.seal(JSON.stringify(storedForm(record, names)), value, key);
  }

  /** Undefined: the data is not a record that this process can read. */
  function decode(data: Entry["data"], { value, key }: Handle): SessionRecord | undefined {
    const { store, sealer, names } = options;
    if (store.inProcess) {
      if (data instanceof Uint8Array) return undefined;
      // The stored object itself, so that a read copies nothing. A custom store may return a copy
      // with an ordinary prototype.
      return Object.getPrototypeOf(data) === null ? data : withoutInherited(data);
    }
    const json = data instanceof Uint8Array ? parsedJson(sealer.open(data, value, key)) : undefined;
    return isTooDeep(json, MAX_RECORD_LEVELS) ? undefined : parseRecord(json, names);
  }

  return {
    newEntryOf,
    replacementOf,
    renewalOf,
    activeAt,
    recordOf,
    endOf,
    traceEntryOf,
    insertNew,
    discard,
    loaded,
    look,
  };
}

/** A stored claim is untrusted: it may be of any type. */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : "";
}

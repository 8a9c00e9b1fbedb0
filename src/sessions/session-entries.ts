/** A session as a store keeps it: its encrypted record, and the fields that it is found by. */
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { Entry, Stored } from "../ports/session-store.js";
import { deepFreeze, isTooDeep, MAX_RECORD_DEPTH } from "../record/json.js";
import {
  clientOf,
  isOfClients,
  PENDING_LOGIN_SECONDS,
  withoutIdToken,
  withoutInherited,
  type ClientIdentity,
  type SessionRecord,
} from "../record/record.js";
import { expiryWithCookie } from "../record/session-life.js";
import { parseRecord, storedForm, type KeyNames } from "../record/stored-form.js";
import { tracedReason, type TracedReason } from "./end-trace.js";
import { parsedJson, readSummary, sealedSummary, stampOf } from "./entry-summary.js";
import type { Sealer } from "./seal.js";
import type { Looked } from "./session-end-watch.js";
import type { ReportedStore } from "./store-failures.js";

/** The cookie value that leads to a session, and the key that the session is stored under. */
export interface Handle {
  readonly value: string;
  readonly key: string;
}

export interface SessionEntriesOptions {
  readonly store: ReportedStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly names: KeyNames;
  readonly clients: readonly ClientIdentity[];
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
  /** Of a signed-in session that exists already. */
  readonly expiresAt?: EpochSeconds;
}

export type SessionEntries = ReturnType<typeof createSessionEntries>;

/** Translates between the record of a session and its entry in a store. */
export function createSessionEntries(options: SessionEntriesOptions) {
  /** Returns the entry of a record. */
  function entryOf(record: SessionRecord, handle: Handle, kept: KeptOfSession): Entry {
    const { sealer, clock, sessionTtl, debug, clients, keepIdToken } = options;
    const {
      credentials,
      id_info: claims,
      idp_login_at: loginAt,
      idp_last_active: lastActive,
    } = record;
    const {
      sid,
      signed_in_iat: signedInIat,
      session_expiry: sessionExpiry,
      ended,
    } = record.idp_state;
    const isSignedIn = credentials !== undefined;
    const client = clientOf(record, clients);
    const now = epochSeconds(clock);
    const { label, expiresAt = expiryWithCookie(now + sessionTtl), activeAt } = kept;
    return {
      data: encode(
        withoutInherited({
          ...(keepIdToken ? record : withoutIdToken(record)),
          idp_last_active: undefined,
          debug: debug ? record.debug : undefined,
        }),
        handle,
      ),
      expiresAt: isSignedIn ? expiresAt : now + PENDING_LOGIN_SECONDS,
      ...(typeof lastActive === "number" && Number.isFinite(lastActive) && { lastActive }),
      ...(client !== undefined && {
        subject: sealer.subjectHashes(
          { ...client, issuer: textOf(claims?.iss) },
          textOf(claims?.sub),
        )[0],
        ...(sid !== undefined && { sid: sealer.sidHashes(client, sid)[0] }),
        summary: sealedSummary(sealer, handle.key, {
          login_at: stampOf(loginAt) ?? undefined,
          label: label ?? undefined,
          active_at: activeAt ?? undefined,
          iat: signedInIat,
          session_expiry: stampOf(sessionExpiry) ?? undefined,
          is_ended: ended === undefined ? undefined : true,
        }),
      }),
    };
  }

  /**
   * Returns the entry of a record that has just begun.
   *
   * @param label what a device list calls the session
   */
  function newEntryOf(record: SessionRecord, handle: Handle, label: string | null): Entry {
    return entryOf(record, handle, { label, activeAt: options.clock.now() / 1000 });
  }

  /** Returns the entry of a changed record. It keeps the session's label and its times. */
  function replacementOf(stored: Stored, record: SessionRecord, handle: Handle): Entry {
    const { label = null, activeAt = null } = readSummary(options.sealer, handle.key, stored) ?? {};
    return entryOf(record, handle, { label, activeAt, expiresAt: stored.expiresAt });
  }

  /** Returns the entry of the same record, renewed by the user's activity. */
  function renewalOf({ record, stored }: Found, handle: Handle, expiresAt: EpochSeconds): Entry {
    const label = readSummary(options.sealer, handle.key, stored)?.label ?? null;
    return entryOf(record, handle, { label, activeAt: options.clock.now() / 1000, expiresAt });
  }

  /** When the session was last renewed by activity. Undefined: not known. */
  function activeAt(key: string, stored: Stored): number | undefined {
    return readSummary(options.sealer, key, stored)?.activeAt ?? undefined;
  }

  /**
   * Returns why a session has ended, if only its trace is stored under its key, or if its provider
   * was removed.
   */
  function endOf(stored: Stored, handle: Handle): TracedReason | "provider_removed" | undefined {
    // A signed-in session has a subject, and a pending login has no summary.
    if (stored.subject !== undefined) {
      const { namesProviders, clients } = options;
      const record = namesProviders ? decode(stored.data, handle) : undefined;
      return record === undefined || isOfClients(record, clients) ? undefined : "provider_removed";
    }
    return tracedReason(options.sealer, handle.key, stored);
  }

  /** Undefined: this process cannot read the record, or the record belongs to another client. */
  function recordOf(stored: Stored, handle: Handle): SessionRecord | undefined {
    const record = decode(stored.data, handle);
    if (record === undefined || !isOfClients(record, options.clients)) return undefined;
    // A process with other key names signed this user in. A write from here would lose its keys.
    if (record.credentials === undefined && stored.subject !== undefined) return undefined;
    return stored.lastActive === undefined
      ? record
      : { ...record, idp_last_active: stored.lastActive };
  }

  /** Reads the sessions of several handles. */
  async function look(handles: readonly Handle[]): Promise<Looked[]> {
    const found = await options.store.getMany(handles.map(({ key }) => key));
    return handles.map((handle) => {
      const stored = found.get(handle.key);
      const reason = stored && (endOf(stored, handle) ?? "no_credentials");
      return { record: stored && recordOf(stored, handle), reason };
    });
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
    return isTooDeep(json, MAX_RECORD_DEPTH) ? undefined : parseRecord(json, names);
  }

  return { newEntryOf, replacementOf, renewalOf, activeAt, endOf, recordOf, look };
}

/** A stored claim is untrusted: it may be of any type. */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : "";
}

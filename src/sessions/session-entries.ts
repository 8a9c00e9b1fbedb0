import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { Entry, SessionStore, Stored } from "../ports/session-store.js";
import { withoutInherited } from "../record/own-properties.js";
import { isOfClient, PENDING_LOGIN_SECONDS, withoutIdToken, type ClientIdentity, type SessionRecord } from "../record/record.js";
import type { KeyNames } from "../record/stored-form.js";
import { readSummary, stampOf, writeSummary } from "./device-summary.js";
import { recordCodec, type Handle, type RecordCodec } from "./record-codec.js";
import { readTrace, type TracedReason } from "./end-trace.js";
import type { Sealer } from "./seal.js";

export interface SessionEntriesOptions {
  readonly store: SessionStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly names: KeyNames;
  readonly client: ClientIdentity;
  /** Seconds that a signed-in session lives after its last renewal. */
  readonly sessionTtl: number;
  /** Whether a logout shows the ID token to the provider. Otherwise it is not stored. */
  readonly keepIdToken: boolean;
  /** Outside debug mode a record's `debug` key is dropped. */
  readonly debug: boolean;
}

/** Translates between the record of a session and its entry in a store. */
export class SessionEntries {
  readonly #options: SessionEntriesOptions;
  readonly #codec: RecordCodec;

  constructor(options: SessionEntriesOptions) {
    this.#options = options;
    this.#codec = recordCodec(options.store, options.sealer, options.names);
  }

  /**
   * Returns the entry of a record.
   *
   * @param label what a device list calls the session
   * @param expiresAt of a signed-in session that exists already
   */
  entryOf(record: SessionRecord, handle: Handle, label: string | null, expiresAt?: EpochSeconds): Entry {
    const { sealer, clock, sessionTtl, debug, client, keepIdToken } = this.#options;
    const { credentials, id_info: claims, idp_login_at: loginAt, idp_last_active: lastActive } = record;
    const { sid, signed_in_iat: signedInIat = null, session_expiry: sessionExpiry } = record.idp_state;
    const isSignedIn = credentials !== undefined;
    const life = isSignedIn ? sessionTtl : PENDING_LOGIN_SECONDS;
    return {
      data: this.#codec.encode(
        withoutInherited({
          ...(keepIdToken ? record : withoutIdToken(record)),
          idp_last_active: undefined,
          debug: debug ? record.debug : undefined,
        }),
        handle,
      ),
      expiresAt: (isSignedIn ? expiresAt : undefined) ?? epochSeconds(clock) + life,
      ...(typeof lastActive === "number" && Number.isFinite(lastActive) && { lastActive }),
      ...(isSignedIn && {
        subject: sealer.subjectHashes(textOf(claims?.iss), textOf(claims?.sub))[0],
        ...(sid !== undefined && { sid: sealer.sidHashes(client, sid)[0] }),
        summary: writeSummary(sealer, handle.key, {
          loginAt: stampOf(loginAt),
          label,
          clientId: credentials.client_id,
          signedInIat,
          sessionExpiry: stampOf(sessionExpiry),
        }),
      }),
    };
  }

  /** Returns the entry of a changed record. It keeps the session's label and expiry. */
  replacementOf(stored: Stored, record: SessionRecord, handle: Handle): Entry {
    const label = readSummary(this.#options.sealer, handle.key, stored)?.label ?? null;
    return this.entryOf(record, handle, label, stored.expiresAt);
  }

  /** Returns why a session has ended, if only its trace is stored under its key. */
  endOf(stored: Stored, { key }: Handle): TracedReason | undefined {
    return readTrace(this.#options.sealer, key, stored);
  }

  /** Undefined: this process cannot read the record, or the record belongs to another client. */
  recordOf(stored: Stored, handle: Handle): SessionRecord | undefined {
    const record = this.#codec.decode(stored.data, handle);
    if (record === undefined || !isOfClient(record, this.#options.client)) return undefined;
    // A process with other key names signed this user in. A write from here would lose its keys.
    if (record.credentials === undefined && stored.subject !== undefined) return undefined;
    return stored.lastActive === undefined ? record : { ...record, idp_last_active: stored.lastActive };
  }
}

/** A stored claim is untrusted: it may be of any type. */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : "";
}

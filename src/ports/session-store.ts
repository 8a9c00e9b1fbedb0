import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "../record/record.js";

/** What a store keeps under one key. */
export interface Entry {
  /** Opaque: encrypted bytes. A store that is `inProcess` gets the frozen record itself. */
  readonly data: Uint8Array | SessionRecord;
  readonly expiresAt: EpochSeconds;
  /** When the user was last active. It is stored beside the data, so that a change of it conflicts with no other write. */
  readonly lastActive?: EpochSeconds;
  /** Keyed hash of issuer and subject. Present only for a signed-in session. */
  readonly subject?: string;
  /** Encrypted with SECRET_KEY alone: login time and label for a device list. It contains no token. */
  readonly summary?: Uint8Array;
}

/** An entry as the store returns it. */
export interface Stored extends Entry {
  /** Changes with each `insert` and `replace`, not with `touch`. Compared for equality only. */
  readonly version: string;
}

/**
 * Stores bundled sessions. A key is the SHA-256 (base64url, 43 characters) of the cookie's value.
 *
 * Every method limits its own time. A rejection means "outcome unknown": the caller reads again. An entry whose `expiresAt` has
 * passed does not exist for any method.
 */
export interface SessionStore {
  /** A short name for messages: `memory`, `sqlite`, … */
  readonly name: string;
  /**
   * True: nothing leaves this process, so records are stored without encryption. A store that writes anywhere else must not set
   * it, because tokens would be stored in plain text.
   */
  readonly inProcess?: boolean;
  /** Setup mistakes that break the store's requirements. Found without I/O; startup check E012 reports them. */
  readonly problems?: readonly StoreProblem[];
  get(key: string): Promise<Stored | undefined>;
  /** Resolves to false if the key exists already; then nothing was written. */
  insert(key: string, entry: Entry): Promise<boolean>;
  /**
   * Replaces the entry if its version still is `version`. Resolves to false if the entry changed or is gone. The store itself compares
   * and writes in one step; otherwise two writers could both succeed. `lastActive` and `expiresAt` keep the later of stored and given.
   */
  replace(key: string, entry: Entry, version: string): Promise<boolean>;
  /**
   * Moves `lastActive` and `expiresAt` forward, never back, and changes nothing else. The version stays, so it never conflicts
   * with a lease. Resolves to false if there is no such entry, and does not create one.
   */
  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean>;
  /** Removes the entry and returns it. Later calls of `replace` and `touch` for this key resolve to false. */
  delete(key: string): Promise<Stored | undefined>;
  /** The keys of all unexpired entries with this subject. May be slow; must not block the event loop. */
  listBySubject(subject: string): Promise<string[]>;
  /** Closes timers and connections that the store itself opened. The application closes a client that it handed in. */
  close?(): Promise<void>;
}

/** A mistake in a store's setup. */
export interface StoreProblem {
  /** What is wrong. Names options; never contains a secret. */
  readonly message: string;
  readonly remedy: string;
}

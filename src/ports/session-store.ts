import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "../record/record.js";

/** What a store keeps under one key. */
export interface Entry {
  /** Opaque: encrypted bytes. A store that is `inProcess` gets the frozen record itself. */
  readonly data: Uint8Array | SessionRecord;
  /** From this second on, the entry doesn't exist. */
  readonly expiresAt: EpochSeconds;
  /**
   * When the user was last active. It is stored beside the data, so that a change of it conflicts
   * with no other write.
   */
  readonly lastActive?: EpochSeconds;
  /** Keyed hash of client, issuer and subject. Present only for a signed-in session. */
  readonly subject?: string;
  /**
   * Keyed hash of client and provider session (`sid`). Present only for a signed-in session whose
   * ID token had `sid`.
   */
  readonly sid?: string;
  /**
   * Encrypted with SECRET_KEY alone: login time and label for a device list. It contains no token.
   */
  readonly summary?: Uint8Array;
}

/** An entry as the store returns it. */
export interface Stored extends Entry {
  /** Changes with each `insert` and `replace`, not with `touch`. Compared for equality only. */
  readonly version: string;
}

/** A part of a list. */
export interface EntryPage {
  /** By key, at most 500. May be empty, even if there is a next page. */
  readonly entries: ReadonlyMap<string, Stored>;
  /** The cursor of the next page. Absent: this is the last page. */
  readonly next?: string | undefined;
}

/**
 * Stores bundled sessions. A key is the SHA-256 (base64url, 43 characters) of the cookie's value.
 *
 * Every method limits its own time. A rejection means "outcome unknown": the caller reads again. An
 * entry whose `expiresAt` has passed does not exist for any method.
 */
export interface SessionStore {
  /** A short name for messages: `memory`, `sqlite`, … */
  readonly name: string;
  /**
   * True: nothing leaves this process, so records are stored without encryption. A store that
   * writes anywhere else must not set it, because tokens would be stored in plain text.
   */
  readonly inProcess?: boolean;
  /**
   * Setup mistakes. Found without I/O; startup check E012, or W026 for a warning, reports them.
   */
  readonly problems?: readonly StoreProblem[];
  /**
   * Setup mistakes that only the store's server can tell. Called once when the application starts,
   * and again after a rejection. Startup check E012, or W025 for a warning, reports them.
   */
  serverProblems?(): Promise<readonly StoreProblem[]>;
  /** Absent: the lists contain every entry. */
  readonly lossyIndex?: LossyIndex;
  /** Resolves to undefined if there is no such entry. */
  get(key: string): Promise<Stored | undefined>;
  /** Resolves to false if the key exists already; then nothing was written. */
  insert(key: string, entry: Entry): Promise<boolean>;
  /**
   * Replaces the entry if its version still is `version`. Resolves to false if the entry changed or
   * is gone. The store itself compares and writes in one step; otherwise two writers could both
   * succeed. `lastActive` and `expiresAt` keep the later of stored and given.
   */
  replace(key: string, entry: Entry, version: string): Promise<boolean>;
  /**
   * Moves `lastActive` and `expiresAt` forward, never back, and changes nothing else. The version
   * stays, so it never conflicts with a lease. Resolves to false if there is no such entry, and
   * does not create one.
   */
  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean>;
  /**
   * Removes the entry and returns it. Later calls of `replace` and `touch` for this key resolve to
   * false.
   */
  delete(key: string): Promise<Stored | undefined>;
  /**
   * A page of the unexpired entries with this subject. An entry that exists from the first page to
   * the last is in one of them at least, even if all others are deleted meanwhile. So a cursor is
   * the position of an entry, never a number of entries to skip.
   *
   * @param cursor `next` of the previous page. Absent: the first page
   */
  listBySubject(subject: string, cursor?: string): Promise<EntryPage>;
  /** A page of the unexpired entries with this `sid`, like `listBySubject`. */
  listBySid(sid: string, cursor?: string): Promise<EntryPage>;
  /**
   * Several entries by key, without the missing ones. At most 500 keys. If the store lacks this
   * method, `get` runs for each key.
   */
  getMany?(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>>;
  /**
   * Tells the watchers in every process that a session has ended. Best effort. If the store lacks
   * this method, each process polls.
   */
  announceEnd?(key: string, reason: string): Promise<void>;
  /**
   * Tells this watcher about each announced end, of every process. The store opens a connection for
   * the first watcher, and closes it after the last watcher is removed.
   *
   * @returns a function that removes the watcher
   */
  watchEnds?(watcher: EndWatcher): () => void;
  /**
   * Closes timers and connections that the store itself opened. The application closes a client
   * that it handed in.
   */
  close?(): Promise<void>;
}

/** Gets the announced ends of sessions. */
export interface EndWatcher {
  /** A session has ended. This process may not watch it. */
  ended(key: string, reason: string): void;
  /**
   * True: from now on, each announced end arrives within a second. False: ends may be lost, so the
   * watcher has to poll. Starts as false.
   */
  connected(isConnected: boolean): void;
}

/**
 * For a store that can lose what `listBySubject` and `listBySid` read, although the entries are
 * still there: for example on a server that evicts keys.
 */
export interface LossyIndex {
  /**
   * Whether the lists contain every entry. If false, a logout by the provider, `endAllSessions` and
   * `endSession` also read all entries with `scan`. May keep its result for a minute.
   */
  isWhole(): Promise<boolean>;
  /**
   * A page of all unexpired entries, with the same rules as `listBySubject`. Entries without
   * `subject` and `sid` may be left out.
   *
   * @param cursor `next` of the previous page. Absent: the first page
   */
  scan(cursor?: string): Promise<EntryPage>;
}

/** A mistake in a store's setup. */
export interface StoreProblem {
  /** What is wrong. Names options; never contains a secret. */
  readonly message: string;
  /** How to correct it. Never contains a secret. */
  readonly remedy: string;
  /**
   * True: the store keeps its requirements, but something is worth a warning: W025 if the server
   * tells it, W026 if the client's options do.
   */
  readonly isWarning?: boolean;
}

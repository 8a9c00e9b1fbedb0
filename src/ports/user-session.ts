import type { EpochSeconds } from "../clock.js";
import type { EndReason, SessionEnd } from "../record/end-reason.js";
import type { LoginTarget, SessionRecord } from "../record/record.js";

/**
 * A pure function from the newest record to the next one. It returns the same record to change
 * nothing. It may run again if another write came first, so it depends on its argument only and has
 * no side effects.
 */
export type Change = (record: SessionRecord) => SessionRecord;

/** The result of an update. */
export type Updated =
  /** The change was made; `record` is its result. */
  | { readonly changed: true; readonly record: SessionRecord }
  /** The change returned the same record, or the session is gone (undefined). */
  | { readonly changed: false; readonly record: SessionRecord | undefined };

/** The session that a request's first gate found. */
export interface SeenSession {
  /** It had passed the policy. */
  readonly record: SessionRecord;
  readonly at: EpochSeconds;
}

/** What a sign-in leaves under the key that it replaces. */
export interface SignInTrace {
  /** SHA-256 (base64url) of the state that the sign-in used. */
  readonly stateHash: string;
  /** The login, so that it can begin again. */
  readonly target: LoginTarget;
}

/** How a session gets a new key. */
export interface Regeneration {
  /** Left under the old key for ten minutes. A framework's session leaves none. */
  readonly trace: SignInTrace;
  /** Called as soon as the new key has replaced the old one. */
  readonly replaced?: () => void;
}

/**
 * One user's session. Only a {@link Change} modifies it: a record that is read early and written as
 * a whole later would overwrite newer tokens or undo a logout.
 *
 * Every method rejects with `StoreUnavailableError` if the store fails. A failure never means "no
 * session".
 */
export interface UserSession {
  /** False for a framework's own get/set session: best effort, without protection from races. */
  readonly atomic: boolean;
  /**
   * Identifies the session within this process, so that requests of one session share one refresh.
   * Undefined until `read` has found a session. Changes with `regenerate`. Never leaves the
   * process.
   */
  readonly key: string | undefined;
  /** After `read`: there is a session, but its record could not be read, so it counts as none. */
  readonly isUnreadable?: boolean;
  /** After `read`: identifies a session whose provider was removed. Never leaves the process. */
  readonly removedKey?: string | undefined;
  /**
   * What the first access found, for the application's log. It stays when the session ends. Written
   * by the access, never read by a decision.
   */
  seen: SeenSession | undefined;
  /**
   * After `read`: when the store drops the session, by the clock of the process that wrote it.
   * Absent for a framework's own session.
   */
  readonly expiresAt?: EpochSeconds | undefined;
  /** After `read`: why the session has ended, if it ended without its cookie and left a trace. */
  readonly endedBy?: EndReason | undefined;
  /**
   * The record as this request first found it; undefined if there is none, or none that parses. One
   * look-up per request.
   */
  read(): Promise<SessionRecord | undefined>;
  /** The newest record. Undefined: the session is gone. */
  reload(): Promise<SessionRecord | undefined>;
  /**
   * Runs `change` on the newest record and stores the result. A session that is gone stays gone.
   */
  update(change: Change): Promise<Updated>;
  /**
   * As `update`, but creates the session if there is none. Only the start of a login may do this.
   */
  begin(change: Change): Promise<SessionRecord>;
  /**
   * As `update`, under a new key; the old key stops working (session fixation). Resolves to
   * undefined if the old session is gone: a logout won, and nothing is stored.
   */
  regenerate(change: Change, regeneration: Regeneration): Promise<SessionRecord | undefined>;
  /**
   * Removes the trace of the sign-in that has used this state, and returns its login: to one caller
   * only. Absent: the session leaves no traces.
   */
  takeTrace?(stateHash: string): Promise<LoginTarget | undefined>;
  /** Ends the session and returns its last record, so that the newest token gets revoked. */
  destroy(): Promise<SessionRecord | undefined>;
  /**
   * Stores the time of the last activity, and extends the session's life when that is due. Never
   * moves a time back, never creates a session, and changes nothing else: a write of an old copy
   * could bring back old tokens.
   *
   * @param lastActive null: keep the stored time
   * @param sendsCookie whether the response sends `setCookies`
   * @returns undefined if nothing was due, which is the usual case
   */
  touch(lastActive: EpochSeconds | null, sendsCookie: boolean): Promise<void> | undefined;
  /**
   * Calls a function once when this session ends, in any process. Call this method after `read` has
   * found a session. Watching does not count as activity.
   *
   * @returns a function that stops it
   */
  watchEnd(listener: (reason: SessionEnd) => void): () => void;
  /** Calls the listeners of this session, because the policy has ended it. */
  reportEnd(reason: EndReason): void;
  /** The Set-Cookie values that the calls above require, for the component's own responses. */
  readonly setCookies: readonly string[];
}

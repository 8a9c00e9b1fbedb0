import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "../record/record.js";

/**
 * A function over the freshest record. Gives the next record, or the very one it got to leave things as they are.
 * It may run again when another writer came between, so it must depend on nothing but its argument.
 */
export type Change = (record: SessionRecord) => SessionRecord;

/**
 * One visitor's session. It is only ever changed by a {@link Change}: a whole record read early and written back late
 * would overwrite newer tokens or undo a logout.
 *
 * Every method rejects with `StoreUnavailableError` when the store cannot answer; that is never "no session".
 */
export interface UserSession {
  /** False for a host's own get/set session: best effort, no race is promised. */
  readonly atomic: boolean;
  /**
   * Names the session within this process, so that requests of one session share one refresh. Undefined until `read`
   * has found a session. Changes with `regenerate`. Never leaves the process.
   */
  readonly key: string | undefined;
  /** After `read`: there is a session, but its record could not be opened, so it counts as none. */
  readonly isUnreadable?: boolean;
  /** The present record; undefined when there is none, or none that parses. One look-up per request, however often asked. */
  read(): Promise<SessionRecord | undefined>;
  /** Runs `change` on the freshest record and stores the result. Undefined: the session is gone, and stays gone. */
  update(change: Change): Promise<SessionRecord | undefined>;
  /** As `update`, but creates the session when there is none. Only the start of a login may do this. */
  begin(change: Change): Promise<SessionRecord>;
  /**
   * As `update`, under a new key; the old key is dead afterwards (session fixation). When the old session was gone
   * meanwhile, a logout won: nothing is kept and the answer is undefined.
   *
   * @param replaced called as soon as the old key is dead for the sake of the new one
   */
  regenerate(change: Change, replaced?: () => void): Promise<SessionRecord | undefined>;
  /** Ends the session and gives what was destroyed, so that the newest token gets revoked. */
  destroy(): Promise<SessionRecord | undefined>;
  /**
   * Stamps the last activity and renews the session's life when that is due. Never moves a stamp back, never creates,
   * never carries anything else: a stamp that wrote the whole record would bring back old tokens.
   *
   * @param lastActive null: leave the stamp
   * @param renew whether the answer can carry the cookie; a record that outlives its cookie is of no use
   * @returns undefined when neither was due, which is nearly always
   */
  touch(lastActive: EpochSeconds | null, renew: boolean): Promise<void> | undefined;
  /** The Set-Cookie values that the calls above made necessary, for the component's own answers. */
  readonly setCookies: readonly string[];
}

import type { Clock } from "../clock.js";
import { isOutage } from "../errors.js";
import { inTime } from "../work/deadline.js";

/** Milliseconds that a request waits for a write. The write itself goes on. */
const PATIENCE_MS = 100;
/** Milliseconds in which this process tries no further write of a session after one has failed. */
const PAUSE_MS = 1_000;

/** Ends the wait only: the write goes on. */
const LATE = new Error();

/**
 * Runs a write of a session that its request doesn't need. Returns undefined if nothing was due,
 * which is the usual case.
 */
export type OptionalWrite = (
  session: { readonly key: string | undefined },
  write: () => Promise<void> | undefined,
) => Promise<void> | undefined;

/**
 * Returns a function that runs a write which its request doesn't need: the idle stamp, the extension
 * of a session's life, or the note that a session has ended. A store that can be read but not
 * written, such as a full Redis, then fails no request and delays none by more than 100 ms.
 *
 * While a write of a session hangs, and for a second after one has failed, there is no further one,
 * so a store that hangs collects no queue. Only of this session: one user's record may be too large
 * for the store, and one shard of a Cluster may be full.
 */
export function createOptionalWrites(clock: Clock): OptionalWrite {
  /** The sessions whose write hangs or has just failed. */
  const paused = new Set<string>();
  return (session, write) => {
    if (paused.size > 0 && paused.has(session.key ?? "")) return undefined;
    const writing = write();
    if (writing === undefined) return undefined;
    const { key = "" } = session;
    // Sessions without a key would share one place.
    const pause = () => {
      if (key !== "") paused.add(key);
    };
    const resume = () => paused.delete(key);
    let isLate = false;
    const settled = writing.then(
      () => {
        if (isLate) resume();
      },
      (error: unknown) => {
        if (!isOutage(error)) {
          if (isLate) resume();
          throw error;
        }
        pause();
        clock.timer(PAUSE_MS, resume);
      },
    );
    const limit = { clock, milliseconds: PATIENCE_MS, late: () => LATE };
    return inTime(settled, limit).catch((error: unknown) => {
      if (error !== LATE) throw error;
      isLate = true;
      pause();
    });
  };
}

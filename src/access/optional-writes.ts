import type { Clock } from "../clock.js";
import { isOutage } from "../errors.js";
import type { UserSession } from "../ports/user-session.js";
import { inTime } from "../work/deadline.js";

/** Milliseconds that a request waits for a write. The write itself goes on. */
const PATIENCE_MS = 100;
/** Milliseconds in which this process tries no further write after one has failed. */
const PAUSE_MS = 1_000;

const LATE = new Error("The write goes on.");

/**
 * Returns a function that runs a write which its request doesn't need: the idle stamp, the extension
 * of a session's life, or the note that a session has ended. A store that can be read but not
 * written, such as a full Redis, then fails no request and delays none by more than 100 ms.
 *
 * While a write of a session hangs, there is no further one, so a store that hangs collects no
 * queue. The function returns undefined if nothing was due, which is the usual case.
 */
export function createOptionalWrites(clock: Clock) {
  let pausedUntil = -Infinity;
  const hanging = new Set<string>();
  return (
    { key = "" }: Pick<UserSession, "key">,
    write: () => Promise<void> | undefined,
  ): Promise<void> | undefined => {
    if (clock.monotonic() < pausedUntil || hanging.has(key)) return undefined;
    const writing = write();
    if (writing === undefined) return undefined;
    const settled = writing.catch((error: unknown) => {
      if (!isOutage(error)) throw error;
      pausedUntil = clock.monotonic() + PAUSE_MS;
    });
    return inTime(clock, PATIENCE_MS, settled, () => LATE).catch((error: unknown) => {
      if (error !== LATE) throw error;
      // Sessions without a key would share one place.
      if (key !== "") hanging.add(key);
      const end = () => hanging.delete(key);
      settled.then(end, end);
    });
  };
}

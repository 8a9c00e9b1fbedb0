import type { Clock } from "../../clock.js";

const SWEEP_MILLISECONDS = 30_000;
const SMALLEST_SLICE = 8;
const LARGEST_SLICE = 512;
/** Milliseconds that a slice is to take. What a row costs depends on the disk and on how the rows lie: it is learnt. */
const SLICE_MILLISECONDS = 4;

/** What there is to sweep. */
export interface Sweepable {
  /** Without a lock. */
  hasExpired(): boolean;
  /**
   * Removes up to `limit` expired entries in one transaction.
   *
   * @returns how many there were, and when it began, on `performance.now()`
   */
  removeExpired(limit: number): Promise<{ readonly removed: number; readonly began: number }>;
}

/**
 * Removes what has expired, every half minute, in slices with pauses as long as themselves, so that half of the time at
 * least is everything else's. Several processes may do so at once. A sweep that fails is left to the next.
 *
 * @returns stops it
 */
export function sweepRegularly(clock: Clock, sweepable: Sweepable): () => void {
  let isStopped = false;
  let slice = SMALLEST_SLICE;
  let cancelTimer: () => void;

  const sweep = async (): Promise<void> => {
    if (!sweepable.hasExpired()) return;
    for (;;) {
      const limit = slice;
      const { removed, began } = await sweepable.removeExpired(limit);
      if (removed < limit) return;
      // With the commit, and what that copied from the log into the database.
      const milliseconds = performance.now() - began;
      if (milliseconds > SLICE_MILLISECONDS) slice = Math.max(SMALLEST_SLICE, slice >> 1);
      else if (milliseconds < SLICE_MILLISECONDS / 2) slice = Math.min(LARGEST_SLICE, slice << 1);
      await pause(milliseconds);
      if (isStopped) return;
    }
  };

  const schedule = (): void => {
    if (isStopped) return;
    cancelTimer = clock.timer(SWEEP_MILLISECONDS, () => {
      sweep().then(schedule, schedule);
    });
  };

  schedule();
  return () => {
    isStopped = true;
    cancelTimer();
  };
}

/** Of real time, whatever the clock says: it is the process that needs it. Keeps no process alive. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

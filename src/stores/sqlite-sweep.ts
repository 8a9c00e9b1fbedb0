import type { Clock } from "../core/time.js";

const SWEEP_MILLISECONDS = 30_000;
const SMALLEST_SLICE = 8;
const LARGEST_SLICE = 512;
/** Milliseconds that a slice may take. What a row costs depends on the disk and on how the rows lie: it is learnt. */
const SLICE_MILLISECONDS = 4;

/** What there is to sweep. */
export interface Sweepable {
  /** Without a lock. */
  hasExpired(): boolean;
  /** Removes up to `limit` expired entries in one transaction; gives how many there were, and the milliseconds that it took. */
  removeExpired(limit: number): Promise<{ readonly removed: number; readonly milliseconds: number }>;
}

/**
 * Removes what has expired, every half minute, in slices between which everything else gets its turn. Several processes may
 * do so at once. A sweep that fails is left to the next.
 *
 * @returns stops it
 */
export function sweepRegularly(clock: Clock, sweepable: Sweepable): () => void {
  let isStopped = false;
  let slice = SMALLEST_SLICE;
  let cancelTimer: () => void;

  const sweep = async (): Promise<void> => {
    if (!sweepable.hasExpired()) return;
    let removed: number;
    do {
      const limit = slice;
      const done = await sweepable.removeExpired(limit);
      removed = done.removed;
      if (done.milliseconds > SLICE_MILLISECONDS) slice = Math.max(SMALLEST_SLICE, slice >> 1);
      else if (done.milliseconds < SLICE_MILLISECONDS / 2) slice = Math.min(LARGEST_SLICE, slice << 1);
    } while (removed > 0 && !isStopped);
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

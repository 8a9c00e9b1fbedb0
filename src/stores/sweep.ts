import type { Clock } from "../clock.js";

/**
 * Milliseconds between two sweeps of a store for expired entries, which no operation returns before
 * they are removed. PostgreSQL's can be set (`sweepInterval`), because all processes sweep one
 * table.
 */
export const SWEEP_EVERY_MS = { memory: 30_000, sqlite: 30_000, postgres: 60_000 };

/** Milliseconds between two full slices, so that other work gets its turn. */
const SLICE_PAUSE_MS = 20;

/**
 * Removes expired entries at intervals, in slices: the next slice follows soon after a full one.
 * There are never two at once. The sweep ignores a slice that rejects, because the sessions' own
 * operations report an outage.
 *
 * @param interval milliseconds; 0: no sweep
 * @param slice removes some entries, and returns whether there may be more
 * @returns stops the sweep; resolves when a running slice has ended
 */
export function sweepRegularly(
  clock: Clock,
  interval: number,
  slice: () => Promise<boolean>,
): () => Promise<void> {
  let isStopped = false;
  let running: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  const next = (isMore: boolean): void => {
    if (isStopped) return;
    // Random, because the processes of a fleet start together.
    const pause = isMore ? SLICE_PAUSE_MS : Math.ceil(interval * (0.5 + Math.random() / 2));
    cancelTimer = clock.timer(pause, () => {
      running = slice()
        .catch(() => false)
        .then(next);
    });
  };
  if (interval > 0) next(false);
  return async () => {
    isStopped = true;
    cancelTimer?.();
    await running;
  };
}

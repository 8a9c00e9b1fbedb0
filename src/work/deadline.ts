import type { Clock } from "../clock.js";

/** How long work may take. */
export interface TimeLimit {
  /** Decides whether the wait keeps the process alive: the system clock's timers do not. */
  readonly clock: Clock;
  readonly milliseconds: number;
  /** Returns the error once the time has passed. */
  readonly late: () => Error;
}

/**
 * Returns the result of the work, or rejects with `late()` as soon as the time has passed. The work
 * may continue. How it ends later is ignored.
 */
export function inTime<Result>(
  work: Promise<Result>,
  { clock, milliseconds, late }: TimeLimit,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(milliseconds, () => {
      reject(late());
    });
    work.finally(cancel).then(resolve, reject);
  });
}

/**
 * As {@link inTime}, with a signal that is aborted when the time has passed. A signal costs several
 * times as much as the timer.
 */
export async function within<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  limit: TimeLimit,
): Promise<Result> {
  const deadline = new AbortController();
  const late = () => {
    deadline.abort(new DOMException("The time limit has passed.", "TimeoutError"));
    return limit.late();
  };
  return inTime(work(deadline.signal), { ...limit, late });
}

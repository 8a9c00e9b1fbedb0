import type { Clock } from "../clock.js";

/**
 * Returns the result of the work, or rejects with `late()` as soon as the time has passed. The work
 * may continue. How it ends later is ignored.
 *
 * The clock decides whether the wait keeps the process alive: the system clock's timers do not.
 */
export function inTime<Result>(
  clock: Clock,
  milliseconds: number,
  work: Promise<Result>,
  late: () => Error,
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
  clock: Clock,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  const deadline = new AbortController();
  return inTime(clock, milliseconds, work(deadline.signal), () => {
    deadline.abort(new DOMException("The time limit has passed.", "TimeoutError"));
    return late();
  });
}

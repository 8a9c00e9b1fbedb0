import { systemClock, type Clock } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import { inTime } from "../work/deadline.js";

/**
 * Default and maximum time of one store operation, in milliseconds. The refresh lease is computed
 * from it.
 */
export const DEFAULT_STORE_TIMEOUT_MS = 2_000;

/**
 * Checks the option `timeout` of a store.
 *
 * @param name the store's function, for the message
 * @throws TypeError if the time limit is out of bounds
 */
export function checkTimeout(name: string, timeout: number): void {
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= DEFAULT_STORE_TIMEOUT_MS) return;
  throw new TypeError(
    `${name}: timeout must be whole milliseconds from 1 to ${String(DEFAULT_STORE_TIMEOUT_MS)}, because the refresh lease depends on it; got ${String(timeout)}.`,
  );
}

/**
 * The system clock, but a wait for a store keeps the process alive, so that a script gets the
 * result or the error.
 */
const clock: Clock = {
  ...systemClock,
  timer(milliseconds, task) {
    const handle = setTimeout(task, milliseconds);
    return () => {
      clearTimeout(handle);
    };
  },
};

/**
 * Returns the result of the work, or rejects after `milliseconds`. After that rejection the outcome
 * of the work is unknown.
 *
 * @param tooLate the message of the rejection
 * @throws StoreUnavailableError the time has passed
 */
export function withinTime<Result>(
  work: Promise<Result>,
  milliseconds: number,
  tooLate = () => "The session store didn't respond in time.",
): Promise<Result> {
  return inTime(work, { clock, milliseconds, late: () => new StoreUnavailableError(tooLate()) });
}

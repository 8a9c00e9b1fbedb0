import { StoreUnavailableError } from "../errors.js";

/** Milliseconds that one operation of a store may take, at the most and by default: the refresh lease counts on it. */
export const DEFAULT_STORE_TIMEOUT = 2_000;

/**
 * @param name the store's function, for the message
 * @throws TypeError for what is no time limit
 */
export function checkTimeout(name: string, timeout: number): void {
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= DEFAULT_STORE_TIMEOUT) return;
  throw new TypeError(
    `${name}: timeout must be whole milliseconds from 1 to ${String(DEFAULT_STORE_TIMEOUT)}, on which the refresh lease counts; got ${String(timeout)}.`,
  );
}

/**
 * The work's own outcome; or, after `milliseconds`, a rejection: nobody knows then what the work did, or will still do.
 *
 * @throws StoreUnavailableError the time is over
 */
export function withinTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new StoreUnavailableError("The session store did not answer in time."));
    }, milliseconds);
    const settle = (): void => {
      clearTimeout(timer);
    };
    work.then(
      (result) => {
        settle();
        resolve(result);
      },
      (error: unknown) => {
        settle();
        reject(error instanceof Error ? error : new StoreUnavailableError(undefined, { cause: error }));
      },
    );
  });
}

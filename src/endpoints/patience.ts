import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";

/** Milliseconds for which a logout waits for the provider. */
const PATIENCE = 1_000;

/** Resolves with the work, or rejects after a second. The work goes on. */
export function within<Result>(clock: Clock, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(PATIENCE, () => {
      reject(new ProviderUnavailableError("timeout"));
    });
    work.then(resolve, reject).finally(cancel);
  });
}

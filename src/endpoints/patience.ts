import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";

/** Milliseconds for which a logout waits for the provider. */
const PATIENCE = 1_000;

/** Returns the result of the work, or rejects after {@link PATIENCE}. The work then continues. */
export function within<Result>(clock: Clock, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(PATIENCE, () => {
      reject(new ProviderUnavailableError("timeout"));
    });
    work.then(resolve, reject).finally(cancel);
  });
}

import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import { inTime } from "../work/deadline.js";

/** Milliseconds for which a logout waits for the provider. */
const PATIENCE_MS = 1_000;

/**
 * Returns the result of a request to the provider, for which a user who signs out waits only a
 * moment. The request goes on afterwards.
 */
export function withPatience<Result>(clock: Clock, request: Promise<Result>): Promise<Result> {
  const late = () => new ProviderUnavailableError("timeout");
  return inTime(request, { clock, milliseconds: PATIENCE_MS, late });
}

/** For how long a refusal of the provider or of an API is remembered. */
import type { EpochSeconds } from "../clock.js";

/**
 * Seconds for which a refusal counts, and in which a rejected token is replaced only once. Our
 * decision.
 */
const REFUSAL_SECONDS = 60;

/**
 * Whether something was written within the last minute. A time in the future, of another clock,
 * counts as now.
 */
export function isRecent(at: EpochSeconds | undefined, now: EpochSeconds): boolean {
  return at !== undefined && now - at < REFUSAL_SECONDS;
}

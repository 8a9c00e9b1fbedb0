import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "./record.js";

/**
 * The errors by which a provider says that it needs the user (OpenID Connect Core section 3.1.2.6).
 */
export const NEEDS_USER: readonly string[] = [
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
];

/** Seconds after a silent login that failed, in which the guard starts no other silent login. */
const PAUSE_SECONDS = 30;

/** Whether an error code of the provider says only that a silent login is not possible now. */
export function needsUser(error: string): boolean {
  return NEEDS_USER.includes(error);
}

/**
 * Whether a login by the guard would loop: every login is silent by its settings, and one has just
 * failed. It would fail again, and lead back to the guarded page.
 *
 * @param prompt the `prompt` of every login
 */
export function wouldLoop(
  record: SessionRecord | undefined,
  prompt: unknown,
  now: EpochSeconds,
): boolean {
  const failedAt = record?.idp_state.silent_failed_at;
  return failedAt !== undefined && Math.abs(now - failedAt) < PAUSE_SECONDS && prompt === "none";
}

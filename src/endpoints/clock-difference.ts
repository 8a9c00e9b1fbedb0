import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "../record/record.js";

/** Seconds below which a difference isn't worth a word. */
const TOLERATED_SECONDS = 60;

/** What other processes and the store have stamped. */
export interface Stamps {
  readonly record: SessionRecord | undefined;
  /** When the entry expires. Undefined: unknown. */
  readonly expiresAt: EpochSeconds | undefined;
}

/**
 * Returns by how many seconds this process's clock is ahead of another one, at least; negative:
 * behind. 0: no stamp shows a difference. A stamp in the past shows one only if the store, which
 * drops what has expired, still returned the entry.
 */
export function clockDifference(
  { record, expiresAt = Infinity }: Stamps,
  now: EpochSeconds,
): number {
  const starts = record?.idp_state.logins?.map(({ started_at: at }) => at) ?? [];
  const behind = Math.max(0, ...starts) - now;
  if (behind > TOLERATED_SECONDS) return -behind;
  const ahead = now - expiresAt;
  return ahead > TOLERATED_SECONDS ? ahead : 0;
}

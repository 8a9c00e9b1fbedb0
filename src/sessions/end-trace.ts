/** What remains of a session that ended without its cookie, and for how long. */
import type { EpochSeconds } from "../clock.js";
import type { Entry, Stored } from "../ports/session-store.js";
import { noteOf, readSummaryJson } from "./entry-summary.js";
import type { Sealer } from "./seal.js";

/** Seconds for which the trace of an ended session stays. */
const TRACE_SECONDS = 600;

/** Why a session can end without its cookie. */
const TRACED = ["logged_out_at_provider", "ended_everywhere", "too_many_sessions"] as const;
export type TracedReason = (typeof TRACED)[number];

export interface TracedEnd {
  readonly reason: TracedReason;
  readonly now: EpochSeconds;
}

/**
 * Returns the trace that a session leaves under its key when it ends without its cookie. The
 * browser learns the reason from the trace, which contains nothing else.
 */
export function traceOf(sealer: Sealer, key: string, { reason, now }: TracedEnd): Entry {
  return noteOf(sealer, key, { members: { ended: reason }, expiresAt: now + TRACE_SECONDS });
}

/** Why a session has ended, if this entry is its trace. */
export function tracedReason(
  sealer: Sealer,
  key: string,
  stored: Stored,
): TracedReason | undefined {
  const reason = readSummaryJson(sealer, key, stored)?.["ended"];
  return TRACED.find((traced) => traced === reason);
}

import type { EpochSeconds } from "../clock.js";
import type { Entry, Stored } from "../ports/session-store.js";
import { readSummaryJson } from "./device-summary.js";
import type { Sealer } from "./seal.js";

/** Seconds for which the trace of an ended session stays. */
const TRACE_SECONDS = 600;

/** Why a session can end without its cookie. */
const TRACED = ["logged_out_at_provider", "ended_everywhere"] as const;
export type TracedReason = (typeof TRACED)[number];

/**
 * Returns the trace that a session leaves under its key when it ends without its cookie. The browser learns the reason from the trace,
 * which contains nothing else.
 */
export function traceOf(sealer: Sealer, key: string, reason: TracedReason, now: EpochSeconds): Entry {
  return {
    data: Uint8Array.of(0),
    summary: sealer.sealSummary(JSON.stringify({ v: 1, ended: reason }), key),
    expiresAt: now + TRACE_SECONDS,
  };
}

/** Returns the reason in a trace. Undefined: the entry is no trace. */
export function readTrace(sealer: Sealer, key: string, stored: Stored): TracedReason | undefined {
  // A signed-in session has a subject, and a pending login has no summary.
  if (stored.subject !== undefined || stored.summary === undefined) return undefined;
  const reason = readSummaryJson(sealer, key, stored)?.["ended"];
  return TRACED.find((traced) => traced === reason);
}

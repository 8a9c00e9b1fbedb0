// The conditions that a soak must meet. Pure: samples go in, findings come out.
import { AFTERMATH } from "./faults.mjs";

/** Milliseconds of event-loop delay at the 99th percentile of the whole run. */
const MOST_DELAY = 50;

/**
 * Largest growth of the heap from the first quarter after warm-up to the last, after a garbage
 * collection: in bytes and as a share.
 */
const MOST_GROWTH = { bytes: 3 * 1024 * 1024, share: 0.05 };

/** The share of the run in which memory may still grow, because code is compiled and pools fill. */
const WARM_UP = 0.2;

/**
 * A run of at least this many seconds must include every fault of the plan; a shorter run, at least
 * one.
 */
const WHOLE_RUN = 14.5 * 60;

/**
 * Requests that must have succeeded: an application that refuses every user would meet the other
 * conditions.
 */
const WORK = ["login 302", "callback 302", "reports 200", "probe 200", "logout 200"];

/**
 * @param {{ samples: readonly any[], planned: readonly string[], rest: any, before: Record<string, number>, faults: readonly { name: string, from: number, to: number }[], troubles: readonly { at: number, what: string, status: number, isTold: boolean }[], endedWithin: number | undefined, responses: { byWhat: Record<string, number> }, refreshes: number, violations: readonly string[] }}
 *   run seconds since its start
 */
export function judge({
  samples,
  planned,
  rest,
  before,
  faults,
  troubles,
  endedWithin,
  responses,
  refreshes,
  violations,
}) {
  const spared = planned.filter((name) => !faults.some((fault) => fault.name === name));
  const isWhole = (samples.at(-1)?.at ?? 0) >= WHOLE_RUN;
  const missing = WORK.filter((key) => (responses.byWhat[key] ?? 0) === 0);
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const quarter = Math.max(1, Math.floor(steady.length / 4));
  const first = mean(steady.slice(0, quarter).map(({ heapUsed }) => heapUsed));
  const last = mean(steady.slice(-quarter).map(({ heapUsed }) => heapUsed));
  const allowed = Math.max(MOST_GROWTH.bytes, first * MOST_GROWTH.share);
  const unexpected = troubles.filter(
    ({ at, status, isTold }) => status !== 503 || !isTold || !isDuringFault(at, faults),
  );
  const leaked = Object.entries(rest.resources).filter(
    ([kind, count]) => count > (before[kind] ?? 0),
  );
  return [
    {
      name: "users signed in, returned, refreshed and signed out",
      isMet: missing.length === 0 && refreshes > 0,
      detail:
        missing.length === 0
          ? `${WORK.map((key) => `${key} ${responses.byWhat[key]}`).join(", ")}; ${refreshes} refreshes`
          : `never: ${missing.join(", ")}`,
    },
    {
      name: isWhole ? "every planned fault happened" : "at least one fault happened",
      isMet: isWhole ? spared.length === 0 : faults.length > 0,
      detail: `${planned.length - spared.length} of ${planned.length}${isWhole && spared.length > 0 ? `; not: ${spared.join(", ")}` : ""}`,
    },
    {
      name: "memory is flat after warm-up",
      isMet: last - first <= allowed,
      detail: `heap after garbage collection ${megabytes(first)} in the first quarter, ${megabytes(last)} in the last; resident memory ${megabytes(steady.at(-1)?.rss ?? 0)} at the end`,
    },
    {
      name: `event-loop delay p99 under ${MOST_DELAY} ms`,
      isMet: rest.p99 < MOST_DELAY,
      detail: `p99 ${rest.p99.toFixed(1)} ms, longest ${rest.max.toFixed(0)} ms`,
    },
    {
      name: "no unexpected 5xx, and every request got a response",
      isMet: unexpected.length === 0,
      detail:
        unexpected.length === 0
          ? `${troubles.length} responses of 503, all with Retry-After, all during a fault or within ${AFTERMATH} s after it`
          : unexpected
              .slice(0, 5)
              .map(
                ({ at, what, status }) =>
                  `${status === 0 ? "no response" : status} for ${what} at ${at.toFixed(0)} s`,
              )
              .join("; "),
    },
    {
      name: "the provider received no forbidden request",
      isMet: violations.length === 0,
      detail: violations[0] ?? "none",
    },
    {
      name: "no unhandled rejection, no uncaught exception",
      isMet: rest.unhandled.length === 0,
      detail: rest.unhandled[0] ?? "none",
    },
    {
      name: "no leaked socket or timer",
      isMet: leaked.length === 0,
      detail:
        leaked.length === 0
          ? `at rest ${list(rest.resources)}; before the load ${list(before)}`
          : leaked
              .map(([kind, count]) => `${count} ${kind}, before ${before[kind] ?? 0}`)
              .join("; "),
    },
    {
      name: "the process ends by itself",
      isMet: endedWithin !== undefined,
      detail:
        endedWithin === undefined
          ? "it had to be killed"
          : `within ${endedWithin.toFixed(1)} s of the request to end`,
    },
  ];
}

/**
 * @param {number} at
 * @param {readonly { from: number, to: number }[]} faults
 */
function isDuringFault(at, faults) {
  return faults.some(({ from, to }) => at >= from && at <= to + AFTERMATH);
}

/** @param {readonly number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** @param {Record<string, number>} counts */
function list(counts) {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ");
}

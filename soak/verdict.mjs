// The conditions that a soak must meet. Pure: samples go in, findings come out.
import { AFTERMATH, API_AFTERMATH, LOST_TOKENS_AFTERMATH } from "./faults.mjs";

/**
 * Milliseconds of event-loop delay at the 99th percentile of the whole run, more than that of an
 * idle process, which waits for other programs on the machine alone.
 */
const MOST_DELAY = 50;

/**
 * Largest growth of the heap from the first quarter after warm-up to the last, after a garbage
 * collection: in bytes and as a share.
 */
const MOST_GROWTH = { bytes: 3 * 1024 * 1024, share: 0.05 };

/**
 * The same of the resident memory, which the system gives and takes in larger parts, and which
 * depends on the bodies under way.
 */
const MOST_RESIDENT_GROWTH = { bytes: 24 * 1024 * 1024, share: 0.15 };

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

/** The same of the API behind the proxy. */
const PROXIED = ["items 200", "download 200", "upload 200", "events 200", "WebSocket 101"];

/**
 * @param {{ samples: readonly any[], planned: readonly string[], rest: any, before: Record<string, number>, faults: readonly { name: string, isOfApi?: boolean, losesTokens?: boolean, from: number, to: number }[], troubles: readonly { at: number, what: string, status: number, isTold: boolean }[], endedWithin: number | undefined, responses: { byWhat: Record<string, number> }, refreshes: number, apiRefreshes: number, violations: readonly string[] }}
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
  apiRefreshes,
  violations,
}) {
  const spared = planned.filter((name) => !faults.some((fault) => fault.name === name));
  const isWhole = (samples.at(-1)?.at ?? 0) >= WHOLE_RUN;
  const missing = WORK.filter((key) => (responses.byWhat[key] ?? 0) === 0);
  const unproxied = PROXIED.filter((key) => (responses.byWhat[key] ?? 0) === 0);
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const heap = growthOf(
    steady.map(({ heapUsed }) => heapUsed),
    MOST_GROWTH,
  );
  const resident = growthOf(
    steady.map(({ rss }) => rss),
    MOST_RESIDENT_GROWTH,
  );
  const unexpected = troubles.filter((trouble) => !isExcused(trouble, faults));
  const excused = troubles.length - unexpected.length;
  const unavailable = troubles.filter(({ status }) => status === 503).length;
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
      isMet: heap.isFlat && resident.isFlat,
      detail: `heap after garbage collection ${heap.detail}; resident memory ${resident.detail}`,
    },
    {
      name: `event-loop delay p99 less than ${MOST_DELAY} ms above that of an idle process`,
      isMet: rest.p99 - rest.idle.p99 < MOST_DELAY,
      detail: `p99 ${rest.p99.toFixed(1)} ms, longest ${rest.max.toFixed(0)} ms; idle process p99 ${rest.idle.p99.toFixed(1)} ms, longest ${rest.idle.max.toFixed(0)} ms`,
    },
    {
      name: "no unexpected 5xx, and every request got a response",
      isMet: unexpected.length === 0,
      detail:
        unexpected.length === 0
          ? `${unavailable} responses of 503, all with Retry-After, all during a fault or within ${AFTERMATH} s after it; ${excused - unavailable} of 502 or broken off, all while the API dropped its connections, or when the provider had spent refresh tokens whose successors got lost`
          : unexpected
              .slice(0, 5)
              .map(
                ({ at, what, status }) =>
                  `${status === 0 ? "no response" : status} for ${what} at ${at.toFixed(0)} s`,
              )
              .join("; "),
    },
    {
      name: "the API got requests, bodies, streams and WebSockets, with tokens of its own",
      isMet: unproxied.length === 0 && apiRefreshes > 0 && rest.api.rejected === 0,
      detail:
        unproxied.length > 0
          ? `never: ${unproxied.join(", ")}`
          : `${PROXIED.map((key) => `${key} ${responses.byWhat[key]}`).join(", ")}; ${apiRefreshes} refreshes for it, ${rest.api.rejected} requests with another token`,
    },
    {
      name: "a logout cuts the user's streams and WebSockets within 5 s",
      isMet: rest.live.late === 0 && rest.live.cut > 0,
      detail: `${rest.live.open} opened, ${rest.live.cut} cut by a logout, ${rest.live.late} too late`,
    },
    {
      name: "when the users have left, the API has no open request and no connection",
      isMet: rest.api.open + rest.api.sockets + rest.api.upgraded === 0,
      detail: `${rest.api.open} requests, ${rest.api.upgraded} WebSockets, ${rest.api.sockets} connections`,
    },
    {
      name: "the provider received no forbidden request",
      isMet: violations.length === 0,
      detail: violations[0] ?? "none",
    },
    {
      name: "no unhandled rejection, no uncaught exception, no warning of Node.js",
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
 * Whether a fault explains a response: a 503 that says so, a 502 and a body that breaks off while
 * the API drops its connections, or what breaks off because its session has ended with a lost token.
 *
 * @param {{ at: number, status: number, isTold: boolean }} trouble
 * @param {readonly { isOfApi?: boolean, losesTokens?: boolean, from: number, to: number }[]} faults
 */
function isExcused({ at, status, isTold }, faults) {
  return faults.some(
    ({ isOfApi = false, losesTokens = false, from, to }) =>
      at >= from &&
      (status === 503
        ? isTold && at <= to + AFTERMATH
        : (isOfApi && (status === 502 || status === 0) && at <= to + API_AFTERMATH) ||
          (losesTokens && status === 0 && at <= to + LOST_TOKENS_AFTERMATH)),
  );
}

/**
 * The growth from the first quarter to the last.
 *
 * @param {readonly number[]} bytes
 * @param {{ bytes: number, share: number }} most
 */
function growthOf(bytes, most) {
  const quarter = Math.max(1, Math.floor(bytes.length / 4));
  const first = mean(bytes.slice(0, quarter));
  const last = mean(bytes.slice(-quarter));
  return {
    isFlat: last - first <= Math.max(most.bytes, first * most.share),
    detail: `${megabytes(first)} in the first quarter, ${megabytes(last)} in the last`,
  };
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

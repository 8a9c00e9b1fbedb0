import type { Clock } from "../clock.js";
import { SIGN_IN_TRACE_SECONDS } from "./sign-in-trace.js";
import type { ReportedStore } from "./store-failures.js";

/** Traces that one sign-in removes at most, so that no sign-in has to remove those of an hour. */
const REMOVED_TRACES = 2;

/**
 * The traces of sign-ins that replaced a signed-in session. A store keeps them as long as it would
 * have kept that session, since `replace` never moves an expiry back. So later sign-ins in this
 * process remove them when they count no more. If the process ends first, they stay until then.
 *
 * A trace is never stored again with its own expiry. That would hide it from a repeated callback for
 * a moment, and could bring it back after a logout.
 */
export interface OldTraces {
  /** Remembers a new trace, and removes older ones that count no more. No request waits for it. */
  left(key: string): void;
}

export function createOldTraces({
  store,
  clock,
}: {
  readonly store: ReportedStore;
  readonly clock: Clock;
}): OldTraces {
  /** When each counts no more, on the clock's `monotonic()`. The oldest is first. */
  const ends = new Map<string, number>();

  function removeDue(now: number): void {
    let removed = 0;
    for (const [key, end] of ends) {
      if (end > now || removed === REMOVED_TRACES) return;
      ends.delete(key);
      removed += 1;
      store.delete(key).catch(() => undefined);
    }
  }

  return {
    left(key) {
      const now = clock.monotonic();
      ends.set(key, now + SIGN_IN_TRACE_SECONDS * 1000);
      removeDue(now);
    },
  };
}

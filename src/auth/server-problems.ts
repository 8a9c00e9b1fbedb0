import type { Clock } from "../clock.js";
import { serverFinding } from "../config/startup-checks.js";
import type { Finding } from "../errors.js";
import type { SessionStore } from "../ports/session-store.js";

/** Milliseconds between two attempts to ask the server: at first, and at most. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Reports what only the store's server can tell, as soon as it has told it. The application may
 * connect the store's client after the start.
 */
export function reportServerProblems(
  store: SessionStore | undefined,
  clock: Clock,
  report: (finding: Finding) => void,
): void {
  if (store?.serverProblems === undefined) return;
  const ask = async (pause: number): Promise<void> => {
    try {
      for (const problem of (await store.serverProblems?.()) ?? []) report(serverFinding(problem));
    } catch {
      // An outage has its own log line, at the first request that it concerns.
      clock.timer(pause, () => void ask(Math.min(2 * pause, LONGEST_PAUSE_MS)));
    }
  };
  void ask(FIRST_PAUSE_MS);
}

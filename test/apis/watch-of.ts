import type { Watch } from "../../src/apis/exchange.js";
import type { IdpAuthError } from "../../src/index.js";

/** Watches a session whose end is that of a signal. */
export function watchOf(signal: AbortSignal, onEnd: (reason: IdpAuthError) => void): Watch {
  const end = () => {
    onEnd(signal.reason as IdpAuthError);
  };
  signal.addEventListener("abort", end);
  if (signal.aborted) queueMicrotask(end);
  return {
    close() {
      signal.removeEventListener("abort", end);
    },
  };
}

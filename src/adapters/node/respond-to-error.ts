import { breakOff, writeFresh, type AnyResponse } from "../../adapter.js";
import { isOutage } from "../../index.js";

/**
 * The default response of a listener whose handler failed: 503 in an outage of the provider or the
 * store, else 500. A 500 writes the error to stderr, as Node does before it ends a process. The
 * response contains nothing of the error.
 */
export function respondToError(error: unknown, _request: unknown, response: AnyResponse): void {
  const isAway = isOutage(error);
  if (!isAway)
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const retryAfter = isAway && {
    "Retry-After": String((error as { readonly retryAfter?: number }).retryAfter ?? 1),
  };
  writeFresh(response, {
    status: isAway ? 503 : 500,
    headers: {
      "Cache-Control": "no-store",
      "Content-Type": "text/plain; charset=utf-8",
      ...retryAfter,
    },
    body: isAway ? "Service Unavailable" : "Internal Server Error",
  });
}

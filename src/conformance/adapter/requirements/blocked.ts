import assert from "node:assert/strict";
import type { BrowserResponse } from "../../../testing/browser/cookie-browser.js";

/** The query of a login that comes back to this page. */
export function backTo(page: string): string {
  return new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString();
}

/** What is on every response of the guard's own. */
export function assertBlockedHeaders({ headers }: BrowserResponse): void {
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.ok(
    headers.vary?.split(/, */).some((name) => name.toLowerCase() === "cookie"),
    `Vary: ${String(headers.vary)}`,
  );
}

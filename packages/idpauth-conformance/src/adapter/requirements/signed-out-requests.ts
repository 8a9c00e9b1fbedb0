import assert from "node:assert/strict";
import type { BrowserResponse } from "idpauth/testing";

/** Returns the query of a login that returns to this page. */
export function backTo(page: string): string {
  return new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page }).toString();
}

/** Checks the headers of a response of the guard. */
export function assertBlockedHeaders({ headers }: BrowserResponse): void {
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.ok(
    headers.vary?.split(/, */).some((name) => name.toLowerCase() === "cookie"),
    `Vary: ${String(headers.vary)}`,
  );
}

import type { IdpRequest } from "./request.js";

/**
 * The headers that tell a prefetch. Scripts can't set `Sec-Purpose`, so Turbo sends `X-Sec-Purpose`;
 * the other names are those of earlier browsers.
 */
const PURPOSES = ["sec-purpose", "x-sec-purpose", "purpose", "x-purpose", "x-moz"];

/** A browser's or framework's guess at the next page: it must never sign anyone in or out. */
export function isPrefetch(request: IdpRequest): boolean {
  const isGuess = PURPOSES.some((name) =>
    /prefetch|preview|prerender/i.test(request.header(name) ?? ""),
  );
  return isGuess || request.header("next-router-prefetch") !== undefined;
}

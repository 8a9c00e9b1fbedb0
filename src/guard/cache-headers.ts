/** How a guarded response stays out of every cache. */

/**
 * The `Cache-Control` of a guarded response if the application sets none. No cache stores the
 * response, including the browser's.
 */
export const GUARDED_CACHE_CONTROL = "private, no-store";

/** Returns a `Vary` value that includes `Cookie` once. `*` already includes everything. */
export function varyByCookie(vary: string | undefined): string {
  if (vary === undefined || vary.trim() === "") return "Cookie";
  return /(?:^|,)\s*(?:cookie|\*)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Cookie`;
}

/** What the response of a protected handler says to caches. Pure. */

/** The Cache-Control of a guarded response whose application sets none: no cache stores it, the browser's own neither. */
export const GUARDED_CACHE_CONTROL = "private, no-store";

/** A value of Vary that names Cookie, once. `*` names everything already. */
export function varyByCookie(vary: string | undefined): string {
  if (vary === undefined || vary.trim() === "") return "Cookie";
  return /(?:^|,)\s*(?:cookie|\*)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Cookie`;
}

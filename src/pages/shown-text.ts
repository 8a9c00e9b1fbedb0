/** The code points of a name or an email that a page shows. An ellipsis replaces the rest. */
export const MAX_SHOWN_CODE_POINTS = 200;

// Control characters, line and paragraph separators, marks and overrides of writing direction, the byte order mark and lone
// surrogates can rearrange or break the text around a name, and are not part of one.
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/**
 * A claim as a page may show it: of limited length, on one line, without characters that affect other text. Undefined if nothing
 * visible is left. The result is text, not markup: escape it.
 */
export function shownText(claim: string | null): string | undefined {
  if (claim === null) return undefined;
  // Cut before the regular expressions run: a claim may be a megabyte long.
  const clean = claim
    .slice(0, MAX_SHOWN_CODE_POINTS * 8)
    .replace(UNSHOWN, " ")
    // Many stacked marks cover the lines above and below.
    .replace(/(\p{M}{4})\p{M}+/gu, "$1")
    .replace(/\s+/g, " ")
    .trim();
  if (!/[^\s\p{Cf}\p{M}]/u.test(clean)) return undefined;
  const points = [...clean];
  return points.length > MAX_SHOWN_CODE_POINTS ? `${points.slice(0, MAX_SHOWN_CODE_POINTS).join("")}…` : clean;
}

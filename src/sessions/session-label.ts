/** What a device list calls a session: one clean line. */

/** Characters that a label may have. Every session stores one. */
const MAX_LABEL_LENGTH = 200;

/**
 * Cleans a label: one line of at most 200 characters, well-formed. Null: nothing remains to show.
 */
export function labelOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // Cut first, because a header can be megabytes long. To twice the length, because white space is
  // folded afterwards.
  const line = value
    .slice(0, 2 * MAX_LABEL_LENGTH)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line === "" ? null : line.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}

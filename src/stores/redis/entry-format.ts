import type { EpochSeconds } from "../../clock.js";
import { StoreUnavailableError } from "../../errors.js";
import type { Entry, Stored } from "../../ports/session-store.js";
import { storedEntry } from "../stored-entries.js";

/**
 * An entry is one string, because that costs the least on the wire and in memory (a hash of six
 * fields costs a fifth more). The head has a fixed width, so that a script can read it alone and
 * change a stamp in place.
 *
 * | Bytes | Content |
 * |---|---|
 * | 0 | the format, `1` |
 * | 1 to 22 | version, base64url |
 * | 23 to 38 | expiresAt, decimal digits |
 * | 39 to 54 | lastActive, decimal digits; dashes: absent |
 * | 55 to 62 | length of the subject in bytes; dashes: absent |
 * | 63 to 70 | length of the sid; dashes: absent |
 * | 71 to 78 | length of the summary; dashes: absent |
 * | from 79 | subject, sid, summary, data |
 */
const FORMAT = "1";
const VERSION_AT = 1;
const EXPIRES_AT = 23;
const ACTIVE_AT = 39;
/** Of the subject, the sid and the summary. */
const LENGTHS_AT = [55, 63, 71];
/** Bytes before the subject. */
const HEAD_LENGTH = 79;

const LENGTH_DIGITS = 8;
const STAMP_DIGITS = 16;
const MAX_PART_LENGTH = 10 ** LENGTH_DIGITS - 1;
const ABSENT = "-";

/**
 * Returns the stored form of an entry.
 *
 * @throws TypeError for data that is not bytes, a stamp that is not a whole number of seconds, or a
 *   part of 100 MB or more
 */
export function packEntry(entry: Entry, version: string): Buffer {
  const { data, expiresAt, lastActive, subject, sid, summary } = entry;
  if (!(data instanceof Uint8Array))
    throw new TypeError("redisStore: data must be bytes (Uint8Array).");
  const active = lastActive === undefined ? ABSENT.repeat(STAMP_DIGITS) : stampDigits(lastActive);
  const parts = [subject, sid, summary].map((part) =>
    typeof part === "string" ? Buffer.from(part) : part,
  );
  const head =
    FORMAT + version + stampDigits(expiresAt) + active + parts.map(lengthDigits).join("");
  return Buffer.concat([
    Buffer.from(head, "latin1"),
    ...parts.filter((part) => part !== undefined),
    data,
  ]);
}

/**
 * Returns the entry of a stored value.
 *
 * @throws StoreUnavailableError if this version of the store did not write the value
 */
export function unpackEntry(value: Buffer): Stored {
  const head = headOf(value);
  let at = HEAD_LENGTH;
  const [subject, sid, summary] = LENGTHS_AT.map((lengthAt) => {
    const length = digitsAt(head, lengthAt, LENGTH_DIGITS);
    return length === undefined ? undefined : value.subarray(at, (at += length));
  });
  return storedEntry({
    data: value.subarray(at),
    version: head.slice(VERSION_AT, EXPIRES_AT),
    expiresAt: digitsAt(head, EXPIRES_AT, STAMP_DIGITS) ?? 0,
    lastActive: digitsAt(head, ACTIVE_AT, STAMP_DIGITS),
    subject: subject?.toString(),
    sid: sid?.toString(),
    summary,
  });
}

function headOf(value: Buffer): string {
  const head = value.toString("latin1", 0, HEAD_LENGTH);
  if (head.length === HEAD_LENGTH && head.startsWith(FORMAT)) return head;
  throw new StoreUnavailableError(
    "Another program or another version of idpauth wrote the value of a session's key in Redis.",
  );
}

/** Returns the stored form of a time. */
export function stampDigits(stamp: EpochSeconds): string {
  if (!Number.isSafeInteger(stamp))
    throw new TypeError("redisStore: a time must be a whole number of seconds.");
  return String(Math.max(0, stamp)).padStart(STAMP_DIGITS, "0");
}

function lengthDigits(part: Uint8Array | undefined): string {
  if (part === undefined) return ABSENT.repeat(LENGTH_DIGITS);
  if (part.length > MAX_PART_LENGTH)
    throw new TypeError("redisStore: subject, sid and summary must be smaller than 100 MB.");
  return String(part.length).padStart(LENGTH_DIGITS, "0");
}

function digitsAt(head: string, at: number, digits: number): number | undefined {
  const text = head.slice(at, at + digits);
  return text.startsWith(ABSENT) ? undefined : Number(text);
}

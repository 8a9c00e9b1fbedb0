import type { EpochSeconds } from "../clock.js";
import type { Stored } from "../ports/session-store.js";
import { isObject } from "../record/json.js";
import type { Sealer } from "./seal.js";

/** What a device list shows of a session. It is readable without the session's cookie, so it contains no token and no identity. */
export interface Summary {
  readonly loginAt: EpochSeconds | null;
  readonly label: string | null;
}

/** Characters that a label may have. Every session stores one. */
const MAX_LABEL = 200;

/** The summary as a store keeps it: JSON, encrypted with SECRET_KEY. */
export function writeSummary(sealer: Sealer, key: string, { loginAt, label }: Summary): Uint8Array {
  return sealer.sealSummary(
    JSON.stringify({ v: 1, ...(loginAt !== null && { login_at: loginAt }), ...(label !== null && { label }) }),
    key,
  );
}

/** Returns undefined for a summary under an unknown key, a modified one, or one of another format. */
export function readSummary(sealer: Sealer, key: string, { summary }: Stored): Summary | undefined {
  const text = summary && sealer.openSummary(summary, key);
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(parsed) || parsed["v"] !== 1) return undefined;
  return { loginAt: stampOf(parsed["login_at"]), label: labelOf(parsed["label"]) };
}

export function stampOf(value: unknown): EpochSeconds | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Cleans a label: one line of at most 200 characters, well-formed. Null: nothing remains to show. */
export function labelOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // Cut first, because a header can be megabytes long. To twice the length, because white space is folded afterwards.
  const line = value
    .slice(0, 2 * MAX_LABEL)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line === "" ? null : line.slice(0, MAX_LABEL).toWellFormed();
}

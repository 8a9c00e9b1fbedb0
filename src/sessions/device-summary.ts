import type { SessionStore, Stored } from "../ports/session-store.js";
import { isObject } from "../record/json.js";
import type { EpochSeconds } from "../clock.js";
import type { Sealer } from "./seal.js";

/** What can be told of a session without its cookie: for a device list. Never holds a token or an identity. */
export interface Summary {
  readonly loginAt: EpochSeconds | null;
  readonly label: string | null;
}

/** Characters that a label may have; it lies in the store once for each session. */
const MAX_LABEL = 200;

interface SummaryPlace {
  readonly store: SessionStore;
  readonly sealer: Sealer;
}

/**
 * The summary as a store keeps it. A store inside this process has the record itself to look at, and keeps only what is
 * not in it.
 */
export function writeSummary({ store, sealer }: SummaryPlace, key: string, { loginAt, label }: Summary): { summary?: Uint8Array } {
  if (store.inProcess === true) return label === null ? {} : { summary: new TextEncoder().encode(JSON.stringify({ v: 1, label })) };
  const text = JSON.stringify({ v: 1, ...(loginAt !== null && { login_at: loginAt }), ...(label !== null && { label }) });
  return { summary: sealer.sealSummary(text, key) };
}

/** Undefined: sealed under an unknown key, tampered with, or of another format. */
export function readSummary({ store, sealer }: SummaryPlace, key: string, { data, summary }: Stored): Summary | undefined {
  if (store.inProcess === true && !(data instanceof Uint8Array)) {
    const label = summary && parseSummary(new TextDecoder().decode(summary))?.label;
    return { loginAt: stampOf(data.idp_login_at), label: label ?? null };
  }
  const text = summary && sealer.openSummary(summary, key);
  return text === undefined ? undefined : parseSummary(text);
}

function parseSummary(text: string): Summary | undefined {
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

/** A label as it is kept: one line of at most 200 characters, well-formed. Null: nothing that could be shown. */
export function labelOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // Cut first: a header of megabytes is not worth a look at each character. Twice the length, since white space folds.
  const line = value
    .slice(0, 2 * MAX_LABEL)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line === "" ? null : line.slice(0, MAX_LABEL).toWellFormed();
}

import type { EpochSeconds } from "../clock.js";
import type { Stored } from "../ports/session-store.js";
import { isObject } from "../record/json.js";
import type { Sealer } from "./seal.js";

/**
 * The fields of a session that the list of sessions and a logout by the provider read. The summary is readable without the session's cookie,
 * so it contains no token and no identity.
 */
export interface Summary {
  readonly loginAt: EpochSeconds | null;
  readonly label: string | null;
  /** The client that the session belongs to. Several clients can share a store. */
  readonly clientId: string | null;
  /** `iat` of the ID token of the sign-in. */
  readonly signedInIat: EpochSeconds | null;
  /** The claim `session_expiry`. */
  readonly sessionExpiry: EpochSeconds | null;
}

/** Characters that a label may have. Every session stores one. */
const MAX_LABEL = 200;

/** The summary as a store keeps it: JSON, encrypted with SECRET_KEY. */
export function writeSummary(sealer: Sealer, key: string, { loginAt, label, clientId, signedInIat, sessionExpiry }: Summary): Uint8Array {
  const present = Object.entries({ login_at: loginAt, label, client_id: clientId, iat: signedInIat, session_expiry: sessionExpiry });
  return sealer.sealSummary(JSON.stringify({ v: 1, ...Object.fromEntries(present.filter(([, value]) => value !== null)) }), key);
}

/** Returns undefined for a summary under an unknown key, a modified one, or one of another format. */
export function readSummary(sealer: Sealer, key: string, stored: Stored): Summary | undefined {
  const parsed = readSummaryJson(sealer, key, stored);
  if (parsed === undefined) return undefined;
  const { client_id: clientId } = parsed;
  return {
    loginAt: stampOf(parsed["login_at"]),
    label: labelOf(parsed["label"]),
    clientId: typeof clientId === "string" ? clientId : null,
    signedInIat: stampOf(parsed["iat"]),
    sessionExpiry: stampOf(parsed["session_expiry"]),
  };
}

/** Returns the members of a summary, unchecked. */
export function readSummaryJson(sealer: Sealer, key: string, { summary }: Stored): Record<string, unknown> | undefined {
  const text = summary && sealer.openSummary(summary, key);
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isObject(parsed) && parsed["v"] === 1 ? parsed : undefined;
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

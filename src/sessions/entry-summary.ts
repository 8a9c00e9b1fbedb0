/**
 * The summary of an entry, which SECRET_KEY alone decrypts: what is readable without the session's
 * cookie. It contains no token and no identity.
 */
import type { EpochSeconds } from "../clock.js";
import type { Entry } from "../ports/session-store.js";
import { isObject } from "../record/json.js";
import type { Sealer } from "./seal.js";
import { labelOf } from "./session-label.js";

/** A summary as a store keeps it: JSON, encrypted with SECRET_KEY. */
export function sealedSummary(sealer: Sealer, key: string, members: object): Uint8Array {
  return sealer.sealSummary(JSON.stringify({ v: 1, ...members }), key);
}

/** What is stored without a session: the members of a summary. */
export interface Note {
  readonly members: object;
  readonly expiresAt: EpochSeconds;
}

/** Returns an entry without a session. */
export function noteOf(sealer: Sealer, key: string, { members, expiresAt }: Note): Entry {
  return { data: Uint8Array.of(0), summary: sealedSummary(sealer, key, members), expiresAt };
}

/** The fields of a session that the list of sessions and a logout by the provider read. */
export interface SessionSummary {
  readonly signedInAt: EpochSeconds | null;
  readonly label: string | null;
  /** Seconds with a fraction. Null: an earlier release wrote the summary. */
  readonly activeAt: number | null;
  /** `iat` of the ID token of the sign-in. */
  readonly signedInIat: EpochSeconds | null;
  /** The claim `session_expiry`. */
  readonly sessionExpiry: EpochSeconds | null;
  /**
   * True: the end of the session has been announced. The record stays, so that the browser learns
   * the reason.
   */
  readonly isEnded: boolean;
  /** The algorithm of the newest ID token's signature. Null: an earlier release wrote the summary. */
  readonly idTokenAlg: string | null;
  /** What a later release has written. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The members that this release writes. */
const MEMBERS = [
  "v",
  "login_at",
  "label",
  "active_at",
  "iat",
  "session_expiry",
  "is_ended",
  "id_token_alg",
];

/** Undefined: it is under an unknown key, was modified, or has another format. */
export function readSummary(
  sealer: Sealer,
  key: string,
  stored: Entry,
): SessionSummary | undefined {
  const members = readSummaryJson(sealer, key, stored);
  if (members === undefined) return undefined;
  return {
    signedInAt: stampOf(members["login_at"]),
    label: labelOf(members["label"]),
    activeAt: stampOf(members["active_at"]),
    signedInIat: stampOf(members["iat"]),
    sessionExpiry: stampOf(members["session_expiry"]),
    isEnded: members["is_ended"] === true,
    idTokenAlg: typeof members["id_token_alg"] === "string" ? members["id_token_alg"] : null,
    others: Object.fromEntries(Object.entries(members).filter(([name]) => !MEMBERS.includes(name))),
  };
}

/** Returns the members of a summary, unchecked. */
export function readSummaryJson(
  sealer: Sealer,
  key: string,
  { summary }: Entry,
): Record<string, unknown> | undefined {
  const json = parsedJson(summary && sealer.openSummary(summary, key));
  return isObject(json) && json["v"] === 1 ? json : undefined;
}

export function stampOf(value: unknown): EpochSeconds | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Parses decrypted JSON. Returns undefined for anything else. */
export function parsedJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

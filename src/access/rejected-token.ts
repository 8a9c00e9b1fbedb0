/**
 * An access token that an API has rejected and that no refresh can replace. No call gets it again,
 * although `credentials` keeps it, so the record remembers its hash. Pure.
 */
import { createHash } from "node:crypto";
import type { SessionRecord } from "../record/record.js";
import { isRefreshable } from "../record/token-validity.js";

/** Whether the session's access token is a rejected one. A newer token is not. */
export function isTokenRejected({ credentials, idp_state: state }: SessionRecord): boolean {
  const { rejected_token: rejected } = state;
  return rejected !== undefined && rejected === (credentials && hashOf(credentials.token));
}

/** The setting that decides whether a refresh may bring another token. */
export interface RefreshSetting {
  readonly sessionAutoRefresh: boolean;
}

/**
 * The record that remembers a token as rejected, if it is the session's and only a login can bring
 * another one.
 *
 * @param rejected a token that an API has rejected
 */
export function withRejectedToken(
  record: SessionRecord,
  rejected: string | undefined,
  policy: RefreshSetting,
): SessionRecord {
  const { credentials, idp_state: state } = record;
  if (rejected === undefined || credentials?.token !== rejected) return record;
  if (isRefreshable(record, policy) || isTokenRejected(record)) return record;
  return { ...record, idp_state: { ...state, rejected_token: hashOf(rejected) } };
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

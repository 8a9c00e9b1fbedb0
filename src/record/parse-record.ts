import { isApplicationData } from "./application-data.js";
import type { Credentials } from "./credentials.js";
import { isText } from "./identity.js";
import { isObject } from "./json.js";
import { ownProperties, withoutInherited, type UnreadRecord } from "./own-properties.js";
import {
  MAX_PENDING_LOGINS,
  MAX_USED_STATES,
  RECORD_VERSION,
  type PendingLogin,
  type PrivateState,
  type RefreshLease,
  type SessionRecord,
} from "./record.js";
import type { KeyNames } from "./stored-form.js";

/**
 * Reads a record from stored, untrusted JSON. Returns undefined for a record of another version, or with a value of the wrong shape.
 * It does not check the two stamps: the policy gate does, and only if their session limit is set.
 */
export function parseRecord(stored: unknown, names: KeyNames): SessionRecord | undefined {
  if (!isObject(stored)) return undefined;
  const own = ownProperties(stored);
  // Copied before the checks, so that the checks see the values that are read later.
  const record = withoutInherited<UnreadRecord>({
    credentials: own[names.credentials],
    id_info: own["id_info"],
    oauth_state: own[names.oauth_state],
    final_redirect: own[names.final_redirect],
    debug: own["debug"],
    idp_login_at: own["idp_login_at"],
    idp_last_active: own["idp_last_active"],
    idp_state: own["idp_state"],
  });
  return isRecord(record) ? record : undefined;
}

function isRecord(record: UnreadRecord): record is SessionRecord {
  return (
    isPrivateState(record.idp_state) &&
    isOptional(record.credentials, isCredentials) &&
    isOptional(record.id_info, isObject) &&
    isOptional(record.oauth_state, isString) &&
    isOptional(record.final_redirect, isString)
  );
}

function isCredentials(value: unknown): value is Credentials {
  return (
    isObject(value) &&
    isText(value["token"]) &&
    isOptional(value["refresh_token"], isText) &&
    isString(value["token_uri"]) &&
    isString(value["client_id"]) &&
    isString(value["client_secret"]) &&
    isListOf(value["scopes"], isString)
  );
}

function isPrivateState(value: unknown): value is PrivateState {
  return (
    isObject(value) &&
    value["v"] === RECORD_VERSION &&
    isOptional(value["logins"], (logins) => isListOf(logins, isPendingLogin) && logins.length <= MAX_PENDING_LOGINS) &&
    isOptional(value["used"], (used) => isListOf(used, isString) && used.length <= MAX_USED_STATES) &&
    isOptional(value["silent_failed_at"], Number.isFinite) &&
    isOptional(value["lease"], isLease) &&
    isOptional(value["refresh_rejected"], (rejected) => rejected === true) &&
    isOptional(value["ended"], isString) &&
    isOptional(value["access_token_expires_at"], Number.isFinite) &&
    isOptional(value["tokens_received_at"], Number.isFinite) &&
    isOptional(value["userinfo_claims"], (claims) => isListOf(claims, isString)) &&
    isOptional(value["dropped_token"], isText) &&
    isOptional(value["issuer"], isString) &&
    isOptional(value["data"], isApplicationData) &&
    isOptional(value["claims"], isApplicationData) &&
    isOptional(value["claims_version"], isString) &&
    isOptional(value["review_due"], (due) => due === true) &&
    isOptional(value["rejected"], (rejected) => rejected === "claims_rejected" || rejected === "denied") &&
    isOptional(value["id_token"], isText) &&
    isOptional(value["sid"], isText) &&
    isOptional(value["signed_in_iat"], Number.isFinite)
  );
}

function isPendingLogin(value: unknown): value is PendingLogin {
  return (
    isObject(value) &&
    isText(value["state"]) &&
    isText(value["nonce"]) &&
    isText(value["verifier"]) &&
    isText(value["final_redirect"]) &&
    isText(value["redirect_uri"]) &&
    isText(value["issuer"]) &&
    Number.isFinite(value["started_at"]) &&
    isOptional(value["carried"], (carried) => carried === true) &&
    isOptional(value["silent"], (silent) => silent === true) &&
    isOptional(value["step_up"], isStepUp)
  );
}

function isStepUp(value: unknown): boolean {
  return isObject(value) && isOptional(value["max_age"], Number.isFinite) && isOptional(value["acr"], (acr) => isListOf(acr, isText));
}

function isLease(value: unknown): value is RefreshLease {
  return isObject(value) && isText(value["nonce"]) && Number.isFinite(value["taken_at"]);
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function isListOf<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(is);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** The record as JSON: how a store keeps it, and how it is read back. */
import { isApplicationData } from "./application-data.js";
import { isCoordinate, isDpopNonce } from "./dpop.js";
import { isText } from "./identity.js";
import { deepFreeze, isObject, ownProperties } from "./json.js";
import { MAX_PENDING_LOGINS, MAX_USED_STATES } from "./pending-logins.js";
import {
  RECORD_VERSION,
  withoutInherited,
  type LoginTarget,
  type SessionRecord,
  type UnreadRecord,
} from "./record.js";
import { MAX_API_ENTRIES } from "./stored-api-tokens.js";

/** The configured names of the record's three nameable keys. */
export interface KeyNames {
  readonly credentials: string;
  readonly oauth_state: string;
  readonly final_redirect: string;
}

/** The keys with fixed names. A nameable key must not take one of them. */
export const FIXED_KEYS = [
  "id_info",
  "debug",
  "idp_login_at",
  "idp_last_active",
  "idp_state",
] as const;

/** Every key of the stored form, with ordinary objects. Undefined: the record does not have it. */
export function storedKeys(record: SessionRecord, names: KeyNames): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    keys[key] = isObject(value) ? { ...value } : value;
  };
  put(names.credentials, record.credentials);
  put(names.oauth_state, record.oauth_state);
  put(names.final_redirect, record.final_redirect);
  for (const key of FIXED_KEYS) put(key, record[key]);
  return keys;
}

/**
 * The record as it is stored: ordinary objects, nameable keys under their configured names, no
 * undefined values.
 */
export function storedForm(record: SessionRecord, names: KeyNames): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(storedKeys(record, names)).filter(([, value]) => value !== undefined),
  );
}

/** The stored form without the private key, frozen: the keys that the specification names. */
export function specifiedKeys(
  record: SessionRecord,
  names: KeyNames,
): Readonly<Record<string, unknown>> {
  const { idp_state: _private, ...specified } = storedForm(record, names);
  return deepFreeze(specified);
}

/**
 * Reads a record from stored, untrusted JSON. Returns undefined for a record of another version, or
 * with a value of the wrong shape. It does not check the two stamps: the policy does, and only if
 * their session limit is set.
 */
export function parseRecord(stored: unknown, names: KeyNames): SessionRecord | undefined {
  if (!isObject(stored)) return undefined;
  const own = ownProperties(stored);
  // Copied before the checks, so that they see the values that are read later. The other keys of a
  // framework's session are left out.
  const record = withoutInherited<UnreadRecord>({
    ...own,
    credentials: own[names.credentials],
    oauth_state: own[names.oauth_state],
    final_redirect: own[names.final_redirect],
  });
  return isRecord(record) && hasKeyOfTokens(record as SessionRecord)
    ? (record as SessionRecord)
    : undefined;
}

/** A bound token without its key would be sent as a bearer token. */
function hasKeyOfTokens({ credentials, idp_state: { dpop, apis } }: SessionRecord): boolean {
  if (dpop !== undefined) return true;
  const isBound = credentials?.token_type !== undefined;
  return !isBound && Object.values(apis ?? {}).every((one) => one.token_type === undefined);
}

type Check = (value: unknown) => boolean;

const isStepUp = objectOf({ max_age: optional(Number.isFinite), acr: optional(listOf(isText)) });

const TARGET: Readonly<Record<keyof LoginTarget, Check>> = {
  final_redirect: isText,
  redirect_uri: isText,
  origin: optional(isText),
  provider: optional(isText),
  step_up: optional(isStepUp),
  api: optional(isText),
};

/** Checks a stored {@link LoginTarget}. */
export const isLoginTarget = objectOf(TARGET);

const isDpopKey = objectOf({ x: isCoordinate, y: isCoordinate, d: isCoordinate });

const isPendingLogin = objectOf({
  ...TARGET,
  state: isText,
  nonce: isText,
  verifier: isText,
  issuer: isText,
  started_at: Number.isFinite,
  dpop_key: optional(isDpopKey),
  carried: optional(isTrue),
  cross_site: optional(isTrue),
  unattended: optional(isTrue),
  silent: optional(isTrue),
});

const isApiEntry = objectOf({
  target: isText,
  at: Number.isFinite,
  token: optional(isText),
  token_type: optional(isDpop),
  expires_at: optional(Number.isFinite),
  forced: optional(isTrue),
  refused: optional(isText),
  claims: optional(isText),
});

const isPrivateState = objectOf({
  v: (version) => version === RECORD_VERSION,
  logins: optional(listOf(isPendingLogin, MAX_PENDING_LOGINS)),
  used: optional(listOf(isString, MAX_USED_STATES)),
  exchanging: optional(listOf(isString, MAX_USED_STATES)),
  silent_failed_at: optional(Number.isFinite),
  lease: optional(objectOf({ nonce: isText, taken_at: Number.isFinite })),
  refresh_rejected: optional(isTrue),
  ended: optional(isString),
  access_token_expires_at: optional(Number.isFinite),
  tokens_received_at: optional(Number.isFinite),
  forced_at: optional(Number.isFinite),
  rejected_token: optional(isText),
  dpop: optional(objectOf({ key: isDpopKey, nonce: optional(isDpopNonce) })),
  apis: optional(
    (apis) => isObject(apis) && listOf(isApiEntry, MAX_API_ENTRIES)(Object.values(apis)),
  ),
  asked_apis: optional(listOf(isText)),
  userinfo_claims: optional(listOf(isString)),
  dropped_token: optional(isText),
  issuer: optional(isString),
  provider: optional(isText),
  origin: optional(isText),
  data: optional(isApplicationData),
  claims: optional(isApplicationData),
  claims_version: optional(isString),
  review_due: optional(isTrue),
  rejected: optional((rejected) => rejected === "claims_rejected" || rejected === "denied"),
  id_token: optional(isText),
  id_token_alg: optional(isText),
  sid: optional(isText),
  signed_in_iat: optional(Number.isFinite),
});

const isCredentials = objectOf({
  token: isText,
  refresh_token: optional(isText),
  token_uri: isString,
  client_id: isString,
  client_secret: isString,
  scopes: listOf(isString),
  token_type: optional(isDpop),
});

const isRecord = objectOf({
  idp_state: isPrivateState,
  credentials: optional(isCredentials),
  id_info: optional(isObject),
  oauth_state: optional(isString),
  final_redirect: optional(isString),
});

/** Checks an object with these members. It may have others. */
function objectOf(members: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(members);
  return (value) => isObject(value) && checks.every(([key, is]) => is(value[key]));
}

function listOf(is: Check, most = Infinity): Check {
  return (value) => Array.isArray(value) && value.length <= most && value.every((item) => is(item));
}

function optional(is: Check): Check {
  return (value) => value === undefined || is(value);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function isDpop(value: unknown): boolean {
  return value === "DPoP";
}

function isTrue(value: unknown): boolean {
  return value === true;
}

import type { EpochSeconds } from "../clock.js";

/** The provider's credentials as the session keeps them: six fields, names fixed by the specification. */
export interface Credentials {
  /** The access token (RFC 6749 section 1.4). */
  readonly token: string;
  /** The refresh token; the key is absent when the provider gave none, or refused the last one. */
  readonly refresh_token?: string;
  /** The token endpoint that issued them. */
  readonly token_uri: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** The granted scopes when the provider named them, else those asked for. */
  readonly scopes: readonly string[];
}

/** The verified claims of the ID token (OpenID Connect Core section 2), whatever the provider put there. */
export interface IdInfo {
  readonly email?: unknown;
  readonly name?: unknown;
  readonly picture?: unknown;
  readonly email_verified?: unknown;
  readonly exp?: unknown;
  readonly iss?: unknown;
  readonly azp?: unknown;
  readonly aud?: unknown;
  readonly sub?: unknown;
  readonly [claim: string]: unknown;
}

/** The `user` object of the probe: exactly these three, null for a claim the provider never sent. */
export interface UserPayload {
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
}

/** One login that was started and has not come back yet. */
export interface PendingLogin {
  /** The OAuth state (RFC 6749 section 10.12); the key of the entry. */
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier (RFC 7636 section 4.1). */
  readonly verifier: string;
  readonly final_redirect: string;
  /** Sent to the provider and repeated, unchanged, at the exchange (RFC 6749 section 4.1.3). */
  readonly redirect_uri: string;
  /** The issuer this login was sent to; checked when it comes back (RFC 9207). */
  readonly issuer: string;
  readonly started_at: EpochSeconds;
  /** The user signed in after this login was started. It may only finish for the user who is signed in. */
  readonly carried?: true;
}

/** The right to spend the refresh token, held by one refresher until the record is written again. */
export interface RefreshLease {
  /** Names the holder; only a compare-and-set puts it there. */
  readonly nonce: string;
  /** When it was taken, for people who read a dump. Nobody compares it with their own clock. */
  readonly taken_at: EpochSeconds;
}

/** What the component itself needs to remember; the one private key of the record. */
export interface PrivateState {
  /** The format version. A record of another version is no session. */
  readonly v: 1;
  /** At most {@link MAX_PENDING_LOGINS}, oldest first. */
  readonly logins?: readonly PendingLogin[];
  /** SHA-256 (base64url) of the last {@link MAX_USED_STATES} states that came back, oldest first. */
  readonly used?: readonly string[];
  readonly lease?: RefreshLease;
  /** The provider refused the refresh token; cleared by a callback. */
  readonly refresh_rejected?: true;
  /** The reason that the `ended` event was sent for, so that it is sent once. */
  readonly ended?: string;
  /** When the access token itself expires, if the provider said so. */
  readonly access_token_expires_at?: EpochSeconds;
  /** When the provider sent the present tokens. */
  readonly tokens_received_at?: EpochSeconds;
  /** The names of the claims of id_info that userinfo gave; absent: none. */
  readonly userinfo_claims?: readonly string[];
  /** A refresh token that was dropped because its response could not be accepted, until the provider has revoked it. */
  readonly dropped_token?: string;
  /** The issuer that signed this visitor in. */
  readonly issuer?: string;
}

/**
 * The session record. Never changed in place: a change is a function from one record to the next.
 * Keys are the specification's; a store sees the three nameable ones under their configured names (see {@link storedForm}).
 */
export interface SessionRecord {
  readonly credentials?: Credentials;
  readonly id_info?: IdInfo;
  readonly oauth_state?: string;
  readonly final_redirect?: string;
  /** What the last login decided about its origin. Present only in debug mode. */
  readonly debug?: unknown;
  /** Epoch seconds; stamped once, by the callback. Read as hostile: see the policy gate. */
  readonly idp_login_at?: unknown;
  /** Epoch seconds of the last successful access; only with an idle timeout. Read as hostile: see the policy gate. */
  readonly idp_last_active?: unknown;
  readonly idp_state: PrivateState;
}

/** The names under which the three nameable keys are stored. */
export interface KeyNames {
  readonly credentials: string;
  readonly oauth_state: string;
  readonly final_redirect: string;
}

export const RECORD_VERSION = 1;
export const MAX_PENDING_LOGINS = 8;
/** Seconds a started login may take to come back. */
export const PENDING_LOGIN_SECONDS = 600;
export const MAX_USED_STATES = 8;

/** The keys whose names are fixed. No nameable key may take one of them. */
export const FIXED_KEYS = ["id_info", "debug", "idp_login_at", "idp_last_active", "idp_state"] as const;

export const EMPTY_RECORD: SessionRecord = deepFreeze(withoutInherited({ idp_state: { v: RECORD_VERSION } }));

/** What is handed in when credentials are serialised: the fields of a token response, in the provider library's form. */
export interface ProviderCredentials {
  readonly token: string;
  readonly refreshToken?: string | null | undefined;
  readonly tokenUri: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
}

/** Serialises provider credentials into the six-field object that the session stores. Pure. */
export function credentialsToDict(credentials: ProviderCredentials): Credentials {
  return {
    token: credentials.token,
    ...(credentials.refreshToken ? { refresh_token: credentials.refreshToken } : {}),
    token_uri: credentials.tokenUri,
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    scopes: [...credentials.scopes],
  };
}

/** The sanitised identity: email, name, picture; what is not a string becomes null. */
export function userPayload(idInfo: IdInfo | undefined): UserPayload {
  return {
    email: stringOrNull(idInfo?.email),
    name: stringOrNull(idInfo?.name),
    picture: stringOrNull(idInfo?.picture),
  };
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Every key of the specification's record, under the configured names, without the private one. */
export function specifiedKeys(record: SessionRecord, names: KeyNames): Readonly<Record<string, unknown>> {
  const { idp_state: _private, ...specified } = storedForm(record, names);
  return deepFreeze(specified);
}

/** The credentials as an application gets them: an ordinary, frozen object. Some frameworks refuse an object without a prototype. */
export function givenCredentials(credentials: Credentials): Credentials {
  return Object.freeze({ ...credentials, scopes: Object.freeze([...credentials.scopes]) });
}

/** The record as a store keeps it: ordinary objects, nameable keys under their configured names, nothing undefined. */
export function storedForm(record: SessionRecord, names: KeyNames): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (value !== undefined) stored[key] = isObject(value) ? { ...value } : value;
  };
  put(names.credentials, record.credentials);
  put("id_info", record.id_info);
  put(names.oauth_state, record.oauth_state);
  put(names.final_redirect, record.final_redirect);
  put("debug", record.debug);
  put("idp_login_at", record.idp_login_at);
  put("idp_last_active", record.idp_last_active);
  put("idp_state", record.idp_state);
  return stored;
}

/**
 * Reads a record from stored, untrusted JSON. A record of another version, or with anything in it that is not of the
 * right shape, is no session. Stamps are taken as they are: the policy gate judges them, and only when its cap is set.
 */
export function parseRecord(stored: unknown, names: KeyNames): SessionRecord | undefined {
  if (!isObject(stored)) return undefined;
  const own = ownProperties(stored);
  // Before any check, so that what is checked is what is read later.
  const record = withoutInherited({
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

type Unread = { readonly [Key in keyof Required<SessionRecord>]?: unknown };

function isRecord(record: Unread): record is SessionRecord {
  return (
    isPrivateState(record.idp_state) &&
    isOptional(record.credentials, isCredentials) &&
    isOptional(record.id_info, isObject) &&
    isOptional(record.oauth_state, isString) &&
    isOptional(record.final_redirect, isString)
  );
}

/**
 * The same record, in which every read finds own properties only. If another package of the application lets a request write
 * to `Object.prototype`, a missing key must not read as the value written there. Each session gives and keeps such records.
 *
 * The eight keys are always there, so that a copy made with a spread is as safe; the objects below have no prototype.
 */
export function withoutInherited(record: SessionRecord): SessionRecord;
export function withoutInherited(record: Unread): Unread;
export function withoutInherited(record: Unread): Unread {
  const own = ownProperties(record);
  return ownProperties({
    credentials: ownProperties(own.credentials),
    id_info: ownProperties(own.id_info),
    oauth_state: own.oauth_state,
    final_redirect: own.final_redirect,
    debug: own.debug,
    idp_login_at: own.idp_login_at,
    idp_last_active: own.idp_last_active,
    idp_state: stateWithoutInherited(own.idp_state),
  });
}

function stateWithoutInherited(value: unknown): unknown {
  if (!isObject(value)) return value;
  const state = ownProperties(value);
  const { logins, lease } = state;
  return ownProperties({
    ...state,
    ...(logins !== undefined && { logins: Array.isArray(logins) ? logins.map(ownProperties) : logins }),
    ...(lease !== undefined && { lease: ownProperties(lease) }),
  });
}

/** An object with the same own properties and no prototype; anything else as it is. */
function ownProperties<Value>(value: Value): Value {
  if (!isObject(value) || Object.getPrototypeOf(value) === null) return value;
  return Object.assign(Object.create(null) as Value & object, value);
}

/** Whom sessions are for: this client at this issuer. Several mounts in one application are several of these. */
export interface ClientIdentity {
  readonly issuer: string;
  readonly clientId: string;
}

/**
 * Whether a signed-in record is this client's. A cookie value carried over from another mount must not sign its visitor in
 * here, where another provider decides.
 */
export function isOfClient({ credentials, idp_state: state }: SessionRecord, { issuer, clientId }: ClientIdentity): boolean {
  if (credentials === undefined) return true;
  return credentials.client_id === clientId && (state.issuer === undefined || state.issuer === issuer);
}

/** Whether both identities name the same user: the same issuer and the same subject (OpenID Connect Core section 5.7). */
export function isSamePerson(one: IdInfo | undefined, other: IdInfo | undefined): boolean {
  return isText(one?.iss) && isText(one.sub) && one.iss === other?.iss && one.sub === other.sub;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Levels of objects and lists in one another beyond which a provider's JSON is no answer; honest ones have a handful. */
export const MAX_DEPTH = 64;

/**
 * Whether parsed JSON is nested beyond {@link MAX_DEPTH}. Reading such text is no trouble, but writing, copying and freezing
 * it again is: they recurse, and would run out of stack.
 */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
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
    isOptional(value["lease"], isLease) &&
    isOptional(value["refresh_rejected"], (rejected) => rejected === true) &&
    isOptional(value["ended"], isString) &&
    isOptional(value["access_token_expires_at"], Number.isFinite) &&
    isOptional(value["tokens_received_at"], Number.isFinite) &&
    isOptional(value["userinfo_claims"], (claims) => isListOf(claims, isString)) &&
    isOptional(value["dropped_token"], isText) &&
    isOptional(value["issuer"], isString)
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
    isOptional(value["carried"], (carried) => carried === true)
  );
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Freezes a record to its leaves, so that one shared copy can be handed out without a caller changing it for others. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

import type { EpochSeconds } from "../clock.js";
import type { StepUp } from "./authentication-strength.js";
import type { Credentials } from "./credentials.js";
import type { DpopBinding, DpopKey } from "./dpop.js";
import type { IdentifiedUser, IdInfo } from "./identity.js";
import { deepFreeze, isObject, ownProperties, type JsonObject } from "./json.js";

/** What a login asks for: enough to begin the same login again. */
export interface LoginTarget {
  readonly final_redirect: string;
  /** Sent to the provider, and sent again unchanged with the code (RFC 6749 section 4.1.3). */
  readonly redirect_uri: string;
  /**
   * The origin that the login began at, where its callback must arrive. Absent: the application had
   * one origin.
   */
  readonly origin?: string;
  /**
   * The key of the provider that the login was sent to. Absent: the application had one provider,
   * without a key.
   */
  readonly provider?: string;
  /** The authentication that a route requires. The provider must show it in the ID token. */
  readonly step_up?: StepUp;
  /** The name of the API that it requests. */
  readonly api?: string;
}

/** A login that was started and has not come back yet. */
export interface PendingLogin extends LoginTarget {
  /** The OAuth state (RFC 6749 section 10.12). It identifies the login. */
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier (RFC 7636 section 4.1). */
  readonly verifier: string;
  /** The key to which the login's tokens are to be bound. */
  readonly dpop_key?: DpopKey;
  /** The issuer that the login was sent to. Checked when the login comes back (RFC 9207). */
  readonly issuer: string;
  readonly started_at: EpochSeconds;
  /**
   * The user signed in after this login was started. The login may finish for the signed-in user
   * only.
   */
  readonly carried?: true;
  /**
   * Another site may have started the login (`Sec-Fetch-Site`). It must not replace the session of
   * another user.
   */
  readonly cross_site?: true;
  /**
   * A script or perhaps another site started the login. It goes first where there are too many.
   * Absent: a navigation of the application's own page or of the user.
   */
  readonly unattended?: true;
  /** The authorization request had `prompt=none`. */
  readonly silent?: true;
}

/** The right to spend the refresh token. One process holds it until it writes the record again. */
export interface RefreshLease {
  /** Identifies the holder. */
  readonly nonce: string;
  /** When the lease was taken, for people who read a dump. No code compares it with a clock. */
  readonly taken_at: EpochSeconds;
}

/** The access token for an API, or why the provider refused one. */
export interface ApiEntry {
  /** What the token was requested with. An entry for other settings does not count. */
  readonly target: string;
  /** When the provider sent the token, or last refused one. */
  readonly at: EpochSeconds;
  readonly token?: string;
  /** The token is bound to the session's key. Absent: it is a bearer token. */
  readonly token_type?: "DPoP";
  /** Absent: the provider did not say. */
  readonly expires_at?: EpochSeconds;
  /** The token replaced one that the API had rejected. */
  readonly forced?: true;
  /**
   * The provider's error code, or the check that the token failed. With a token: the older one,
   * which the provider didn't renew.
   */
  readonly refused?: string;
  /** What a login for the API has to ask for, as the text of the parameter `claims`. */
  readonly claims?: string;
}

/** What the component remembers for itself, under the record's one private key. */
export interface PrivateState {
  /** The format version. A record of another version is no session. */
  readonly v: 1;
  /** At most `MAX_PENDING_LOGINS` of pending-logins.ts, oldest first. */
  readonly logins?: readonly PendingLogin[];
  /**
   * SHA-256 (base64url) of the last `MAX_USED_STATES` states that came back, oldest first.
   */
  readonly used?: readonly string[];
  /** Those of `used` whose code is being exchanged, in any process. */
  readonly exchanging?: readonly string[];
  /**
   * When the last login with `prompt=none` failed because the provider needs the user. A new
   * sign-in clears it.
   */
  readonly silent_failed_at?: EpochSeconds;
  readonly lease?: RefreshLease;
  /** The provider refused the refresh token. A new sign-in clears it. */
  readonly refresh_rejected?: true;
  /** The reason that an `ended` event was emitted for, so that it is emitted once. */
  readonly ended?: string;
  /** When the access token itself expires, if the provider said so. */
  readonly access_token_expires_at?: EpochSeconds;
  /** When the provider sent the current tokens. */
  readonly tokens_received_at?: EpochSeconds;
  /** When an API's rejection of the session's access token last led to a refresh. */
  readonly forced_at?: EpochSeconds;
  /**
   * SHA-256 (base64url) of the session's access token, if an API has rejected it and no refresh can
   * replace it. It counts only while the session has this token.
   */
  readonly rejected_token?: string;
  /** The key to which tokens are bound. Absent: no provider has bound one. */
  readonly dpop?: DpopBinding;
  /** By the name of the API; at most `MAX_API_ENTRIES` of stored-api-tokens.ts. */
  readonly apis?: Readonly<Record<string, ApiEntry>>;
  /**
   * The APIs that the user's logins have requested by name, since the last login that named none.
   */
  readonly asked_apis?: readonly string[];
  /** The names of the claims in `id_info` that came from the userinfo endpoint. Absent: none. */
  readonly userinfo_claims?: readonly string[];
  /**
   * A refresh token whose response could not be accepted. Kept until the provider has revoked it.
   */
  readonly dropped_token?: string;
  /** The issuer that signed this user in. */
  readonly issuer?: string;
  /**
   * The key of the provider that signed this user in, if a source gave it. Absent: the provider is
   * in the list.
   */
  readonly provider?: string;
  /**
   * The origin that the session belongs to: at another one, there is no session. Absent: the
   * application has one origin, or had one when the record was last written.
   */
  readonly origin?: string;
  /** The application's own data. */
  readonly data?: JsonObject;
  /** The output of the application's claims schema. */
  readonly claims?: JsonObject;
  /** The version of the schema that made `claims`. */
  readonly claims_version?: string;
  /** New tokens are stored, but the application's code has not accepted them yet. */
  readonly review_due?: true;
  /** The application's code ended the session at a refresh. A new sign-in clears it. */
  readonly rejected?: Rejection;
  /**
   * The newest ID token, for `id_token_hint`. Stored only with `IDP_LOGOUT_AT_PROVIDER` and
   * encrypted.
   */
  readonly id_token?: string;
  /** The algorithm of the newest ID token's signature. */
  readonly id_token_alg?: string;
  /**
   * The provider's session (`sid`) and the time (`iat`) of the ID token of the sign-in. A refresh
   * changes neither.
   */
  readonly sid?: string;
  readonly signed_in_iat?: EpochSeconds;
  /**
   * When the provider wants the session to end (claim `session_expiry`). The policy validates it.
   */
  readonly session_expiry?: unknown;
}

/** Why the application's code ended a session: its claims schema failed, or `onRefresh` denied. */
export type Rejection = "claims_rejected" | "denied";

/**
 * The session record. It is never modified: a change is a function from one record to the next. The
 * specification gives the keys their names; a store gets three of them under configured names
 * (`KeyNames`).
 */
export interface SessionRecord {
  /** Absent until a user signs in. */
  readonly credentials?: Credentials;
  /** The verified claims of ID token and userinfo. */
  readonly id_info?: IdInfo;
  /** The `state` of the newest pending login. */
  readonly oauth_state?: string;
  /** The page to which the newest login returns. */
  readonly final_redirect?: string;
  /** What the last login decided about its origin. Present only in debug mode. */
  readonly debug?: unknown;
  /** Epoch seconds of the sign-in. The policy validates it. */
  readonly idp_login_at?: unknown;
  /**
   * Epoch seconds of the last successful access; only with an idle timeout. The policy validates
   * it.
   */
  readonly idp_last_active?: unknown;
  /** idpauth's own; `readSessionRecord` leaves it out. */
  readonly idp_state: PrivateState;
}

/** Returns the record without its ID token, for storage if no logout needs the token. */
export function withoutIdToken(record: SessionRecord): SessionRecord {
  const { id_token: idToken, ...state } = record.idp_state;
  return idToken === undefined ? record : { ...record, idp_state: state };
}

export const RECORD_VERSION = 1;

/** The user whose session it is. */
export function userIn({ id_info: idInfo, idp_state: state }: SessionRecord): IdentifiedUser {
  return { idInfo, sourceKey: state.provider };
}

/**
 * The provider and client that sessions belong to. No two providers of one application have the
 * same.
 */
export interface ClientIdentity {
  readonly issuer: string;
  readonly clientId: string;
  /**
   * The provider's key, if a source gave it. Customers type the issuer and the client ID of such a
   * provider, so only the key tells one customer's users from another's.
   */
  readonly sourceKey?: string | undefined;
}

/** The clients whose sessions an application reads. */
export interface KnownClients {
  /** Those that are known at the start. */
  readonly clients: readonly ClientIdentity[];
  /** Whether a source gives further ones. Default false. */
  readonly hasSource?: boolean;
}

/**
 * Returns the client of the list that a signed-in record belongs to. Undefined: it is of another
 * mount, whose cookie value must not sign the user in here, of a provider that the settings no
 * longer contain, or of one from a source.
 */
export function clientOf<Client extends ClientIdentity>(
  { credentials, idp_state: { issuer, provider } }: SessionRecord,
  clients: readonly Client[],
): Client | undefined {
  if (provider !== undefined) return undefined;
  // A loop, because each guarded request calls it twice.
  for (const client of clients)
    if (
      credentials?.client_id === client.clientId &&
      (issuer === undefined || issuer === client.issuer)
    )
      return client;
  return undefined;
}

/**
 * Returns the client that a signed-in record belongs to. That of a provider from a source is what
 * the record says: whether the source still has it is for the session's read.
 */
export function knownClientOf(
  record: SessionRecord,
  { clients, hasSource = false }: KnownClients,
): ClientIdentity | undefined {
  const { issuer, provider: sourceKey } = record.idp_state;
  if (sourceKey === undefined) return clientOf(record, clients);
  const clientId = record.credentials?.client_id;
  return !hasSource || clientId === undefined || issuer === undefined
    ? undefined
    : { issuer, clientId, sourceKey };
}

/** Whether a signed-in record is of a client at a provider from a source. */
export function isClientOf(
  { credentials, idp_state: { issuer, provider } }: SessionRecord,
  client: ClientIdentity,
): boolean {
  return (
    provider === client.sourceKey &&
    issuer === client.issuer &&
    credentials?.client_id === client.clientId
  );
}

/** Whether these clients can use a record: it is of one of them, or nobody has signed in yet. */
export function isOfClients(record: SessionRecord, known: KnownClients): boolean {
  return record.credentials === undefined || knownClientOf(record, known) !== undefined;
}

const KEYS = [
  "credentials",
  "id_info",
  "oauth_state",
  "final_redirect",
  "debug",
  "idp_login_at",
  "idp_last_active",
  "idp_state",
] as const;

/** A record whose values have not been validated yet. */
export type UnreadRecord = Readonly<Partial<Record<(typeof KEYS)[number], unknown>>>;

/**
 * Returns a copy of the record in which every read finds own properties only. If another package
 * lets a request write to `Object.prototype`, a missing key must not read as that value. Sessions
 * return and store only such copies.
 *
 * The eight keys are always present, so a copy made with a spread is safe too. The objects in the
 * record have no prototype.
 */
export function withoutInherited<Read extends UnreadRecord>(record: Read): Read;
export function withoutInherited(record: UnreadRecord): UnreadRecord {
  const own = ownProperties(record);
  const copy = Object.create(null) as Record<(typeof KEYS)[number], unknown>;
  for (const key of KEYS)
    copy[key] = key === "idp_state" ? stateWithoutInherited(own[key]) : ownProperties(own[key]);
  return copy;
}

function stateWithoutInherited(value: unknown): unknown {
  if (!isObject(value)) return value;
  const state = ownProperties(value);
  const { logins, lease, apis, dpop } = state;
  return ownProperties({
    ...state,
    ...(logins !== undefined && {
      logins: Array.isArray(logins) ? logins.map(loginWithoutInherited) : logins,
    }),
    ...(lease !== undefined && { lease: ownProperties(lease) }),
    ...(isObject(dpop) && { dpop: ownProperties({ ...dpop, key: ownProperties(dpop["key"]) }) }),
    ...(isObject(apis) && {
      apis: ownProperties(
        Object.fromEntries(Object.entries(apis).map(([api, entry]) => [api, ownProperties(entry)])),
      ),
    }),
  });
}

function loginWithoutInherited(value: unknown): unknown {
  if (!isObject(value) || !Object.hasOwn(value, "dpop_key")) return ownProperties(value);
  return ownProperties({ ...value, dpop_key: ownProperties(value["dpop_key"]) });
}

export const EMPTY_RECORD: SessionRecord = deepFreeze(
  withoutInherited({ idp_state: { v: RECORD_VERSION } }),
);

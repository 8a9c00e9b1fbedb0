/**
 * The ports: how the world comes in. Each states what it owes and what breaks without it.
 */
import type { SessionRecord, Credentials, IdInfo } from "./record/record.js";
import type { EpochSeconds } from "./clock.js";

/**
 * A function over the freshest record. Gives the next record, or the very one it got to leave things as they are.
 * It may run again when another writer came between, so it must depend on nothing but its argument.
 */
export type Change = (record: SessionRecord) => SessionRecord;

/**
 * One visitor's session. It is only ever changed by a {@link Change}: a whole record read early and written back late
 * would overwrite newer tokens or undo a logout.
 *
 * Every method rejects with `StoreUnavailableError` when the store cannot answer; that is never "no session".
 */
export interface UserSession {
  /** False for a host's own get/set session: best effort, no race is promised. */
  readonly atomic: boolean;
  /**
   * Names the session within this process, so that requests of one session share one refresh. Undefined until `read`
   * has found a session. Changes with `regenerate`. Never leaves the process.
   */
  readonly key: string | undefined;
  /** After `read`: there is a session, but its record could not be opened, so it counts as none. */
  readonly isUnreadable?: boolean;
  /** The present record; undefined when there is none, or none that parses. One look-up per request, however often asked. */
  read(): Promise<SessionRecord | undefined>;
  /** Runs `change` on the freshest record and stores the result. Undefined: the session is gone, and stays gone. */
  update(change: Change): Promise<SessionRecord | undefined>;
  /** As `update`, but creates the session when there is none. Only the start of a login may do this. */
  begin(change: Change): Promise<SessionRecord>;
  /**
   * As `update`, under a new key; the old key is dead afterwards (session fixation). When the old session was gone
   * meanwhile, a logout won: nothing is kept and the answer is undefined.
   *
   * @param replaced called as soon as the old key is dead for the sake of the new one
   */
  regenerate(change: Change, replaced?: () => void): Promise<SessionRecord | undefined>;
  /** Ends the session and gives what was destroyed, so that the newest token gets revoked. */
  destroy(): Promise<SessionRecord | undefined>;
  /**
   * Stamps the last activity and renews the session's life when that is due. Never moves a stamp back, never creates,
   * never carries anything else: a stamp that wrote the whole record would bring back old tokens.
   *
   * @param lastActive null: leave the stamp
   * @param renew whether the answer can carry the cookie; a record that outlives its cookie is of no use
   * @returns undefined when neither was due, which is nearly always
   */
  touch(lastActive: EpochSeconds | null, renew: boolean): Promise<void> | undefined;
  /** The Set-Cookie values that the calls above made necessary, for the component's own answers. */
  readonly setCookies: readonly string[];
}

/** What a store keeps under one key. */
export interface Entry {
  /**
   * Opaque. Sealed bytes, except for a store that lives and dies inside this process (`inProcess`), which is handed the
   * frozen record itself.
   */
  readonly data: Uint8Array | SessionRecord;
  readonly expiresAt: EpochSeconds;
  /** The idle stamp: beside the data, so that stamping it conflicts with no other writer. */
  readonly lastActive?: EpochSeconds;
  /** Keyed hash of issuer and subject; present exactly for a signed-in session. */
  readonly subject?: string;
  /** Sealed with SECRET_KEY alone; login time and label for a device list; no token. */
  readonly summary?: Uint8Array;
}

/** An entry as it was read. */
export interface Stored extends Entry {
  /** Changes with each `insert` and `replace`, not with `touch`. Compared for equality only. */
  readonly version: string;
}

/**
 * Where bundled sessions live. A key is the SHA-256 (base64url, 43 characters) of the cookie's value.
 *
 * Every method bounds its own time and rejects when it cannot tell what happened; a rejection means "outcome unknown",
 * and the caller reads again. An entry whose `expiresAt` is not later than now does not exist for any method.
 */
export interface SessionStore {
  /** A short name for messages: `memory`, `sqlite`, … */
  readonly name: string;
  /**
   * True: nothing leaves this process, so records are handed over unsealed. A store that writes anywhere else must not
   * say so, or tokens would lie there in the clear.
   */
  readonly inProcess?: boolean;
  /** What keeps the store, as it is set up, from keeping its promises. Found without I/O; startup check E012 reports it. */
  readonly problems?: readonly StoreProblem[];
  get(key: string): Promise<Stored | undefined>;
  /** False: the key exists already; nothing was written. */
  insert(key: string, entry: Entry): Promise<boolean>;
  /**
   * Writes only when the stored version still is `version`; false: changed or gone. Compared and written in one step by
   * the store itself, or two writers would both win. `lastActive` and `expiresAt` keep the later of stored and given.
   */
  replace(key: string, entry: Entry, version: string): Promise<boolean>;
  /**
   * Moves `lastActive` and `expiresAt` forward, never back, and touches nothing else: no new version, so it never
   * conflicts with a lease. False: there is no such entry; it is not created.
   */
  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean>;
  /** Removes the entry and gives what was there. A later `replace` or `touch` under this key fails for ever. */
  delete(key: string): Promise<Stored | undefined>;
  /** The keys of all live entries with this subject. May be slow; must not block the event loop. */
  listBySubject(subject: string): Promise<string[]>;
  /** Ends timers and connections that the store itself opened; a client that was handed in stays its owner's to end. */
  close?(): Promise<void>;
}

/** A mistake in a store's setup. */
export interface StoreProblem {
  /** What is wrong; names options, never a secret's content. */
  readonly message: string;
  readonly remedy: string;
}

/** What starts a login at the provider. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier; the provider is sent its S256 challenge. */
  readonly verifier: string;
  /** The user wants to sign in with another account: the provider asks for one instead of using its own session. */
  readonly selectAccount?: boolean;
}

/** The code that came back, and what it has to fit. */
export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Tokens of a finished sign-in whose ID token has been verified. */
export interface SignIn {
  readonly credentials: Credentials;
  readonly idInfo: IdInfo;
  /** The names of the claims in `idInfo` that came from the userinfo endpoint. */
  readonly userinfoClaims: readonly string[];
  readonly receivedAt: EpochSeconds;
  readonly accessTokenExpiresAt: EpochSeconds | undefined;
}

/** A refresh token to spend, and the session that it belongs to: trouble with one session's token keeps no other session waiting. */
export interface RefreshRequest {
  readonly refreshToken: string;
  /** The session's key. */
  readonly session: string;
  /** Ends the request; the refresher's own total deadline. */
  readonly signal: AbortSignal;
}

/**
 * The answer to a refresh request, before anything in it is believed. The old refresh token is spent from here on, so
 * `refreshToken`, when there is one, must be stored before anything else is tried.
 */
export interface SpentRefresh {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly receivedAt: EpochSeconds;
  readonly accessTokenExpiresAt: EpochSeconds | undefined;
}

/** Identity after a refresh. */
export interface VerifiedRefresh {
  readonly idInfo: IdInfo;
  /** As in {@link SignIn}. */
  readonly userinfoClaims: readonly string[];
}

/** What a login's callback needs to know of the provider before it asks for tokens. */
export interface ProviderFacts {
  readonly issuer: string;
  /** The provider announces that each authorization response carries `iss` (RFC 9207 section 3). */
  readonly sendsIss: boolean;
}

/**
 * The identity provider. Methods reject with `ProviderUnavailableError` for an outage (network, timeout, 5xx, not JSON,
 * JWKS unreachable, an operator's mistake) and with `ProviderRefusedError` for a "no": the two are never mixed up,
 * since the first must not sign anyone out and the second must not be asked again.
 */
export interface Provider {
  /** Issuer and announcements, from the discovery document. */
  facts(): Promise<ProviderFacts>;
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  /** @throws ProviderUnavailableError while code exchanges back off */
  assertReadyToExchange(): void;
  /**
   * @param session the session's key
   * @throws ProviderUnavailableError while refreshes, or those of this session, back off
   */
  assertReadyToRefresh(session: string): void;
  /** Exchanges the code and verifies the ID token: signature, claims, nonce. May call userinfo for missing identity. */
  exchange(exchange: CodeExchange): Promise<SignIn>;
  /** Spends the refresh token: one request, nothing verified. `ProviderRefusedError`: the token will never work again. */
  refresh(request: RefreshRequest): Promise<SpentRefresh>;
  /**
   * Verifies a refreshed ID token against its predecessor (OpenID Connect Core section 12.2), or calls userinfo in place of
   * an ID token that did not come (`IDP_REFRESH_WITHOUT_ID_TOKEN`).
   *
   * @param previous the record that the refresh started from
   */
  verifyRefreshed(spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<VerifiedRefresh>;
  /** Posts a token to the revocation endpoint (RFC 7009). False: it could not be revoked. Never rejects. */
  revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean>;
}

export type LogLevel = "info" | "warn" | "error";

/** One log line. Never holds a token, secret, state, nonce or verifier. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Stable; the same codes as errors, checks and reasons where one applies. */
  readonly code: string;
  readonly message: string;
  /** Details that are safe to write down: status codes, durations, error codes of the provider. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** May be async; nobody waits for it. One that throws, or rejects, disturbs nothing. */
export type Log = (entry: LogEntry) => unknown;

import type { Explanation } from "../access/session-access.js";
import type { IdpAuthNames } from "../config/inferred-names.js";
import type { SourcedProviderOptions } from "../config/provider-source.js";
import type { Finding } from "../errors.js";
import type { Events } from "../events/events.js";
import type { LoginUrlOptions } from "../guard/login-url.js";
import type { ClientState } from "../record/client-state.js";
import type { Credentials } from "../record/credentials.js";
import type { Subject } from "../record/identity.js";
import type { Session } from "../record/session-view.js";
import type { SESSION_FOR_TESTS, SessionForTests } from "../sessions/session-for-tests.js";
import type { ListedSession } from "../sessions/subject-sessions.js";
import type { Observable } from "./observe.js";
import type { ProviderAddresses } from "./provider-addresses.js";

/**
 * The name of the method that waits for refreshes and revocations, for tests. `settled` of
 * `idpauth/testing` calls it. It is registered, so that several copies of this package share it.
 */
export const SETTLED: unique symbol = Symbol.for("idpauth.settled");

/** A request that is sent with a proof. */
export interface DpopCall {
  /** The HTTP method, in capital letters. */
  readonly method: string;
  /** The address. Its query and fragment aren't part of the proof. */
  readonly url: string | URL;
  /** The access token that is sent with it. */
  readonly accessToken: string;
  /** The newest `DPoP-Nonce` that this API has sent. Default: none. */
  readonly nonce?: string | undefined;
}

/** Options of `getAccessToken`. */
export interface AccessTokenOptions<Api extends string = string> {
  /**
   * Seconds for which the token must stay valid. Default 30. A value above half of the token's
   * lifetime counts as half of it.
   */
  readonly minValidity?: number;
  /** The name of an API in the option `apis`. Default: the session's own access token. */
  readonly api?: Api | undefined;
  /**
   * A token that the API has rejected with 401. It is replaced once, unless another request has
   * replaced it already.
   */
  readonly rejected?: string | undefined;
}

/** The functions that the `auth` object of every adapter has. */
export interface Accessors<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
> extends Observable {
  /**
   * The user's credentials, refreshed when the ID token has expired; null when signed out. It does
   * not look at the expiry of the access token in them: for a token that an API still accepts, use
   * `getAccessToken`. The result contains the client secret and tokens, so it must never reach a
   * browser.
   *
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be
   *   signed in
   */
  getCredentials(raw: FrameworkRequest): Promise<Credentials | null>;
  /**
   * The session of a signed-in user: user, verified claims, the application's data and times,
   * read-only. It applies the same policy as `getCredentials`. It is for the server: what a browser
   * may see is `clientState`. If it finds a user on a route without a guard, the response of Express,
   * Fastify, Koa, Hono and node:http gets the guard's `Cache-Control` and `Vary`.
   *
   * @param options `ifUnavailable`: what it returns in an outage (503) instead of rejecting, for a
   *   public page that works without its user
   * @returns null when signed out
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503), without
   *   `ifUnavailable`; the user may still be signed in
   */
  getSession<const Value>(
    raw: FrameworkRequest,
    options: { readonly ifUnavailable: Value },
  ): Promise<Session<OwnClaims, Data> | Value | null>;
  /** Without `ifUnavailable`, an outage rejects. */
  getSession(raw: FrameworkRequest): Promise<Session<OwnClaims, Data> | null>;
  /**
   * The session with which a guard let this request pass: the same read, however long the handler
   * runs.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass, even if
   *   its user is signed in
   */
  requireSession(raw: FrameworkRequest): Promise<Session<OwnClaims, Data>>;
  /**
   * The session that the first gate of this request found: a guard, an accessor, or an endpoint such
   * as the probe. For a log that is written when the response is complete. It stays after the
   * guard has blocked the request, and after a logout. It reads nothing and doesn't count as activity.
   *
   * @returns null if no session has been read yet, if the user is signed out, or in an outage
   */
  seenSession(raw: FrameworkRequest): Session<OwnClaims, Data> | null;
  /**
   * What the browser may see of the session: the body of `GET /idpauth/session?details=true`. It
   * does not count as activity.
   *
   * @param options `ifUnavailable`: what it returns in an outage (503) instead of rejecting. With
   *   null as its `initialState`, a client starts as `loading`
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503), without
   *   `ifUnavailable`; the user may still be signed in
   */
  clientState<const Value>(
    raw: FrameworkRequest,
    options: { readonly ifUnavailable: Value },
  ): Promise<ClientState | Value>;
  /** Without `ifUnavailable`, an outage rejects. */
  clientState(raw: FrameworkRequest): Promise<ClientState>;
  /**
   * Changes the application's own data by compare-and-swap.
   *
   * @param change a pure function from the newest data to the next data. It runs again if another
   *   write came first. With `session: "host"` an overlapping write can be lost
   * @returns the new data; null when signed out, or if the session has ended meanwhile
   * @throws TypeError the result is not JSON, or larger than `dataLimit`; nothing changes
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503)
   */
  updateData(
    raw: FrameworkRequest,
    change: (data: Readonly<Partial<Data>>) => Partial<Data>,
  ): Promise<Readonly<Partial<Data>> | null>;
  /**
   * For diagnosis: the record's specified keys as stored, under their configured names. It applies
   * no policy, and an ended session has a record too, so never authorize a request by it: use
   * `getSession`.
   *
   * @returns null without a session
   */
  readSessionRecord(raw: FrameworkRequest): Promise<Readonly<Record<string, unknown>> | null>;
  /**
   * As `getCredentials`, but also looks at the access token's own expiry. With `api`, the access
   * token for that API.
   *
   * @returns null when signed out, or if the token has expired and can't be refreshed
   * @throws ApiTokenError the provider doesn't issue a token for the API; the session continues.
   *   `loginUrl` asks the user for what is missing
   */
  getAccessToken(
    raw: FrameworkRequest,
    options?: AccessTokenOptions<Names["api"]>,
  ): Promise<string | null>;
  /**
   * Sends a request to an API with the user's access token, as `fetch` does, and once more with a
   * new token if the API responds 401. It follows no redirect.
   *
   * @param api its name in the option `apis`
   * @param path path and query below the API's `url`, without a leading slash
   * @throws IdpAuthError `login_required` (401): signed out; `api_path_invalid`,
   *   `method_not_allowed`: the table doesn't allow it; `api_unreachable` (502); `api_timeout`
   *   (504): no headers within the API's `timeout`
   * @throws ApiTokenError as of `getAccessToken`
   */
  fetchApi(
    raw: FrameworkRequest,
    api: Names["api"],
    path: string,
    init?: RequestInit,
  ): Promise<Response>;
  /**
   * Returns the value of the header `DPoP` for a request that the application sends with a client of
   * its own (RFC 9449 section 4). The token is the `token` of `getCredentials`, or that of
   * `getAccessToken`, and goes into `Authorization: DPoP …`. An API accepts a proof once.
   *
   * @returns null when signed out, and if the token is a bearer token
   * @throws TypeError `url` isn't an absolute URL
   * @throws StoreUnavailableError
   */
  dpopProof(raw: FrameworkRequest, call: DpopCall): Promise<string | null>;
  /**
   * For diagnosis: whether the session is valid at this moment without a refresh. No side effects.
   * It is false for a signed-in user whose ID token has just expired, until a refresh renews the
   * token. To learn whether a user is signed in, use `getSession`.
   */
  checkIdpAuthentication(raw: FrameworkRequest): Promise<boolean>;
  /**
   * For diagnosis: as `checkIdpAuthentication`, with the reason; `id_token_expired` means that the
   * next `getSession` or `getCredentials` refreshes. No side effects.
   */
  explainIdpAuthentication(raw: FrameworkRequest): Promise<Explanation>;
  /**
   * A signal for connections that stay open, such as event streams and WebSockets. It aborts when
   * the session of this request ends, here or in another process: by a logout, by the provider, by
   * a session limit, or because a new sign-in replaced it. Its `reason` is a `SessionEndedError`,
   * whose `reason` says why. Without a session it aborts as soon as the store has responded. It also
   * aborts when `close` is called, with the reason `closing`: the session continues.
   *
   * If the store announces ends (memory, Redis, PostgreSQL with `listen`), it aborts within a
   * second, otherwise within five. An outage never aborts it. It does not count as activity, and is
   * released when the request closes.
   *
   * @throws SessionMissingError with `session: "host"`: the request has no session middleware
   */
  whenEnded(raw: FrameworkRequest): AbortSignal;
  /**
   * The path and query of a login that returns to a page, for a link or a redirect. It reads no
   * session.
   *
   * @throws TypeError for a parameter that a login does not pass on, or a `returnTo` that is not
   *   text
   */
  loginUrl(raw: FrameworkRequest, options?: LoginUrlOptions<Names["provider"]>): string;
  /**
   * A user's sessions for a device list, the newest sign-in first. It reads about 1,000 sessions at
   * most. Bundled sessions only, like `endSession` and `endAllSessions`.
   *
   * @param subject the `iss` and `sub` of id_info, and with a source of providers `provider`
   * @param current the current request; its own session is marked in the list
   * @throws StoreUnavailableError
   */
  listSessions(subject: Subject, current?: FrameworkRequest): Promise<readonly ListedSession[]>;
  /**
   * Ends one session of a user. It does not revoke the session's tokens at the provider: they
   * cannot be decrypted without the browser's cookie.
   *
   * @param id as `listSessions` returned it
   * @returns false if this user has no such session
   * @throws StoreUnavailableError
   */
  endSession(subject: Subject, id: string): Promise<boolean>;
  /**
   * Ends all sessions of a user. Like `endSession`, it does not revoke tokens at the provider.
   *
   * @param options `except`: a request whose own session stays
   * @returns the number of ended sessions
   * @throws StoreUnavailableError some sessions may have ended; call it again
   */
  endAllSessions(
    subject: Subject,
    options?: { readonly except?: FrameworkRequest },
  ): Promise<number>;
  /**
   * Posts a token to the provider's revocation endpoint (RFC 7009).
   *
   * @param provider with several providers, the key of the one that issued the token
   * @returns whether that succeeded; it never rejects
   */
  revokeIdpToken(
    token: string,
    hint?: "refresh_token" | "access_token",
    provider?: Names["provider"],
  ): Promise<boolean>;
  /**
   * Has the source of providers say again what it has for a key, after the application has changed
   * it. Other processes do so within the source's `maxAge`.
   */
  forgetProvider(key: string): void;
  /**
   * Checks the settings of a provider before customers use them, and asks the provider, as
   * `idpauth check --live` does: within 10 seconds, by the network rules. Only with a source of
   * providers.
   *
   * @param options as `find` returns them; a customer may have typed them
   * @param more `key`: the provider's key, if it has one already, so that its redirect URI is
   *   checked, too; `origin`: the application's origin for this customer. Default BASE_URL
   * @returns what is wrong, errors first; empty: nothing. The provider's faults never reject
   */
  checkProvider(
    options: SourcedProviderOptions,
    more?: { readonly key?: string; readonly origin?: string },
  ): Promise<readonly Finding[]>;
  /**
   * The addresses that a customer's administrator registers at the provider. Only with a source of
   * providers.
   *
   * @param key of the provider, which need not exist yet
   * @param options `origin`: the application's origin for this customer. Default BASE_URL
   * @throws TypeError the key has a wrong form, or the origin is missing or is none
   */
  providerAddresses(key: string, options?: { readonly origin?: string }): ProviderAddresses;
  /**
   * Whether a URL is one of the provider's documents: https, no port, no user info, exactly a
   * document host.
   */
  isValidIdpUrl(url: string): boolean;
  /**
   * Ends what is open in this process, before it exits; no session ends. New event streams and
   * upgrades get 503 `shutting_down`, and all other requests are served. Event streams and proxied
   * WebSockets end, and `whenEnded` aborts. Other proxied responses and uploads finish. So do
   * refreshes and revocations, those of disconnected users included; what waits for browsers to
   * come back from the provider's logout runs at once.
   *
   * Call it after `server.close()`, and close the store after both. It never rejects. Every further
   * call returns the same promise.
   *
   * @param options `timeout`: seconds after which idpauth breaks off what is still open. Default 10;
   *   a refresh that waits for the provider takes up to 30
   */
  close(options?: { readonly timeout?: number }): Promise<void>;
  /** Resolves when no refresh and no revocation is running; see `settled` of `idpauth/testing`. */
  [SETTLED](): Promise<void>;
  /**
   * Adds a listener of an event, which may be async; idpauth does not wait for it. `idpauth:` and
   * the name is also a diagnostics channel.
   *
   * @returns a function that removes it
   */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => unknown): () => void;
  /**
   * Signs a user in without a provider, in tests; see `signedInAs` of `idpauth/testing`. Bundled
   * sessions only.
   *
   * @returns the Set-Cookie values that the browser would get
   * @throws StoreUnavailableError
   */
  [SESSION_FOR_TESTS](asked?: SessionForTests<Names["provider"]>): Promise<readonly string[]>;
}

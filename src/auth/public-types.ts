/**
 * The public types: the options, the port that an adapter implements, and the component that an
 * adapter builds on.
 */
import type { Explanation } from "../access/session-access.js";
import type { ApplicationOptions } from "../application/hooks.js";
import type { Clock } from "../clock.js";
import type { ApiOptions } from "../config/api-options.js";
import type { SettingOptions } from "../config/read-settings.js";
import type { FrameworkFacts as CheckedFacts, STARTUP_CHECKS } from "../config/startup-checks.js";
import type { Finding } from "../errors.js";
import type { EventName, Listener } from "../events/events.js";
import type { Log } from "../events/log.js";
import type { Blocked } from "../guard/blocked.js";
import type { LoginUrlOptions } from "../guard/login-url.js";
import type { AnyReply, Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import type { PagesOptions } from "../pages/page-options.js";
import type { SessionStore } from "../ports/session-store.js";
import type { Credentials } from "../record/credentials.js";
import type { GuardRule } from "../record/guard-requirements.js";
import type { UserPayload } from "../record/identity.js";
import type { ProbeDetails } from "../record/probe.js";
import type { Session } from "../record/session-view.js";
import type { FrameworkSession } from "../sessions/framework-session.js";
import type { SESSION_FOR_TESTS, SessionForTests } from "../sessions/session-for-tests.js";
import type { ListedSession, Subject } from "../sessions/subject-sessions.js";
import type { SETTLED } from "./settled.js";

/**
 * The settings, each overriding its environment variable, the application's own functions, and the
 * connections to the outside world.
 *
 * @typeParam OwnClaims the output of the claims schema; inferred from `claims`
 * @typeParam Data the application's own data; inferred from the result of `onSignIn`
 */
export interface IdpAuthOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
>
  extends SettingOptions, ApplicationOptions<OwnClaims, Data> {
  /** The environment that gives the settings which are not options. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Where bundled sessions are stored. Default: this process's memory, with a warning outside debug
   * mode.
   */
  readonly store?: SessionStore;
  /**
   * `"bundled"` (default): idpauth's own sessions. `"host"`: those of the framework's session
   * middleware.
   */
  readonly session?: "bundled" | "host";
  /**
   * Names a session for a device list at sign-in, for example
   * `(request) => request.header("user-agent")`. idpauth stores the name as one line of at most 200
   * characters. Bundled sessions only.
   */
  readonly sessionLabel?: (request: IdpRequest) => string | null | undefined;
  /**
   * The APIs that the application calls for its users, by name; docs/how-to/call-an-api.md explains
   * them.
   */
  readonly apis?: Readonly<Record<string, ApiOptions<NoInfer<OwnClaims>, NoInfer<Data>>>>;
  /** The look and the language of the pages; docs/how-to/your-pages.md explains them. */
  readonly pages?: PagesOptions;
  /**
   * Gets every log line. Default: warnings and errors as single lines on stderr, rate-limited.
   * False: no log.
   */
  readonly log?: Log | false;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /**
   * Sends the requests to the provider, for example through a proxy. Default: the runtime's
   * `fetch`.
   */
  readonly fetch?: typeof fetch;
}

/**
 * Reads the requests of a framework; an adapter implements it. `FrameworkRequest` is the object
 * that the guard and the accessors of one request all get. idpauth remembers the session of a
 * request in a private field, which no other code can see.
 */
export interface FrameworkAdapter<FrameworkRequest extends object> {
  /** The framework's name in messages: `Express`, … */
  readonly name: string;
  /** Wraps the framework's request. It may be called several times for one. */
  request(raw: FrameworkRequest): IdpRequest;
  /**
   * The session of the framework's own middleware on this request; undefined when there is none.
   */
  session?(raw: FrameworkRequest): FrameworkSession | undefined;
  /**
   * Calls a function once when the response to this request is complete or its connection has
   * closed; for an upgraded connection, when that closes. Without it, `whenEnded` holds its signal
   * until the session ends.
   */
  onClose?(raw: FrameworkRequest, closed: () => void): void;
  /** What the proxy reads of a request. Without it, the framework has no `proxyApi`. */
  source?(raw: FrameworkRequest): FrameworkSource;
  /**
   * True if the framework loads the endpoints' route only when it is requested, so that nothing tells
   * whether the application has mounted it.
   */
  readonly mountsLate?: boolean;
  /** The remedy of E002: how to install the session middleware, or what to use instead. */
  readonly middlewareRemedy?: string;
}

/** A request as the proxy of an API reads it, with its body. */
export interface FrameworkSource {
  /**
   * A request of node:http, node:https or node:http2. Its response may have a stream of Node.js,
   * unless there is also a `web`.
   */
  readonly node?: object;
  /**
   * A `Request` of the Fetch standard. Together with `node`: the one that a server made of that,
   * which has the body if other code has begun to read the body of `node`.
   */
  readonly web?: Request;
  /** The browser's IP address, as far as the framework trusts it. */
  readonly client?: string | undefined;
}

/** Whether the framework's own session middleware is installed; see the check E002. */
export type SessionMiddleware = CheckedFacts["sessionMiddleware"];

/** What an adapter knows about its framework at the start. */
export interface FrameworkFacts {
  /** Whether the framework's own session middleware is installed. */
  readonly sessionMiddleware: SessionMiddleware;
}

/** Options of `getSession`. */
export interface SessionOptions<Value> {
  /**
   * What `getSession` returns in an outage (503) instead of rejecting, for a public page that works
   * without its user.
   */
  readonly ifUnavailable: Value;
}

/** Options of `getAccessToken`. */
export interface AccessTokenOptions {
  /**
   * Seconds for which the token must stay valid. Default 30. A value above half of the token's
   * lifetime counts as half of it.
   */
  readonly minValidity?: number;
  /** The name of an API in the option `apis`. Default: the session's own access token. */
  readonly api?: string | undefined;
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
> {
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
   * The user's email, name and picture, after the same policy as `getCredentials`; null when signed
   * out.
   */
  getUser(raw: FrameworkRequest): Promise<UserPayload | null>;
  /**
   * The session of a signed-in user: user, verified claims, the application's data and times,
   * read-only. It applies the same policy as `getCredentials`. It is for the server: what a browser
   * may see is `clientState`.
   *
   * @returns null when signed out
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503), without
   *   `ifUnavailable`; the user may still be signed in
   */
  getSession<const Value>(
    raw: FrameworkRequest,
    options: SessionOptions<Value>,
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
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be
   *   signed in
   */
  clientState(raw: FrameworkRequest): Promise<ProbeDetails>;
  /**
   * The application's own data, read-only, after the same policy as `getCredentials`.
   *
   * @returns undefined when signed out
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503)
   */
  getData(raw: FrameworkRequest): Promise<Readonly<Partial<Data>> | undefined>;
  /**
   * Changes the application's own data by compare-and-swap.
   *
   * @param change a pure function from the newest data to the next data. It runs again if another
   *   write came first. With `session: "host"` an overlapping write can be lost
   * @returns the new data; undefined when signed out, or if the session has ended meanwhile
   * @throws TypeError the result is not JSON, or larger than `dataLimit`; nothing changes
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503)
   */
  updateData(
    raw: FrameworkRequest,
    change: (data: Readonly<Partial<Data>>) => Partial<Data>,
  ): Promise<Readonly<Partial<Data>> | undefined>;
  /**
   * The record's specified keys as stored, under their configured names, for debugging. It applies
   * no policy: an ended session has a record too, so never authorize by it; use `getSession`.
   *
   * @returns null without a session
   */
  readSessionRecord(raw: FrameworkRequest): Promise<Readonly<Record<string, unknown>> | null>;
  /**
   * As `getCredentials`, but also looks at the access token's own expiry. With `api`, the access
   * token for that API.
   *
   * @returns null when signed out, or if the token has expired and can't be refreshed
   * @throws ApiTokenError the provider gives no token for the API; the session continues.
   *   `loginUrl` asks the user for what is missing
   */
  getAccessToken(raw: FrameworkRequest, options?: AccessTokenOptions): Promise<string | null>;
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
  fetchApi(raw: FrameworkRequest, api: string, path: string, init?: RequestInit): Promise<Response>;
  /**
   * Whether the session is valid at this moment without a refresh. No side effects. It is false for
   * a signed-in user whose ID token has just expired, until a refresh renews the token. To learn
   * whether a user is signed in, use `getUser` or `getSession`.
   */
  checkIdpAuthentication(raw: FrameworkRequest): Promise<boolean>;
  /**
   * As `checkIdpAuthentication`, with the reason; `id_token_expired` means that the next `getUser`,
   * `getSession` or `getCredentials` refreshes. No side effects.
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
  loginUrl(raw: FrameworkRequest, options?: LoginUrlOptions): string;
  /**
   * A user's sessions for a device list, the newest sign-in first. It reads about 1,000 sessions at
   * most. Bundled sessions only, like `endSession` and `endAllSessions`.
   *
   * @param subject the `iss` and `sub` of id_info
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
    provider?: string,
  ): Promise<boolean>;
  /**
   * Whether a URL is one of the provider's documents: https, no port, no user info, exactly a
   * document host.
   */
  isValidIdpUrl(url: string): boolean;
  /** The path that all endpoints begin with, such as `/idpauth/`. */
  mountPath(): string;
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
  /** Adds a listener of an event. @returns a function that removes it */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /**
   * Signs a user in without a provider, in tests; see `signedInAs` of `idpauth/testing`. Bundled
   * sessions only.
   *
   * @returns the Set-Cookie values that the browser would get
   * @throws StoreUnavailableError
   */
  [SESSION_FOR_TESTS](asked?: SessionForTests): Promise<readonly string[]>;
}

/**
 * The `auth` object of an adapter, without what mounts and guards. Reading a property neither
 * throws nor has side effects.
 */
export interface AdapterAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> extends Accessors<FrameworkRequest, OwnClaims, Data> {
  /**
   * Runs the startup checks. Mounting calls it; without either, the checks run at the first
   * request, which then fails. You can call it again: each warning is logged once.
   *
   * @returns the warnings
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /**
   * Runs the startup checks for `idpauth check --module`, and starts nothing. What it returns is
   * not for applications.
   *
   * @throws ConfigurationError with every finding at once
   */
  [STARTUP_CHECKS](): unknown;
}

/**
 * The component that an adapter builds on. Applications use the `auth` object of an adapter, such
 * as `idpauth/express`.
 */
export interface IdpAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> extends AdapterAuth<FrameworkRequest, OwnClaims, Data> {
  /** As of `AdapterAuth`. The first successful call also creates the component. */
  start(facts?: FrameworkFacts): readonly Finding[];
  /**
   * Responds to a request for one of the endpoints.
   * @returns undefined if the path is not an endpoint's
   */
  handle(raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /**
   * Decides whether a request may reach a protected handler.
   *
   * @param rule what the route requires besides a signed-in user
   * @returns undefined if the request may pass; otherwise the handler must not run
   * @throws what the rule's `allow` throws; the handler must not run
   */
  guard(raw: FrameworkRequest, rule?: GuardRule<OwnClaims, Data>): Promise<Blocked | undefined>;
  /**
   * Returns a function that passes requests below an API's `path` on to the API, with the user's
   * access token.
   *
   * @param rule what the route requires besides a signed-in user
   * @throws TypeError a value that the options cannot have
   */
  proxyApi(
    api: string,
    rule?: GuardRule<OwnClaims, Data>,
  ): (raw: FrameworkRequest) => Promise<AnyReply> | undefined;
  /** Whether `close` was called. Responses then close their connection. */
  isClosing(): boolean;
  /**
   * Passes an upgrade to a WebSocket on to the API whose `path` its target begins with, if
   * `proxyApi` was called for that API.
   *
   * @param request of the message
   * @param upgrade as the event `upgrade` of a server has it
   * @param client the browser's IP address, as far as the framework trusts it. Default: that of the
   *   connection
   * @returns false if it is no API's
   */
  proxyUpgrade(
    request: IdpRequest,
    upgrade: readonly [message: object, socket: object, head: Uint8Array],
    client?: string,
  ): boolean;
  /**
   * Checks what was passed to `idpRequiredWith`, and remembers its rule for the startup checks.
   *
   * @throws TypeError a value that the options cannot have
   */
  declareGuard(options: GuardRule<OwnClaims, Data>): void;
  /**
   * Checks that a page of another origin did not send a request that may change something.
   * Endpoints have their own rules and pass.
   *
   * @returns undefined if the request may pass; otherwise the 403 response
   */
  csrf(raw: FrameworkRequest): Promise<Reply> | undefined;
  /**
   * Returns the response to an error that a handler threw and nothing caught, with the error's
   * status: a page for a navigation, otherwise a problem document.
   *
   * @returns undefined if it is no error of idpauth, which the framework handles
   */
  uncaught(error: unknown, raw: FrameworkRequest): Promise<Reply> | undefined;
}

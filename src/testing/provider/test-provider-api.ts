import type { MovableClock } from "../running-clock.js";
import type { Fault, Hold, HoldOptions } from "./faults.js";
import type { Issued, RequestedTarget } from "./grants.js";
import type { LogoutResponse, LogoutTokenOptions } from "./logout-tokens.js";
import type { PersonClaims } from "./people.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import type { JwksControls } from "./signing-keys.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderHooks } from "./test-provider-state.js";

/** Options of `startTestProvider`. Each setting can also be changed while the provider runs. */
export interface TestProviderOptions extends Partial<ProviderSettings> {
  /** The user who signs in until you set another; default Ada. */
  readonly person?: PersonClaims;
  /**
   * Users that an authorization request can choose by `login_hint` (`sub` or `email`). The first is
   * the default user.
   */
  readonly people?: readonly PersonClaims[];
  /**
   * The time of tokens and delays. Default: a `RunningClock`, the system's time, which you can
   * advance.
   */
  readonly clock?: MovableClock;
  /**
   * The issuer's path, such as `/tenant` or `/`; default none, or `/organizations/v2.0` with the
   * option `tenant`.
   */
  readonly issuerPath?: string;
  /**
   * Whether the provider speaks TLS and asks each client for a certificate; default false. An
   * authority of the kit, which exists in this process alone, issues the provider's certificate.
   * While the provider runs, this process trusts it.
   */
  readonly tls?: boolean;
  /**
   * Whether the endpoints that take a client's certificate are on a second port, in the discovery
   * document's `mtls_endpoint_aliases` (RFC 8705 section 5). The provider then asks for certificates
   * there alone. Default false.
   */
  readonly mtlsAliases?: boolean;
}

/**
 * A running provider. Hooks are properties: a function changes a response, undefined removes the
 * hook.
 */
export interface TestProvider extends ProviderHooks {
  /**
   * The issuer of the discovery document: `http://127.0.0.1:port` (`https` with the option `tls`) and
   * the issuer path.
   */
  readonly issuer: string;
  /** The present value of `settings.clientId`. */
  readonly clientId: string;
  /** The present value of `settings.clientSecret`. */
  readonly clientSecret: string;
  /**
   * The settings of a client of this provider, with a fixed key that is for tests only. Empty
   * values replace those of a developer's `.env`; for a setting of your own, put it after these:
   * `{ ...provider.env, IDP_PUSHED_REQUESTS: "always" }`. Use it for
   * `idpAuth({ env: provider.env })`, the environment of another process, or
   * `Object.assign(process.env, provider.env)`.
   */
  readonly env: Readonly<Record<EnvironmentName, string>>;
  /**
   * The provider's clock. Give it to idpauth too,
   * `idpAuth({ env: provider.env, clock: provider.clock })`, and
   * `provider.clock.advance(3_600_000)` lets an hour pass for both.
   */
  readonly clock: MovableClock;
  /** The provider's behaviour; you can change it at any time. */
  readonly settings: ProviderSettings;
  /** The user who signs in next. */
  person: PersonClaims;
  /**
   * The users who are signed in at the provider: from each `sub` to the time of that sign-in, in
   * epoch seconds. `auth_time` and `prompt=none` follow it. You can change it: after `clear()`,
   * nobody is signed in. Each sign-in of a user who is not signed in begins a session with a new
   * `sid`; a claim `sid` of the user sets it.
   */
  readonly signedIn: Map<string, number>;

  /** Every request, in the order of arrival. You may empty the list. */
  readonly requests: ReceivedRequest[];
  /**
   * Returns the requests to one endpoint, optionally only those with these body parameters:
   * `requestsTo("token", { grant_type: "refresh_token" })`.
   */
  requestsTo(
    endpoint: Endpoint | "unknown",
    params?: Readonly<Record<string, string>>,
  ): ReceivedRequest[];
  /**
   * Forbidden actions of the client. `stop()` rejects if the list is not empty, so a test that
   * expects some empties it.
   */
  readonly violations: string[];
  /** Every code and token that the provider has issued. */
  readonly issued: readonly Issued[];
  /** How often a spent refresh token was used again, which revokes all tokens of its sign-in. */
  readonly reuses: number;
  /**
   * Returns what a refresh requested this access token for: `resource`, `audience` and `scope`.
   * Undefined: the token is unknown.
   */
  targetOf(accessToken: string): RequestedTarget | undefined;
  /** Returns whether this access or refresh token is still valid. */
  isActive(token: string): boolean;
  /**
   * Returns what the introspection endpoint responds for this token (RFC 7662 section 2.2), without
   * a request.
   */
  introspect(token: string): Readonly<Record<string, unknown>>;
  /** Revokes every refresh token and access token issued so far. */
  revokeAll(): void;

  /** Ends every DPoP nonce of now, so that the next proof that needs one is refused. */
  rotateDpopNonce(): void;

  /**
   * Ends sessions at the provider and sends a logout token for each, if the setting
   * `backchannelLogoutUri` is set.
   *
   * @param subOrSid the `sub` of a user, all of whose sessions end; or the `sid` of one session
   * @returns the application's response to each logout token
   * @throws Error there is no such session, or the application does not respond within 10 seconds
   */
  endSession(subOrSid: string): Promise<LogoutResponse[]>;
  /**
   * Returns a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4), without ending a
   * session.
   */
  logoutToken(options?: LogoutTokenOptions): string;
  /**
   * Posts a logout token to the setting `backchannelLogoutUri` (section 2.5), without ending a
   * session at the provider.
   *
   * @param token the content of a token, or a finished token, which is sent as it is
   */
  sendLogoutToken(token?: LogoutTokenOptions | string): Promise<LogoutResponse>;

  /**
   * Creates a new signing key. The old key stays published unless `keepOld` is false.
   * @param options `kid`: of the new key; default a fresh one
   */
  rotateKeys(options?: { keepOld?: boolean; kid?: string }): Promise<void>;
  /** Changes what the JWKS endpoint publishes. */
  readonly jwks: JwksControls;

  /**
   * Sets a fault at that endpoint and returns a function that removes it. Of several faults at one
   * endpoint, the earliest with times left applies, so a list of faults with `times: 1` is a
   * script.
   */
  fault(endpoint: Endpoint, fault: Fault): () => void;
  /** Sets a barrier: requests that reach the endpoint wait there until `release()`. */
  hold(endpoint: Endpoint, options?: HoldOptions): Hold;
  /**
   * Removes all faults, releases all barriers, and closes the connections of requests that a fault
   * left open. The work after a delay is cancelled.
   */
  clearFaults(): void;
  /** Closes all connections and refuses new ones until `resume()`. */
  pause(): Promise<void>;
  /** Listens again, on the same port. */
  resume(): Promise<void>;

  /**
   * Requests an authorization URL as a browser would, and returns the callback URL.
   * @param person the user of this one sign-in; safe for simultaneous calls
   */
  signInCode(authorizationUrl: string | URL, person?: PersonClaims): Promise<string>;

  /** Closes the listener and every connection at once. Rejects if there were violations. */
  stop(): Promise<void>;
  /** The same as `stop`, for `await using provider = await startTestProvider()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

type EnvironmentName =
  | "IDP_ISSUER"
  | "IDP_CLIENT_ID"
  | "IDP_CLIENT_SECRET"
  | "SECRET_KEY"
  | "SCOPE"
  | "BASE_URL"
  | "IDP_DEBUG"
  | "IDP_ALLOWED_TENANTS"
  | "IDP_PRIVATE_KEY"
  | "IDP_PUSHED_REQUESTS"
  | "IDP_TOKEN_ENDPOINT_AUTH_METHOD"
  | "IDP_DPOP"
  | "IDP_CLIENT_CERTIFICATE"
  | "IDP_CLIENT_CERTIFICATE_KEY"
  | "IDP_SIGNED_REQUESTS"
  | "IDP_RESPONSE_MODE"
  | "IDP_FAPI"
  | "IDP_PROVIDERS";

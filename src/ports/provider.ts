import type { EpochSeconds } from "../clock.js";
import type { StepUp } from "../record/authentication-strength.js";
import type { SignIn, SpentRefresh, Identity } from "../record/credentials.js";
import type { DpopBinding, DpopKey } from "../record/dpop.js";
import type { SessionRecord } from "../record/record.js";

/** The parameters of an authorization request. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. The provider gets its S256 challenge. */
  readonly verifier: string;
  /** The key that the code is bound to (RFC 9449 section 10). */
  readonly dpopKey?: DpopKey | undefined;
  /** True: the provider lets the user choose an account instead of using its own session. */
  readonly selectAccount?: boolean;
  /**
   * What the user's authentication must show. The provider then has the user authenticate again
   * where necessary.
   */
  readonly stepUp?: StepUp | undefined;
  /**
   * True: the ID token should say when the user authenticated (`auth_time`). Nothing fails if it
   * does not.
   */
  readonly requestsAuthTime?: boolean;
  /**
   * Further parameters that this login passes on, none of them the protocol's own.
   * `IDP_AUTHORIZATION_PARAMS` wins over them.
   */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The name of an API that this login asks for, although its consent comes later. */
  readonly api?: string | undefined;
  /** What the provider has demanded of a login for this API, as the text of `claims`. */
  readonly claims?: string | undefined;
  /** True: the session lacks the refresh token from which the API's token comes. */
  readonly wantsRefreshToken?: boolean;
  /**
   * Called before the request is pushed (RFC 9126), to limit the concurrent pushes. Resolves to
   * what releases the slot.
   */
  readonly takeSlot?: () => Promise<() => void>;
}

/** Where the browser goes to sign in. */
export interface AuthorizationAddress {
  readonly url: string;
  /** The request carries `prompt=none`, so that the provider must not show a page. */
  readonly isSilent: boolean;
  /** Seconds for which the address works, if the request was pushed. */
  readonly expiresIn?: number | undefined;
}

/** An authorization code, and the values of the login that it belongs to. */
export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The key that the code is bound to, and that the tokens are to be bound to. */
  readonly dpopKey?: DpopKey | undefined;
  /**
   * Gets the tokens of the response if the sign-in then fails, so that the caller can revoke them.
   */
  readonly dropped?: (tokens: DroppedTokens) => void;
}

export interface DroppedTokens {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
}

/** The API that an access token is for, and what the token is requested with. */
export interface TokenTarget {
  /** Its name in the option `apis`. */
  readonly api: string;
  /** RFC 8707. */
  readonly resource?: string | undefined;
  /**
   * The first one is requested. A token that is a JWT must have one of them, or `resource`, as its
   * audience.
   */
  readonly audience: readonly string[];
  readonly scope: readonly string[];
  /** A login does not ask for it, unless the login is for this API. */
  readonly consentLater: boolean;
}

/**
 * A refresh token to spend, and its session. A failure of one session's token delays no other
 * session.
 */
export interface RefreshRequest {
  readonly refreshToken: string;
  /** The session's key. */
  readonly session: string;
  /** The session's key. Undefined: it has none yet. */
  readonly dpop?: DpopBinding | undefined;
  /** Aborts the request at the refresh's own deadline. */
  readonly signal: AbortSignal;
  /**
   * Requests an access token for this API, and renews nothing else. Absent: the session's own
   * tokens.
   */
  readonly target?: TokenTarget | undefined;
}

/** A logout at the provider (OpenID Connect RP-Initiated Logout 1.0 section 2). */
export interface LogoutRequest {
  /** The address to which the provider sends the browser afterwards. */
  readonly returnTo: string;
  readonly state: string;
  /**
   * What tells the provider whose session ends, so that it doesn't ask. What makes the address too
   * long is left out.
   */
  readonly hints?: LogoutHints | undefined;
}

/** What a session knows of its user at the provider. */
export interface LogoutHints {
  readonly idToken: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A verified logout token. It has `sub`, `sid` or both. */
export interface LogoutToken {
  readonly sub?: string;
  readonly sid?: string;
  readonly iat: EpochSeconds;
  /** The issuer of the token. With several tenants, it is the issuer of the user's tenant. */
  readonly issuer: string;
  /**
   * It ends only sessions whose newest ID token was signed with this algorithm, or is of an unknown
   * one. Absent: any session.
   */
  readonly onlySignedWith?: string;
  /** The client's newest ID token had another algorithm: the token is refused if it ends no session. */
  readonly isUnusual?: true;
}

/** The parameters of an authorization response that count. */
export type ResponseParameters = Readonly<
  Partial<Record<"state" | "code" | "iss" | "error", string>>
>;

/** The facts about the provider that a login's callback reads before it exchanges the code. */
export interface ProviderFacts {
  /**
   * `IDP_ISSUER`. With several tenants, the issuer of each ID token is another one, that of its
   * tenant.
   */
  readonly issuer: string;
  /** The provider announces that each authorization response carries `iss` (RFC 9207 section 3). */
  readonly sendsIss: boolean;
  /** The error code of a user who cancels the sign-in: `access_denied`, or the provider's own. */
  readonly cancelled: string;
  /**
   * Whether `iss` of an authorization response is right, for a provider with several tenants.
   * Absent: it must equal `issuer`.
   */
  readonly isResponseIssuer?: (iss: string) => boolean;
}

/**
 * The identity provider. Methods reject with `ProviderUnavailableError` for an outage: network,
 * timeout, 5xx, not JSON, JWKS unreachable, an operator's mistake. They reject with
 * `ProviderRefusedError` for a refusal. An outage must not sign anyone out; a refused request must
 * not be sent again.
 */
export interface Provider {
  /** Reads issuer and announcements from the discovery document. */
  facts(): Promise<ProviderFacts>;
  /**
   * Returns the address of an authorization request. Pushes the request first if the provider
   * requires that, or `IDP_PUSHED_REQUESTS`.
   *
   * @throws ProviderRefusedError the provider refuses the pushed request: the parameters of this
   *   login, which may be a stranger's
   */
  authorizationUrl(request: AuthorizationRequest): Promise<AuthorizationAddress>;
  /** Creates the key of a login whose tokens are to be bound. Undefined: they are bearer tokens. */
  createDpopKey(): Promise<DpopKey | undefined>;
  /**
   * Verifies an authorization response that is a JWT (JARM), and returns its parameters.
   *
   * @throws ProviderRefusedError `response_…`: the JWT is invalid; ProviderUnavailableError: its key
   *   cannot be fetched now, or is not published (`unknown_key`)
   */
  verifyResponse(response: string): Promise<ResponseParameters>;
  /** @throws ProviderUnavailableError while code exchanges back off */
  assertReadyToExchange(): void;
  /**
   * @param session the session's key
   * @param api the name of the API that the refresh is for
   * @throws ProviderUnavailableError while refreshes, those of this session, or of this API, back
   *   off
   */
  assertReadyToRefresh(session: string, api?: string): void;
  /**
   * Exchanges the code and verifies the ID token: signature, claims, nonce. Calls userinfo for
   * missing identity, or always (`IDP_USERINFO`).
   */
  exchange(exchange: CodeExchange): Promise<SignIn>;
  /**
   * Spends the refresh token with one request and verifies nothing. `ProviderRefusedError`: the
   * token will never work again.
   */
  refresh(request: RefreshRequest): Promise<SpentRefresh>;
  /**
   * Verifies a refreshed ID token against its predecessor (OpenID Connect Core section 12.2). If
   * the response has no ID token, it calls userinfo instead (`IDP_REFRESH_WITHOUT_ID_TOKEN`). With
   * `IDP_USERINFO=always` it calls userinfo each time.
   *
   * @param previous the record that the refresh started from
   */
  verifyRefreshed(
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<Identity>;
  /**
   * Checks the response to a refresh for an API: its ID token, if one came, and whether the access
   * token is for this API.
   *
   * @throws ProviderRefusedError the token must not be sent to the API
   */
  checkApiToken(
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<void>;
  /**
   * The address that ends the user's session at the provider; undefined if the provider has none.
   */
  logoutUrl(request: LogoutRequest): Promise<string | undefined>;
  /**
   * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6).
   *
   * @throws ProviderRefusedError `logout_token_…`: the token is invalid; ProviderUnavailableError:
   *   its key cannot be fetched now, or is not published (`unknown_key`)
   */
  verifyLogoutToken(token: string): Promise<LogoutToken>;
  /**
   * Posts a token to the revocation endpoint (RFC 7009). Resolves to false if it could not be
   * revoked. Never rejects.
   */
  revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean>;
}

// The options that are settings. `npm run docs` makes docs/reference/settings.md of these comments,
// and fails if the last paragraph of one differs from its row in the table of settings.
import type { PrivateKeyOption } from "../keys/client-keys.js";

/** The settings of a provider: each of several providers has, or inherits, its own. */
export interface OptionsPerProvider {
  /**
   * Whether a logout also ends the provider's session (OpenID Connect RP-Initiated Logout 1.0). The
   * browser goes to the provider's `end_session_endpoint` and returns to `logout-callback`, so
   * register the `logout-callback` address with the provider. With `auth0` or `cognito`, idpauth
   * uses the logout address of Auth0 or Amazon Cognito instead.
   *
   * Default: `false`. Environment variable: `IDP_LOGOUT_AT_PROVIDER`.
   */
  readonly logoutAtProvider?: boolean | "auth0" | "cognito" | undefined;
  /**
   * Whether the provider may end sessions with a request to `backchannel-logout` (OpenID Connect
   * Back-Channel Logout 1.0). This doesn't work with `session: "host"` (E020).
   *
   * Default: `false`. Environment variable: `IDP_BACKCHANNEL_LOGOUT`.
   */
  readonly backchannelLogout?: boolean | undefined;
  /**
   * Whether the provider may end sessions by loading a frame with `frontchannel-logout` (OpenID
   * Connect Front-Channel Logout 1.0). This doesn't work with `session: "host"` (E020).
   *
   * Default: `false`. Environment variable: `IDP_FRONTCHANNEL_LOGOUT`.
   */
  readonly frontchannelLogout?: boolean | undefined;
  /**
   * Whether idpauth accepts logout tokens without the `typ: logout+jwt` header. Turn it on only if
   * your provider omits the header.
   *
   * Default: `false`. Environment variable: `IDP_ALLOW_UNTYPED_LOGOUT_TOKENS`.
   */
  readonly allowUntypedLogoutTokens?: boolean | undefined;
  /**
   * The OAuth client identifier that the provider issued.
   *
   * Required. Environment variable: `IDP_CLIENT_ID`.
   */
  readonly clientId?: string | undefined;
  /**
   * The OAuth client secret that the provider issued. A client with a private key doesn't have one.
   *
   * Default: required, unless IDP_PRIVATE_KEY is set. Environment variable: `IDP_CLIENT_SECRET`.
   */
  readonly clientSecret?: string | undefined;
  /**
   * The private key that the client uses to authenticate instead of a secret (`private_key_jwt`):
   * an RSA key of at least 2,048 bits, a P-256 key, or an Ed25519 key. If there are several keys,
   * the first one signs. `npx idpauth keys` creates a key.
   *
   * Default: the client authenticates with its secret. Environment variable: `IDP_PRIVATE_KEY`.
   */
  readonly privateKey?: PrivateKeyOption | readonly PrivateKeyOption[] | null | undefined;
  /**
   * The certificate that identifies the private key to the provider. Entra ID requires it. Each
   * assertion then contains the certificate's thumbprint (`x5t#S256`).
   *
   * Default: no thumbprint. Environment variable: `IDP_CERTIFICATE`.
   */
  readonly certificate?: string | null | undefined;
  /**
   * The `aud` claim in each assertion that the private key signs. `issuer` is the provider's
   * issuer, `token_endpoint` is the address of its token endpoint, and `endpoint` is the address
   * that receives the assertion.
   *
   * Default: `token_endpoint` for Entra ID, `endpoint` for Okta, otherwise `issuer`. Environment
   * variable: `IDP_CLIENT_ASSERTION_AUDIENCE`.
   */
  readonly clientAssertionAudience?: "issuer" | "token_endpoint" | "endpoint" | null | undefined;
  /**
   * The issuer identifier of the OpenID provider, exactly as in its discovery document. It must be
   * https, except on this machine. In debug mode, http causes only a warning.
   *
   * Default: `https://accounts.google.com`. Environment variable: `IDP_ISSUER`.
   */
  readonly issuer?: string | undefined;
  /**
   * The whole address of the discovery document, if the application can't fetch it at the issuer's
   * address. The `issuer` in the document must still equal IDP_ISSUER, and idpauth uses the
   * endpoints that the document lists, without changing them. An http address of another machine
   * causes warning W024. Token, JWKS and userinfo endpoints may then be http addresses at the same
   * origin, but not elsewhere.
   *
   * Default: the issuer, followed by `/.well-known/openid-configuration`. Environment variable:
   * `IDP_DISCOVERY_URL`.
   */
  readonly discoveryUrl?: string | null | undefined;
  /**
   * The Entra ID tenants whose users may sign in, if IDP_ISSUER is Entra ID's address for several
   * tenants. The `tid` in each ID token must be one of them. `any` allows users from every
   * organization, and at `/common/v2.0` also everyone with a personal Microsoft account.
   *
   * Default: required if IDP_ISSUER ends with `/organizations/v2.0` or `/common/v2.0`. Environment
   * variable: `IDP_ALLOWED_TENANTS`.
   */
  readonly allowedTenants?: readonly string[] | "any" | null | undefined;
  /**
   * The scopes that idpauth requests when a user signs in. They must include `openid`. If you set a
   * value, idpauth sends exactly this value.
   *
   * Default: `openid email profile`, and `offline_access` if the provider supports it and needs it
   * for a refresh token (Google and Keycloak don't); with warning E004. Environment variable:
   * `SCOPE`.
   */
  readonly scope?: string | readonly string[] | undefined;
  /**
   * How the client authenticates at the token and revocation endpoints (RFC 6749 section 2.3.1).
   * `client_secret_post` sends the client ID and secret in the request body. `client_secret_basic`
   * sends them in the Authorization header, encoded as application/x-www-form-urlencoded (letters,
   * digits and `*-._` don't change). `client_secret_basic_raw` sends them in the header without
   * encoding, for providers that don't decode them.
   *
   * Default: `client_secret_post`. Environment variable: `IDP_TOKEN_ENDPOINT_AUTH_METHOD`.
   */
  readonly tokenEndpointAuthMethod?:
    "client_secret_post" | "client_secret_basic" | "client_secret_basic_raw" | undefined;
  /**
   * Endpoints that the discovery document lacks, or that replace those in the document. Use the
   * discovery document's names, for example `{"userinfo_endpoint":
   * "https://login.example.com/userinfo"}`.
   *
   * Default: only the discovery document. Environment variable: `IDP_PROVIDER_METADATA`.
   */
  readonly providerMetadata?:
    | Readonly<
        Partial<
          Record<
            | "token_endpoint"
            | "authorization_endpoint"
            | "userinfo_endpoint"
            | "jwks_uri"
            | "revocation_endpoint"
            | "end_session_endpoint"
            | "pushed_authorization_request_endpoint",
            string
          >
        >
      >
    | undefined;
  /**
   * What happens if a refresh response doesn't contain an ID token, which OpenID Connect Core
   * section 12.2 allows. `userinfo`: the userinfo endpoint must confirm the same user. `refuse`:
   * the session ends.
   *
   * Default: `userinfo`. Environment variable: `IDP_REFRESH_WITHOUT_ID_TOKEN`.
   */
  readonly refreshWithoutIdToken?: "userinfo" | "refuse" | undefined;
  /**
   * When idpauth calls the userinfo endpoint. `when-needed`: when a user signs in and the ID token
   * contains no email, name or picture, and during a refresh without an ID token. `always`:
   * whenever a user signs in, and during every refresh. idpauth adds userinfo's claims to the ID
   * token's. If both contain a claim, idpauth uses the ID token's value. With `when-needed`,
   * refreshes with an ID token keep the claims that userinfo sent earlier. With `always`, every
   * refresh reads them again, and if userinfo isn't responding, the response is 503.
   *
   * Default: `when-needed`. Environment variable: `IDP_USERINFO`.
   */
  readonly userinfo?: "when-needed" | "always" | undefined;
  /**
   * The `prompt` of the authorization request (OpenID Connect Core section 3.1.2.1). `omit` sends
   * no `prompt`, for example if your provider's custom domain hides that it's Auth0. You can set
   * `none` only in code, because `none` in the environment means unset.
   *
   * Default: `select_account consent` for Google; none for Entra ID, Auth0, Okta and Keycloak;
   * otherwise `consent` if idpauth requests `offline_access`. Environment variable:
   * `IDP_LOGIN_PROMPT`.
   */
  readonly loginPrompt?: string | null | undefined;
  /**
   * Additional parameters for every authorization request, for example Auth0's `audience`. A
   * parameter here replaces idpauth's default for that parameter, and `prompt` replaces
   * IDP_LOGIN_PROMPT. You can't set the parameters that idpauth sets itself (E016).
   *
   * Default: none. Environment variable: `IDP_AUTHORIZATION_PARAMS`.
   */
  readonly authorizationParams?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /**
   * Whether idpauth sends the parameters of a login to the provider itself, with the client's
   * authentication, before it redirects the browser (PAR, RFC 9126). `when-required`: if the
   * provider's discovery document requires it. `always`, `never`: independent of the document.
   *
   * Default: `when-required`. Environment variable: `IDP_PUSHED_REQUESTS`.
   */
  readonly pushedRequests?: "always" | "when-required" | "never" | undefined;
  /**
   * Whether every login asks the provider for the time of the authentication (`auth_time`), which
   * `maxAge` needs (docs/how-to/step-up.md). If the provider's discovery document contains
   * `claims_parameter_supported`, idpauth requests the claim with `claims`, otherwise with
   * `max_age=31536000`, a year. If the ID token still doesn't contain the claim, the sign-in
   * succeeds.
   *
   * Default: on as soon as a route, a proxy or a rule in `apis` with `maxAge` is declared.
   * Environment variable: `IDP_REQUEST_AUTH_TIME`.
   */
  readonly requestAuthTime?: boolean | null | undefined;
  /**
   * Additional audiences that an ID token may contain besides this client (OpenID Connect Core
   * section 3.1.3.7). idpauth rejects a token with any other audience.
   *
   * Default: none. Environment variable: `IDP_TRUSTED_AUDIENCES`.
   */
  readonly trustedAudiences?: readonly string[] | undefined;
}

/**
 * The settings that the code gives. They override the environment. `undefined` uses the
 * environment; `null` unsets the setting. See docs/reference/settings.md.
 */
export interface SettingOptions extends OptionsPerProvider {
  /**
   * The secret that encrypts stored sessions. Use at least 32 random bytes, and the same value for
   * every process.
   *
   * Required. Environment variable: `SECRET_KEY`.
   */
  readonly secretKey?: string | undefined;
  /**
   * Additional keys that can decrypt stored sessions. New sessions use only SECRET_KEY. To rotate
   * the key without signing anyone out, first add the new key here, in every process. Then set the
   * new key as SECRET_KEY, and keep the old key here.
   *
   * Default: none. Environment variable: `SECRET_KEY_FALLBACKS`.
   */
  readonly secretKeyFallbacks?: readonly string[] | undefined;
  /**
   * Whether idpauth refreshes an expired ID token without asking the user. If this is off, a
   * session ends when its ID token expires, often after an hour.
   *
   * Default: `true`. Environment variable: `IDP_SESSION_AUTO_REFRESH`.
   */
  readonly sessionAutoRefresh?: boolean | undefined;
  /**
   * The maximum age of a session, measured from when the user signed in. Refreshing never extends
   * it. 0 ends each session at once (warning W003).
   *
   * In seconds. Default: no limit. Environment variable: `IDP_SESSION_MAX_AGE`.
   */
  readonly sessionMaxAge?: number | null | undefined;
  /**
   * How long a session can be idle. The signed-in user's requests restart the timeout if they pass
   * a guard, call an accessor, or call the probe without `slide=false`. 0 ends each session at once
   * (warning W003).
   *
   * In seconds. Default: only IDP_SESSION_TTL ends an unused session. Environment variable:
   * `IDP_SESSION_IDLE_TIMEOUT`.
   */
  readonly sessionIdleTimeout?: number | null | undefined;
  /**
   * Ends the sessions of users who signed in before this time. Set it after an incident, or to the
   * time of a deployment if a new `onSignIn` must check every user. A time in the future is error
   * E022.
   *
   * Default: no limit. Environment variable: `IDP_SESSIONS_NOT_BEFORE`.
   */
  readonly sessionsNotBefore?: string | number | null | undefined;
  /**
   * The lifetime of the stored record, if idpauth stores the sessions. Requests that pass a guard,
   * call an accessor or call the probe renew it, at most once a day, so it ends only sessions that
   * nobody uses. The cookie lives for 400 days, or for the maximum age plus one day if that is
   * shorter. Only the probe and the sessions page send the cookie again, so users of an application
   * that uses neither have to sign in again after 400 days. Set this to a longer time than the
   * session limits, so that the landing page can show which limit ended a session.
   *
   * In seconds. Default: 14 days, or IDP_SESSION_MAX_AGE plus one day if that is longer.
   * Environment variable: `IDP_SESSION_TTL`.
   */
  readonly sessionTtl?: number | undefined;
  /**
   * The maximum number of sessions that a user can have in this application, if idpauth stores the
   * sessions. If a user signs in and exceeds it, their least recently used session ends (reason
   * `too_many_sessions`). 0: no maximum.
   *
   * Default: `100`. Environment variable: `IDP_SESSIONS_PER_USER`.
   */
  readonly sessionsPerUser?: number | undefined;
  /**
   * Whether logout revokes the token at the provider. The logout succeeds even if the provider
   * isn't responding.
   *
   * Default: `true`. Environment variable: `IDP_TOKEN_REVOKE_ON_LOGOUT`.
   */
  readonly tokenRevokeOnLogout?: boolean | undefined;
  /**
   * The session key that stores the credentials. CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and
   * FINAL_REDIRECT_KEY_NAME must differ, and must not be reserved names (E007). The record's other
   * keys are reserved: `id_info`, `debug`, `idp_login_at`, `idp_last_active` and `idp_state`. So
   * are property names of session objects and of plain objects, such as `cookie`, `id` and
   * `constructor`.
   *
   * Default: `credentials`. Environment variable: `CREDENTIALS_SESSION_KEY_NAME`.
   */
  readonly credentialsSessionKeyName?: string | undefined;
  /**
   * The session key that stores the state of the newest login in progress.
   *
   * Default: `oauth_state`. Environment variable: `STATE_KEY_NAME`.
   */
  readonly stateKeyName?: string | undefined;
  /**
   * The session key that stores the page that the user returns to after the newest login.
   *
   * Default: `final_redirect`. Environment variable: `FINAL_REDIRECT_KEY_NAME`.
   */
  readonly finalRedirectKeyName?: string | undefined;
  /**
   * The name of the session cookie, if idpauth stores the sessions. The prefixes `__Host-` and
   * `__Secure-` need an https BASE_URL. If BASE_URL is https and the name doesn't start with
   * `__Host-`, idpauth logs warning W013.
   *
   * Default: `__Host-Http-idpauth` over https, `idpauth` over http; if IDP_MOUNT_PATH isn't
   * `/idpauth/`, the path is added to the name, as in `idpauth.partners.idpauth`. Environment
   * variable: `IDP_COOKIE_NAME`.
   */
  readonly cookieName?: string | null | undefined;
  /**
   * Whether idpauth serves the `sessions` page, where users can see and end their sessions. This
   * doesn't work with `session: "host"` (E020).
   *
   * Default: `false`. Environment variable: `IDP_SESSIONS_PAGE`.
   */
  readonly sessionsPage?: boolean | undefined;
  /**
   * Whether idpauth serves the `events` stream, which notifies a page as soon as its session has
   * ended. Each visible page keeps one request open, and with HTTP/1.1, a browser opens at most six
   * connections to an origin.
   *
   * Default: `false`. Environment variable: `IDP_EVENTS`.
   */
  readonly events?: boolean | undefined;
  /**
   * The keys of the identity providers, if the application has more than one, for example `staff
   * customers`. Each provider then has settings of its own, such as `IDP_PROVIDER_STAFF_ISSUER`. In
   * code, this is an object with the options of each provider under its key. A key has at most 31
   * lowercase letters, digits and hyphens, and starts with a letter. In the name of a variable, a
   * hyphen becomes an underscore.
   *
   * Default: one provider, with the settings below. Environment variable: `IDP_PROVIDERS`.
   */
  readonly providers?: Readonly<Record<string, ProviderOptions>> | null | undefined;
  /**
   * The key of the provider that a login uses if it doesn't request one.
   *
   * Default: the user chooses on a page. Environment variable: `IDP_DEFAULT_PROVIDER`.
   */
  readonly defaultProvider?: string | null | undefined;
  /**
   * Whether `/idpauth/jwks` publishes the public halves of IDP_PRIVATE_KEY as a JWK set (RFC 7517).
   * With several providers, there is one such address for each, such as `/idpauth/jwks/staff`.
   * Register this address as the client's `jwks_uri`, so that the provider learns a new key without
   * any change to its settings.
   *
   * Default: `false`. Environment variable: `IDP_PUBLISH_KEYS`.
   */
  readonly publishKeys?: boolean | undefined;
  /**
   * How long a user's request waits for the provider. After this time, the response has status 503.
   *
   * In seconds. Default: `5`. Environment variable: `IDP_HTTP_TIMEOUT`.
   */
  readonly httpTimeout?: number | undefined;
  /**
   * The number of refreshes that one process runs at a time. Fifty times as many can wait in a
   * queue. If the queue is full, a request gets status 503 with Retry-After, but its user stays
   * signed in. With a private key, at most the same number of sign-ins sign a request at a time.
   *
   * Default: `20`. Environment variable: `IDP_REFRESH_CONCURRENCY`.
   */
  readonly refreshConcurrency?: number | undefined;
  /**
   * How far the provider's clock and this machine's clock may differ when idpauth checks the times
   * in an ID token.
   *
   * In seconds. Default: `5`. Environment variable: `IDP_CLOCK_TOLERANCE`.
   */
  readonly clockTolerance?: number | undefined;
  /**
   * The query parameters that the login endpoint passes on to the provider, for example `login_hint
   * ui_locales`. Each value can have at most 512 characters. A parameter in
   * IDP_AUTHORIZATION_PARAMS overrides the query. You can't list the parameters that idpauth uses
   * itself (E016).
   *
   * Default: none. Environment variable: `IDP_LOGIN_PARAMS`.
   */
  readonly loginParams?: readonly string[] | undefined;
  /**
   * The hostnames that the `isValidIdpUrl` function accepts in a URL.
   *
   * Default: `docs.google.com` for Google, otherwise the issuer's hostname. Environment variable:
   * `IDP_DOCUMENT_HOSTS`.
   */
  readonly documentHosts?: readonly string[] | undefined;
  /**
   * The application's origin, as browsers use it. The cookie and the callback belong to this
   * origin. In the environment, the value `/` means unset, because Vite's tools set it.
   *
   * Default: each request's scheme and Host header, with warning W001. Environment variable:
   * `BASE_URL`.
   */
  readonly baseUrl?: string | null | undefined;
  /**
   * The path of the endpoints. The redirect URI to register with the provider is BASE_URL +
   * IDP_PATH_PREFIX + this path + `login-callback`.
   *
   * Default: `/idpauth/`. Environment variable: `IDP_MOUNT_PATH`.
   */
  readonly mountPath?: string | undefined;
  /**
   * The path prefix that a reverse proxy strips before it passes a request on, such as `/portal`.
   * Links, redirects and the redirect URI include it.
   *
   * Default: unset. Environment variable: `IDP_PATH_PREFIX`.
   */
  readonly pathPrefix?: string | undefined;
  /**
   * Whether idpauth uses `X-Forwarded-Proto` and `X-Forwarded-Host` instead of the request's own
   * scheme and Host header, and tells APIs the last address in `X-Forwarded-For` instead of the
   * connection's. Use it with frameworks that don't have such a setting themselves. Turn it on only
   * behind a proxy that sets these headers itself.
   *
   * Default: `false`. Environment variable: `IDP_TRUST_PROXY`.
   */
  readonly trustProxy?: boolean | undefined;
  /**
   * The page that opens after a login that doesn't request a page, or that requests one on another
   * origin. The page in this setting can be on another origin.
   *
   * Default: the landing page. Environment variable: `IDP_AUTH_FINAL_REDIRECT_URL`.
   */
  readonly authFinalRedirectUrl?: string | null | undefined;
  /**
   * The page that opens after a logout in which the browser navigates (`response=redirect`), as
   * with `signOut()` in idpauth/client. It can be on another origin.
   *
   * Default: the landing page. Environment variable: `IDP_AUTH_LOGOUT_REDIRECT_URL`.
   */
  readonly authLogoutRedirectUrl?: string | null | undefined;
  /**
   * The time limit for each run of `onSignIn`, `onRefresh` and the claims schema (the `claims`
   * option). After this time, the response has status 503. If the user was signing in, idpauth
   * doesn't create a session. An existing session continues.
   *
   * In seconds. Default: `5`. Environment variable: `IDP_HOOK_TIMEOUT`.
   */
  readonly hookTimeout?: number | undefined;
  /**
   * The maximum size of the data that the application stores in a session, in bytes of JSON. The
   * result of the `clientData` option has the same limit. Every request reads the data, so keep it
   * small.
   *
   * Default: `4096`. Environment variable: `IDP_DATA_LIMIT`.
   */
  readonly dataLimit?: number | undefined;
  /**
   * Turns on debug mode, which enables the debug endpoint and relaxes some startup checks. DEBUG
   * and NODE_ENV have no effect.
   *
   * Default: `false`. Environment variable: `IDP_DEBUG`.
   */
  readonly debug?: boolean | undefined;
}

/** The settings of one of several providers. */
export interface ProviderOptions extends OptionsPerProvider {
  /** What users read on the page where they choose a provider. Default: the key. */
  readonly name?: string | undefined;
}

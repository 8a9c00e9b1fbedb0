// The options of a provider that are settings; setting-options.ts says how they are documented.
import type { PrivateKeyOption } from "../keys/client-keys.js";

/** The settings of a provider: each of several providers has, or inherits, its own. */
export interface OptionsPerProvider {
  /**
   * Whether a logout also ends the provider's session (OpenID Connect RP-Initiated Logout 1.0). The
   * browser goes to the provider's `end_session_endpoint` and returns to `logout-callback`, so
   * register the `logout-callback` address with the provider. At Auth0 and
   * Amazon Cognito, idpauth uses their own logout address instead; set `auth0` if your provider's
   * custom domain hides that it's Auth0.
   *
   * Default: `false`. Environment variable: `IDP_LOGOUT_AT_PROVIDER`.
   */
  readonly logoutAtProvider?: boolean | "auth0" | undefined;
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
   * The OAuth client identifier that the provider issued.
   *
   * Required. Environment variable: `IDP_CLIENT_ID`.
   */
  readonly clientId?: string | undefined;
  /**
   * The OAuth client secret that the provider issued. A client with a private key doesn't have one,
   * and neither does one that authenticates with its certificate.
   *
   * Default: required, unless IDP_PRIVATE_KEY is set, or IDP_TOKEN_ENDPOINT_AUTH_METHOD is a method
   * that uses the certificate. Environment variable: `IDP_CLIENT_SECRET`.
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
   * The certificate that the client presents in TLS (mutual TLS, RFC 8705), as PEM, followed by
   * those of the authorities that issued it. idpauth presents it to APIs with `certificate: true`
   * and to the provider's token, userinfo, revocation and PAR endpoints. If the discovery document
   * contains `mtls_endpoint_aliases`, idpauth uses those addresses. The provider can then bind
   * tokens to the certificate, so that a stolen token is worthless without its key. This works only
   * on Node.js.
   *
   * Default: none. Environment variable: `IDP_CLIENT_CERTIFICATE`.
   */
  readonly clientCertificate?: string | null | undefined;
  /**
   * The private key of IDP_CLIENT_CERTIFICATE, as PEM without a passphrase.
   *
   * Default: required if IDP_CLIENT_CERTIFICATE is set. Environment variable:
   * `IDP_CLIENT_CERTIFICATE_KEY`.
   */
  readonly clientCertificateKey?: string | null | undefined;
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
   * The identifier of the team at Apple to which the Services ID belongs. With it, IDP_PRIVATE_KEY
   * (the `.p8` file) signs the client secret, which idpauth makes again each hour, and `onSignIn`
   * gets the name that Apple sends with a user's first sign-in (docs/providers/apple.md).
   *
   * Default: none. Environment variable: `IDP_APPLE_TEAM_ID`.
   */
  readonly appleTeamId?: string | null | undefined;
  /**
   * The identifier of the private key at Apple, as its page of keys shows it.
   *
   * Default: required if IDP_APPLE_TEAM_ID is set. Environment variable: `IDP_APPLE_KEY_ID`.
   */
  readonly appleKeyId?: string | null | undefined;
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
   * causes warning W011. Token, JWKS and userinfo endpoints may then be http addresses at the same
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
   * digits and `*-._` don't change). If the discovery document lists only the other one for the
   * revocation endpoint, that one is used there. `tls_client_auth` and
   * `self_signed_tls_client_auth` need IDP_CLIENT_CERTIFICATE, which then replaces the secret (RFC
   * 8705 section 2). The provider identifies the certificate by its subject, or, if it's
   * self-signed, by its key. A private key is then used only to sign login requests
   * (IDP_SIGNED_REQUESTS).
   *
   * Default: `client_secret_post`. Environment variable: `IDP_TOKEN_ENDPOINT_AUTH_METHOD`.
   */
  readonly tokenEndpointAuthMethod?:
    | "client_secret_post"
    | "client_secret_basic"
    | "tls_client_auth"
    | "self_signed_tls_client_auth"
    | undefined;
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
   * The `prompt` of the authorization request (OpenID Connect Core section 3.1.2.1). idpauth omits
   * `prompt` for Auth0, which it recognizes by its hostname. With a custom domain, set `omit`. You
   * can set `none` only in code, because `none` in the environment means unset.
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
   * provider's discovery document requires it. `always`: also if it doesn't.
   *
   * Default: `when-required`. Environment variable: `IDP_PUSHED_REQUESTS`.
   */
  readonly pushedRequests?: "always" | "when-required" | undefined;
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
   * How the provider's response to a login comes to the callback (`response_mode`). `query`: in the
   * query of a redirect. `form_post`: as a form that the browser posts (OAuth 2.0 Form Post Response
   * Mode), which Apple needs for a name or an e-mail address. The callback answers it with a
   * redirect to itself, since a cross-site POST brings no cookie. `jwt`: in the query, as a JWT that
   * the provider signs (JARM).
   *
   * Default: `query`. Environment variable: `IDP_RESPONSE_MODE`.
   */
  readonly responseMode?: "query" | "form_post" | "jwt" | undefined;
  /**
   * Whether idpauth signs the parameters of each login with the client's private key (JAR, RFC
   * 9101). `when-required`: if the provider's discovery document requires it. `always`: even if the
   * document doesn't, which needs a private key (E040).
   *
   * Default: `when-required`. Environment variable: `IDP_SIGNED_REQUESTS`.
   */
  readonly signedRequests?: "always" | "when-required" | undefined;
  /**
   * Whether tokens are bound to a key of the session (DPoP, RFC 9449), so that a stolen access
   * token is worthless without the key. Each login creates a key, which idpauth stores only in the
   * encrypted session. Every request with a token then contains a proof that idpauth has the key. A
   * session that started before you turned this on gets its key when its tokens are next refreshed.
   * This doesn't work with `session: "host"` (E038).
   *
   * Default: `false`. Environment variable: `IDP_DPOP`.
   */
  readonly dpop?: boolean | undefined;
  /**
   * The version of the FAPI Security Profile that the settings and the provider must satisfy. This
   * doesn't change how idpauth works. If the profile forbids a setting, that's an error at startup
   * (E041). If the provider's discovery document violates the profile, nobody can sign in.
   *
   * Default: none. Environment variable: `IDP_FAPI`.
   */
  readonly fapi?: 2 | null | undefined;
  /**
   * The algorithm with which the provider signs ID tokens and logout tokens for this client
   * (`id_token_signed_response_alg` of OpenID Connect Registration section 2). A token that is
   * signed with another one is refused. Without this setting, a logout token must be signed like
   * the session's newest ID token, or like the newest one of this client.
   *
   * Default: any asymmetric algorithm that the discovery document lists. Environment variable:
   * `IDP_ID_TOKEN_SIGNED_RESPONSE_ALG`.
   */
  readonly idTokenSignedResponseAlg?:
    | "RS256"
    | "RS384"
    | "RS512"
    | "PS256"
    | "PS384"
    | "PS512"
    | "ES256"
    | "ES384"
    | "ES512"
    | "EdDSA"
    | "Ed25519"
    | null
    | undefined;
  /**
   * Additional audiences that an ID token may contain besides this client (OpenID Connect Core
   * section 3.1.3.7). idpauth rejects a token with any other audience.
   *
   * Default: none. Environment variable: `IDP_TRUSTED_AUDIENCES`.
   */
  readonly trustedAudiences?: readonly string[] | undefined;
}

/** The settings of one of several providers. */
export interface ProviderOptions extends OptionsPerProvider {
  /** What users read on the page where they choose a provider. Default: the key. */
  readonly name?: string | undefined;
  /**
   * The icon next to the name on that page: a path of the application. Default: none. Environment
   * variable: `IDP_PROVIDER_<KEY>_ICON`.
   */
  readonly icon?: string | undefined;
}

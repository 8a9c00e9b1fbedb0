import { endpoints } from "./endpoints-kind.js";
import { authorizationParams, parameterMistake, parameterNames } from "./parameter-kinds.js";
import { GOOGLE_ISSUER } from "./provider-hosts.js";
import * as kind from "./setting-kinds.js";

/** The settings of the provider: the client's registration, what a login requests, and how requests are sent. */
export const PROVIDER_SETTINGS = {
  clientId: {
    env: "IDP_CLIENT_ID",
    kind: kind.text,
    meaning: "The OAuth client identifier that the provider issued.",
    required: true,
  },
  clientSecret: {
    env: "IDP_CLIENT_SECRET",
    kind: kind.secret,
    meaning: "The OAuth client secret that the provider issued.",
    secret: true,
    required: true,
  },
  issuer: {
    env: "IDP_ISSUER",
    kind: kind.issuer,
    default: GOOGLE_ISSUER,
    meaning:
      "The issuer identifier of the OpenID provider, exactly as in its discovery document. It must be https, except on this machine. " +
      "In debug mode, http causes only a warning.",
  },
  allowedTenants: {
    env: "IDP_ALLOWED_TENANTS",
    kind: kind.tenants,
    default: null,
    defaultText: "none; required if IDP_ISSUER ends with `/organizations/v2.0` or `/common/v2.0`",
    meaning:
      "The tenants of Entra ID whose users may sign in, if IDP_ISSUER is Entra ID's address for several tenants: the `tid` of each ID token must " +
      "be one of them. `any` admits users of every organization; at `/common/v2.0` also every user with a personal Microsoft account.",
  },
  scope: {
    env: "SCOPE",
    kind: kind.scope,
    default: ["openid", "email", "profile"],
    defaultText: "`openid email profile`, with warning E004",
    meaning:
      "The scopes that a login requests. They must include `openid`. If you set a value, idpauth sends exactly this value. If you set none, idpauth " +
      "adds `offline_access` to the default if the provider supports that scope.",
  },
  /** Seconds. */
  httpTimeout: {
    env: "IDP_HTTP_TIMEOUT",
    kind: kind.timeoutSeconds,
    unit: "seconds",
    default: 5,
    meaning: "The time for which a user's request waits for the provider. After this time, the response has status 503.",
  },
  refreshConcurrency: {
    env: "IDP_REFRESH_CONCURRENCY",
    kind: kind.count,
    default: 20,
    meaning:
      "The number of refreshes that one process runs at a time. Fifty times as many can wait in a queue. If the queue is full, a request gets status " +
      "503 with Retry-After, and its user stays signed in.",
  },
  tokenEndpointAuthMethod: {
    env: "IDP_TOKEN_ENDPOINT_AUTH_METHOD",
    kind: kind.oneOf("client_secret_post", "client_secret_basic", "client_secret_basic_raw"),
    default: "client_secret_post",
    meaning:
      "The method by which the client authenticates at the token and revocation endpoints (RFC 6749 section 2.3.1). `client_secret_post` sends client ID and " +
      "secret in the request body. `client_secret_basic` sends them in the Authorization header, encoded as " +
      "application/x-www-form-urlencoded (letters, digits and `*-._` stay unchanged). `client_secret_basic_raw` sends them in the header without " +
      "encoding, for providers that do not decode them.",
  },
  providerMetadata: {
    env: "IDP_PROVIDER_METADATA",
    kind: endpoints,
    default: {},
    defaultText: "unset: only the discovery document",
    meaning:
      "Endpoints that the discovery document lacks, or that replace its endpoints. Use the names of the discovery document, for example " +
      '`{"userinfo_endpoint": "https://login.example.com/userinfo"}`.',
  },
  refreshWithoutIdToken: {
    env: "IDP_REFRESH_WITHOUT_ID_TOKEN",
    kind: kind.oneOf("userinfo", "refuse"),
    default: "userinfo",
    meaning:
      "What happens if a refresh response has no ID token, which OpenID Connect Core section 12.2 allows. `userinfo`: the userinfo endpoint must " +
      "confirm the same user. `refuse`: the session ends.",
  },
  userinfo: {
    env: "IDP_USERINFO",
    kind: kind.oneOf("when-needed", "always"),
    default: "when-needed",
    meaning:
      "The sign-ins and refreshes at which idpauth sends a request to the userinfo endpoint. `when-needed`: a sign-in whose ID token has none of " +
      "email, name and picture, and a refresh without an ID token. `always`: every sign-in and every refresh. With `always`, idpauth adds all " +
      "claims of userinfo to the claims of the ID token. If both have a claim, the ID token's value counts. If userinfo does not respond, the response is 503.",
  },
  /** Seconds. */
  clockTolerance: {
    env: "IDP_CLOCK_TOLERANCE",
    kind: kind.toleranceSeconds,
    unit: "seconds",
    default: 5,
    meaning:
      "The difference between the provider's clock and this machine's clock that idpauth tolerates when it checks the times of an ID token.",
  },
  /** null: the value that makes this provider give a refresh token. */
  loginPrompt: {
    env: "IDP_LOGIN_PROMPT",
    kind: kind.prompt,
    default: null,
    defaultText: "unset: `select_account consent` at Google; elsewhere `consent` if the login requests `offline_access`",
    meaning:
      "The `prompt` of the authorization request (OpenID Connect Core section 3.1.2.1). You can set `none` only in code, because " +
      "`none` in the environment means unset.",
  },
  authorizationParams: {
    env: "IDP_AUTHORIZATION_PARAMS",
    kind: authorizationParams,
    default: {},
    defaultText: "none",
    meaning:
      "Additional parameters of every authorization request, for example Auth0's `audience`. A parameter here replaces idpauth's default for " +
      "that parameter, and `prompt` replaces IDP_LOGIN_PROMPT. idpauth refuses the parameters that it sets itself (E016).",
    hidden: true,
    remedyFor: parameterMistake,
  },
  loginParams: {
    env: "IDP_LOGIN_PARAMS",
    kind: parameterNames,
    default: [],
    meaning:
      "The parameters that a login passes on from its query to the provider, for example `login_hint ui_locales`. Each value has at most " +
      "512 characters. A parameter in IDP_AUTHORIZATION_PARAMS overrides the query. idpauth refuses the parameters that it uses itself (E016).",
  },
  /** Hostnames without port. */
  documentHosts: {
    env: "IDP_DOCUMENT_HOSTS",
    kind: kind.hosts,
    defaultText: "`docs.google.com` for Google, else the issuer's hostname",
    meaning: "The hostnames that the function `isValidIdpUrl` accepts in a URL.",
  },
  trustedAudiences: {
    env: "IDP_TRUSTED_AUDIENCES",
    kind: kind.audiences,
    default: [],
    meaning:
      "Other audiences that an ID token may contain besides this client (OpenID Connect Core section 3.1.3.7). A token with any other audience is refused.",
  },
} as const satisfies Record<string, kind.SettingRow>;

import { GOOGLE_ISSUER } from "./document-hosts.js";
import { deepFreeze } from "../record/json.js";
import { parseUrl } from "../http/redirects.js";
import * as kind from "./setting-kinds.js";

/** One row of the table of settings; its key there is the option's name in code. */
export interface SettingRow {
  /** The name in the environment. */
  readonly env: string;
  readonly kind: kind.SettingKind<unknown>;
  readonly unit?: "seconds";
  /** Null: unset, and may be set to null in code. Absent: required, or worked out from other settings. */
  readonly default?: unknown;
  /** The default in words, where the value alone does not say it. */
  readonly defaultText?: string;
  readonly meaning: string;
  /** Never printed, and taken to the letter: `null` is a secret like any other. */
  readonly secret?: true;
  readonly required?: true;
  /** What to do about a value that is refused here and right elsewhere; undefined: E006 says it. */
  readonly remedyFor?: (value: unknown) => string | undefined;
}

const ROWS = deepFreeze({
  /** A text that only this application's processes know; at least 32 random bytes. */
  secretKey: {
    env: "SECRET_KEY",
    kind: kind.secret,
    meaning: "Seals the stored sessions. The same for every process; at least 32 random bytes.",
    secret: true,
    required: true,
  },
  /** Former keys; they still open what they sealed. */
  secretKeyFallbacks: {
    env: "SECRET_KEY_FALLBACKS",
    kind: kind.secretList,
    default: [],
    meaning:
      "Keys that still open what they sealed, while SECRET_KEY seals. To rotate without signing anyone out: first the new key here, " +
      "in every process; then as SECRET_KEY, with the old one here.",
    secret: true,
  },
  clientId: {
    env: "IDP_CLIENT_ID",
    kind: kind.text,
    meaning: "The OAuth client identifier that the provider gave out.",
    required: true,
  },
  clientSecret: {
    env: "IDP_CLIENT_SECRET",
    kind: kind.secret,
    meaning: "The OAuth client secret that the provider gave out.",
    secret: true,
    required: true,
  },
  /** The provider's issuer identifier, exactly as its discovery document names it. */
  issuer: {
    env: "IDP_ISSUER",
    kind: kind.issuer,
    default: GOOGLE_ISSUER,
    meaning:
      "The OpenID provider: its issuer identifier, exactly as its discovery document names it. Must be https off loopback; " +
      "in debug mode http is a warning only.",
  },
  /** The scopes to ask for; must contain `openid`. */
  scope: {
    env: "SCOPE",
    kind: kind.scope,
    default: ["openid", "email", "profile"],
    defaultText: "`openid email profile`, with warning E004",
    meaning:
      "The scopes to ask for; must contain `openid`. A set value is sent exactly; the default is extended by `offline_access` where " +
      "the provider supports it.",
  },
  /** An absolute http(s) URL or a path; null: the index. */
  authFinalRedirectUrl: {
    env: "IDP_AUTH_FINAL_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
    defaultText: "unset: the index",
    meaning: "Where a login leads that preserves no origin, or whose origin was rejected. Other origins are allowed here.",
  },
  /** An absolute http(s) URL or a path; null: the index. */
  authLogoutRedirectUrl: {
    env: "IDP_AUTH_LOGOUT_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
    defaultText: "unset: the index",
    meaning: "Where logout with `response=redirect` leads. Other origins are allowed here.",
  },
  sessionAutoRefresh: {
    env: "IDP_SESSION_AUTO_REFRESH",
    kind: kind.boolean,
    default: true,
    meaning: "Whether an expired ID token is refreshed silently. Off: a session ends with its ID token, often after an hour.",
  },
  /** Seconds from the sign-in; null: no such cap. */
  sessionMaxAge: {
    env: "IDP_SESSION_MAX_AGE",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
    defaultText: "unset: no such cap",
    meaning: "The absolute cap, measured from the sign-in. No refresh moves it. 0 is taken literally, with warning W003.",
  },
  /** Seconds without use; null: no such cap. */
  sessionIdleTimeout: {
    env: "IDP_SESSION_IDLE_TIMEOUT",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
    defaultText: "unset: no such cap",
    meaning: "The idle cap, measured from the last successful access. 0 is taken literally, with warning W003.",
  },
  /** Seconds that a stored record lives after its last renewal. */
  sessionTtl: {
    env: "IDP_SESSION_TTL",
    kind: kind.wholeSeconds,
    unit: "seconds",
    defaultText: "14 days, or IDP_SESSION_MAX_AGE plus one day when that is longer",
    meaning:
      "How long the stored record and the cookie of a bundled session live; renewed on access, at most once a day. Longer than the caps, " +
      "so that the index can name the one that ended the session.",
  },
  tokenRevokeOnLogout: {
    env: "IDP_TOKEN_REVOKE_ON_LOGOUT",
    kind: kind.boolean,
    default: true,
    meaning: "Whether logout revokes the token at the provider, as far as the provider can be reached.",
  },
  credentialsSessionKeyName: {
    env: "CREDENTIALS_SESSION_KEY_NAME",
    kind: kind.keyName,
    default: "credentials",
    meaning: "The session key that holds the credentials. The three key names are distinct and no other reserved key.",
  },
  stateKeyName: {
    env: "STATE_KEY_NAME",
    kind: kind.keyName,
    default: "oauth_state",
    meaning: "The session key that holds the state of the newest login in progress.",
  },
  finalRedirectKeyName: {
    env: "FINAL_REDIRECT_KEY_NAME",
    kind: kind.keyName,
    default: "final_redirect",
    meaning: "The session key that holds where the newest login leads.",
  },
  debug: {
    env: "IDP_DEBUG",
    kind: kind.boolean,
    default: false,
    meaning: "Debug mode: opens the debug endpoint and eases checks meant for production. Neither DEBUG nor NODE_ENV counts.",
  },
  /** The origin that visitors use, such as `https://app.example`; null: taken from each request. */
  baseUrl: {
    env: "BASE_URL",
    kind: kind.origin,
    default: null,
    defaultText: "unset: each request's scheme and Host, with warning W001",
    meaning:
      "The application's own origin, as visitors reach it. The cookie and the callback live there. In the environment `/`, which Vite's tools put there, means unset.",
    remedyFor: withoutPath,
  },
  /** Seconds. */
  httpTimeout: {
    env: "IDP_HTTP_TIMEOUT",
    kind: kind.timeoutSeconds,
    unit: "seconds",
    default: 5,
    meaning: "How long a visitor waits for the provider before the answer is 503.",
  },
  /** Per process. */
  refreshConcurrency: {
    env: "IDP_REFRESH_CONCURRENCY",
    kind: kind.count,
    default: 20,
    meaning:
      "How many refreshes one process has at the provider at a time. Fifty times as many wait for their turn; whoever comes then is " +
      "answered 503 with Retry-After, and stays signed in.",
  },
  tokenEndpointAuthMethod: {
    env: "IDP_TOKEN_ENDPOINT_AUTH_METHOD",
    kind: kind.oneOf("client_secret_post", "client_secret_basic", "client_secret_basic_raw"),
    default: "client_secret_post",
    meaning:
      "How the client authenticates at the provider's token and revocation endpoints (RFC 6749 section 2.3.1). `client_secret_basic` " +
      "encodes client ID and secret as application/x-www-form-urlencoded; `client_secret_basic_raw` sends them unencoded, for providers " +
      "that do not decode them.",
  },
  /** Single endpoints that override or complete the discovery document. */
  providerMetadata: {
    env: "IDP_PROVIDER_METADATA",
    kind: kind.endpoints,
    default: {},
    defaultText: "unset: the discovery document alone",
    meaning:
      "Endpoints that override or complete the discovery document, by their names there, such as " +
      '`{"userinfo_endpoint": "https://login.example.com/userinfo"}`.',
  },
  /** What happens when a refresh response has no ID token. */
  refreshWithoutIdToken: {
    env: "IDP_REFRESH_WITHOUT_ID_TOKEN",
    kind: kind.oneOf("userinfo", "refuse"),
    default: "userinfo",
    meaning:
      "What to do when a refresh response has no ID token, which OpenID Connect Core section 12.2 allows. `userinfo`: the userinfo endpoint has to " +
      "confirm the same user. `refuse`: the session ends.",
  },
  /** Seconds by which the provider's clock and this machine's may differ. */
  clockTolerance: {
    env: "IDP_CLOCK_TOLERANCE",
    kind: kind.toleranceSeconds,
    unit: "seconds",
    default: 5,
    meaning: "How far the provider's clock and this machine's may differ when an ID token's times are checked.",
  },
  /** null: what makes this provider give a refresh token. */
  loginPrompt: {
    env: "IDP_LOGIN_PROMPT",
    kind: kind.prompt,
    default: null,
    defaultText: "unset: `select_account consent` at Google; elsewhere `consent` when `offline_access` is asked for",
    meaning:
      "The `prompt` of the authorization request (OpenID Connect Core section 3.1.2.1). `none` can be set in code only, since " +
      "the environment reads it as unset.",
  },
  /** Always begins and ends with a slash once read. */
  mountPath: {
    env: "IDP_MOUNT_PATH",
    kind: kind.mountPath,
    default: "/idpauth/",
    meaning:
      "Where the endpoints live. The redirect URI to register at the provider is BASE_URL + IDP_PATH_PREFIX + this path + `login-callback`.",
  },
  /** Empty, or with a slash at the beginning and none at the end. */
  pathPrefix: {
    env: "IDP_PATH_PREFIX",
    kind: kind.pathPrefix,
    default: "",
    defaultText: "unset",
    meaning:
      "What a reverse proxy takes off the path before it passes a request on, such as `/portal`. Links, redirects and the redirect URI get it back.",
  },
  /** Bundled sessions only; null: `__Host-idpauth` over https, `idpauth` over http. */
  cookieName: {
    env: "IDP_COOKIE_NAME",
    kind: kind.cookieName,
    default: null,
    defaultText:
      "unset: `__Host-idpauth` over https, `idpauth` over http; with another path than `/idpauth/` that path is added, as in `idpauth.partners.idpauth`",
    meaning:
      "The cookie of bundled sessions. The prefixes `__Host-` and `__Secure-` need an https BASE_URL; with one, a name without `__Host-` is warning W013.",
  },
  trustProxy: {
    env: "IDP_TRUST_PROXY",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether forwarded headers say scheme and host, where the host framework has no such switch. Only behind a proxy that sets them itself.",
  },
  /** Host names without port. */
  documentHosts: {
    env: "IDP_DOCUMENT_HOSTS",
    kind: kind.hosts,
    defaultText: "`docs.google.com` for Google, else the issuer's host",
    meaning: "The hosts that `isValidIdpUrl` accepts.",
  },
  trustedAudiences: {
    env: "IDP_TRUSTED_AUDIENCES",
    kind: kind.audiences,
    default: [],
    meaning:
      "Audiences that an ID token may name beside this client (OpenID Connect Core section 3.1.3.7). A token that names another one is refused.",
  },
} as const satisfies Record<string, SettingRow>);

export type SettingName = keyof typeof ROWS;

/** THE table of settings. Reading, validation, error texts and docs/reference/settings.md come from it. */
export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = ROWS;

type ValueOf<Row extends SettingRow> =
  (Row["kind"] extends kind.SettingKind<infer Value> ? Value : never) | (Row extends { readonly default: null } ? null : never);

/** The settings as everybody else sees them: frozen, checked, complete. */
export type Settings = {
  readonly [Name in SettingName]: ValueOf<(typeof ROWS)[Name]>;
} & {
  /** SCOPE was not set, so the default may be extended by what the provider supports. */
  readonly scopeIsDefault: boolean;
  /** Where browsers find the endpoints: path prefix and mount path. */
  readonly publicPath: string;
};

/**
 * The settings that are given in code. They win over the environment; undefined: the environment decides; null: unset,
 * whatever the environment says. See docs/reference/settings.md.
 */
export type SettingOptions = {
  readonly [Name in SettingName]?: (Name extends "scope" ? readonly string[] | string : ValueOf<(typeof ROWS)[Name]>) | undefined;
};

/** What is known of each setting after reading: unset ones have their default, refused ones are missing. */
export type Values = { [Name in SettingName]?: Settings[Name] };

function withoutPath(value: unknown): string | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname === "/") return undefined;
  return `Set ${label("baseUrl")} to the origin alone. The path that a reverse proxy takes off, such as \`/portal\`, goes into ${label("pathPrefix")}.`;
}

export function label(name: SettingName): string {
  return `${SETTINGS[name].env} (option ${name})`;
}

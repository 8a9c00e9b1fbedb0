// The options that are settings; provider-options.ts has those of a provider. `npm run docs` makes docs/reference/settings.md of these comments,
// and fails if the last paragraph of one differs from its row in the table of settings.
import type { OptionsPerProvider, ProviderOptions } from "./provider-options.js";
import type { ProviderSource } from "./provider-source.js";

/**
 * Returns the origin that browsers use for a host, such as `https://shop.example`; undefined if the
 * host isn't the application's. idpauth remembers the result for five minutes, and asks for a host
 * once at a time. If the function throws, or takes longer than five seconds, the response is 503.
 *
 * @param host in lower case, IDN as ASCII, with its port unless that is the scheme's default
 */
export type OriginOfHost = (
  host: string,
) => string | null | undefined | Promise<string | null | undefined>;

/**
 * The settings that the code gives. They override the environment. `undefined` uses the
 * environment; `null` unsets the setting. See docs/reference/settings.md.
 */
export interface SettingOptions<Provider extends string = string> extends OptionsPerProvider {
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
   * a guard, use a function such as `getSession`, or reach `/idpauth/session` without
   * `slide=false`. 0 ends each session at once (warning W003).
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
   * How long an unused session stays in the store, if idpauth stores the sessions. Requests that
   * pass a guard, use a function such as `getSession`, or reach `/idpauth/session` renew this time,
   * at most once a day. Set it to a longer time than the session limits, so that the landing page
   * can show which limit ended a session. The cookie expires after 400 days, or after the maximum
   * age plus one day if that is shorter. Only `/idpauth/session` and the sessions page renew the
   * cookie. If your application uses neither, users have to sign in again after 400 days.
   *
   * In seconds. Default: 14 days, or IDP_SESSION_MAX_AGE plus one day if that is longer.
   * Environment variable: `IDP_SESSION_TTL`.
   */
  readonly sessionTtl?: number | undefined;
  /**
   * The maximum number of sessions that a user can have in this application, if idpauth stores the
   * sessions. If a user signs in and exceeds it, their least recently used session ends (reason
   * `too_many_sessions`). 0 means no maximum.
   *
   * Default: `100`. Environment variable: `IDP_SESSIONS_PER_USER`.
   */
  readonly sessionsPerUser?: number | undefined;
  /**
   * The maximum number of event streams and WebSockets that one session can have open in one
   * process: those of `auth.eventStream`, and those that `auth.proxyApi` and `auth.proxyUpgrade`
   * pass on. Beyond it, the response is 429 `too_many_streams`. 0 means no maximum. The streams of
   * `/idpauth/events` aren't counted. With `session: "host"`, sessions that the framework's session
   * doesn't identify have no maximum.
   *
   * Default: `64`. Environment variable: `IDP_STREAMS_PER_SESSION`.
   */
  readonly streamsPerSession?: number | undefined;
  /**
   * Whether logout revokes the token at the provider. The logout succeeds even if the provider
   * isn't responding.
   *
   * Default: `true`. Environment variable: `IDP_TOKEN_REVOKE_ON_LOGOUT`.
   */
  readonly tokenRevokeOnLogout?: boolean | undefined;
  /**
   * The name of the property in which a session stores its tokens. CREDENTIALS_SESSION_KEY_NAME,
   * STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME must differ, and must not be reserved names (E007).
   * The record's other properties are reserved: `id_info`, `debug`, `idp_login_at`,
   * `idp_last_active` and `idp_state`. So are the properties of session objects and of plain
   * objects, such as `cookie`, `id` and `constructor`.
   *
   * Default: `credentials`. Environment variable: `CREDENTIALS_SESSION_KEY_NAME`.
   */
  readonly credentialsSessionKeyName?: string | undefined;
  /**
   * The name of the property in which a session stores the state of the newest login in progress.
   *
   * Default: `oauth_state`. Environment variable: `STATE_KEY_NAME`.
   */
  readonly stateKeyName?: string | undefined;
  /**
   * The name of the property in which a session stores the page that the user returns to after the
   * newest login.
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
   * hyphen becomes an underscore. Providers that aren't known at startup, such as one for each
   * customer, come from a `providerSource`, alone or after the object, as `[{ … }, source]`.
   *
   * Default: one provider, with the settings below. Environment variable: `IDP_PROVIDERS`.
   */
  readonly providers?:
    | Readonly<Partial<Record<Provider, ProviderOptions>>>
    | ProviderSource
    | readonly [list: Readonly<Record<string, ProviderOptions>>, source: ProviderSource]
    | null
    | undefined;
  /**
   * The key of the provider that a login uses if it doesn't request one.
   *
   * Default: the user chooses on a page. Environment variable: `IDP_DEFAULT_PROVIDER`.
   */
  readonly defaultProvider?: string | null | undefined;
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
   * The application's origin, as browsers use it. The cookie and the callback belong to this
   * origin. If the application has several origins, list them, separated by white space; in code,
   * as an array. `*.` at the start of a host stands for exactly one label, as in
   * `https://*.app.example.com`. In code, this can also be a function that gets a request's host
   * and returns its origin, or `undefined` for other hosts. In the environment, the value `/` means
   * unset, because Vite's tools set it.
   *
   * Default: each request's scheme and Host header, with warning W001. Environment variable:
   * `BASE_URL`.
   */
  readonly baseUrl?: string | readonly string[] | OriginOfHost | null | undefined;
  /**
   * The origin of the redirect URI, if BASE_URL has several origins and the provider allows only
   * one redirect URI. idpauth must get the requests for this origin, too. It redirects each login
   * from there to the origin that the login began at.
   *
   * Default: the redirect URI has the origin of each login. Environment variable:
   * `IDP_CALLBACK_ORIGIN`.
   */
  readonly callbackOrigin?: string | null | undefined;
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

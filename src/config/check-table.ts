import type { Finding } from "../errors.js";

/** The groups of the checks, in the order of a report. Those of `live` are made by `idpauth check --live` only, never at a start. */
export const CHECK_GROUPS = ["project settings", "project middlewares", "defaults", "live"] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

interface CheckRow {
  readonly group: CheckGroup;
  /** An error keeps the host from starting (in the group `live`: people from signing in); a warning does not. */
  readonly severity: Finding["severity"];
  readonly title: string;
  /** One sentence; a finding says it when it has nothing more exact to say. */
  readonly cause: string;
  readonly remedy: string;
}

/** THE table of startup checks. Codes are never renamed and never used again for something else. */
export const CHECKS = {
  E001: {
    group: "project settings",
    severity: "error",
    title: "The secret key is missing",
    cause: "SECRET_KEY (option secretKey) is missing, empty or blank.",
    remedy:
      "Set SECRET_KEY to a long random text, the same for every process, for example the output of " +
      "`node -p \"require('node:crypto').randomBytes(32).toString('base64url')\"`.",
  },
  E002: {
    group: "project middlewares",
    severity: "error",
    title: "The session middleware is not installed",
    cause: '`session: "host"` asks for the host\'s own sessions, and the host has no session middleware that keeps them server-side.',
    remedy: 'Install the host\'s session middleware before idpauth, or leave `session: "host"` out to use the bundled sessions.',
  },
  E003: {
    group: "project settings",
    severity: "error",
    title: "The client's registration is missing",
    cause: "IDP_CLIENT_ID (option clientId) or IDP_CLIENT_SECRET (option clientSecret) is missing, empty or blank.",
    remedy: "Register the application at the identity provider and set both to what it gives out.",
  },
  E004: {
    group: "defaults",
    severity: "warning",
    title: "No scopes are set",
    cause: "SCOPE (option scope) is not defined or empty; it was set to `openid email profile`.",
    remedy: "Set SCOPE to the scopes that the application needs, for example `openid email profile`.",
  },
  E005: {
    group: "project settings",
    severity: "error",
    title: "The scopes lack openid",
    cause: "SCOPE (option scope) is set without `openid`, so the provider would send no ID token (OpenID Connect Core section 3.1.2.1).",
    remedy: "Add `openid` to SCOPE.",
  },
  E006: {
    group: "project settings",
    severity: "error",
    title: "A setting has a value that is not allowed",
    cause: "The value of a setting, from the environment or from code, is not one that the setting takes.",
    remedy: "Correct the value, or remove it where the setting has a default; docs/reference/settings.md lists what each setting takes.",
  },
  E007: {
    group: "project settings",
    severity: "error",
    title: "Session key names clash",
    cause:
      "Two of CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME are the same, or one of them is a name that is taken.",
    remedy: "Give each of the three a name of its own that nothing else in the session uses.",
  },
  E008: {
    group: "project settings",
    severity: "error",
    title: "The issuer is reached without encryption",
    cause: "IDP_ISSUER (option issuer) is an http address off loopback: secrets and tokens would travel in the clear.",
    remedy: "Use the provider's https address. In debug mode this is only a warning (W011).",
  },
  E009: {
    group: "project middlewares",
    severity: "error",
    title: "Two places for sessions",
    cause: '`session: "host"` and `store` are given together, and they exclude each other.',
    remedy: 'Leave `session: "host"` out to keep sessions in the store, or leave `store` out to keep them in the host\'s sessions.',
  },
  E010: {
    group: "project settings",
    severity: "error",
    title: "An option is unknown",
    cause: "An option given in code is not one that exists.",
    remedy: "Correct its spelling or remove it; docs/reference/settings.md lists the options.",
  },
  E011: {
    group: "project settings",
    severity: "error",
    title: "The cookie's name needs an https BASE_URL",
    cause:
      "IDP_COOKIE_NAME (option cookieName) begins with `__Host-` or `__Secure-`. Browsers accept such a cookie over https only, " +
      "and BASE_URL (option baseUrl) is http or unset.",
    remedy: "Set BASE_URL to the https origin that browsers use, or use a cookie name without that prefix.",
  },
  E012: {
    group: "project middlewares",
    severity: "error",
    title: "The session store cannot keep its promises",
    cause: "The store is set up in a way that breaks what it promises, such as a client that runs queued commands after an outage.",
    remedy: "Change the store's setup as the finding says; docs/how-to/scaling.md explains each store's setup.",
  },
  E013: {
    group: "project settings",
    severity: "error",
    title: "The secret key is a placeholder",
    cause: "SECRET_KEY (option secretKey) is a placeholder of the documentation, which everyone can read.",
    remedy:
      "Set SECRET_KEY to a long random text, the same for every process, for example the output of " +
      "`node -p \"require('node:crypto').randomBytes(32).toString('base64url')\"`.",
  },
  E014: {
    group: "project middlewares",
    severity: "error",
    title: "The store is not a session store",
    cause: "The option `store` is not a session store, for example a database client, a URL or an empty object.",
    remedy:
      "Pass what `sqliteStore`, `redisStore`, `postgresStore` or `memoryStore` returns; docs/how-to/stores.md describes a store of your own.",
  },
  E015: {
    group: "project middlewares",
    severity: "error",
    title: "The session middleware saves unchanged sessions",
    cause:
      'With `session: "host"`, @fastify/session runs with `rolling: true`, its default. It saves each request\'s copy of the session when ' +
      "the response ends, so an old copy undoes a logout and restores spent tokens.",
    remedy: "Set `rolling: false` where you register @fastify/session.",
  },
  W001: {
    group: "project settings",
    severity: "warning",
    title: "The own origin is not set",
    cause: "BASE_URL (option baseUrl) is not set, so the application's own origin is taken from each request's Host header.",
    remedy: "Set BASE_URL to the origin that visitors use, for example `https://app.example`.",
  },
  W002: {
    group: "project settings",
    severity: "warning",
    title: "The secret key is short",
    cause: "SECRET_KEY (option secretKey) is shorter than 32 bytes, so it could be guessed.",
    remedy:
      "Use at least 32 random bytes. Rotate without signing anyone out: first the new key as a fallback everywhere, then as SECRET_KEY.",
  },
  W003: {
    group: "project settings",
    severity: "warning",
    title: "An age is zero",
    cause: "An age of a session is 0 seconds, which is taken literally: the session ends at once.",
    remedy: "Set it to the seconds that are meant, or remove it to have its default.",
  },
  W004: {
    group: "project settings",
    severity: "warning",
    title: "You might not get a refresh token",
    cause:
      "IDP_SESSION_AUTO_REFRESH is on, but SCOPE lacks `offline_access`. Many providers give a refresh token only for that scope. " +
      "Without a refresh token, a session ends when its ID token expires, often after an hour.",
    remedy:
      "Add `offline_access` to SCOPE, or set IDP_SESSION_AUTO_REFRESH to false. If your provider gives a refresh token without that scope, " +
      "ignore this warning.",
  },
  W005: {
    group: "project middlewares",
    severity: "warning",
    title: "Sessions live in memory",
    cause: "No `store` is given, so sessions live in this process's memory: a restart signs everyone out, and processes share nothing.",
    remedy: 'Give a `store` that outlives the process, or use `session: "host"`.',
  },
  W006: {
    group: "project middlewares",
    severity: "warning",
    title: "The host's sessions promise less",
    cause: "The host's own sessions know no compare-and-set, so an overlapping write of the host can undo a logout.",
    remedy: 'Where that matters, use the bundled sessions: leave `session: "host"` out and give a `store`.',
  },
  W007: {
    group: "project middlewares",
    severity: "warning",
    title: "The host has sessions that are not used",
    cause: "The host has a session middleware, but neither `store` nor `session` is given, so idpauth keeps sessions of its own beside it.",
    remedy: 'Say `session: "host"` to use the host\'s sessions, or give a `store` to keep them apart on purpose.',
  },
  W008: {
    group: "project middlewares",
    severity: "warning",
    title: "The session middleware cannot be seen",
    cause: "The host cannot tell whether its session middleware is installed.",
    remedy:
      "Make sure that it is installed before idpauth. If it is not, the first request without a session is answered with 503 `session_missing`.",
  },
  W009: {
    group: "project settings",
    severity: "warning",
    title: "The application is reached without encryption",
    cause: "BASE_URL (option baseUrl) is an http address off loopback: the session cookie travels in the clear.",
    remedy: "Serve the application over https and set BASE_URL to its https address.",
  },
  W010: {
    group: "project settings",
    severity: "warning",
    title: "Debug mode is on",
    cause:
      "Debug mode is on (IDP_DEBUG, option debug) and BASE_URL (option baseUrl) is not an address of this machine: users can open the debug endpoint.",
    remedy:
      "Turn debug mode off where users come. On a development machine, set BASE_URL to the address there, for example `http://localhost:3000`.",
  },
  W011: {
    group: "project settings",
    severity: "warning",
    title: "The issuer is reached without encryption, in debug mode",
    cause:
      "IDP_ISSUER (option issuer) is an http address off loopback: secrets and tokens travel in the clear. Accepted in debug mode only.",
    remedy: "Use the provider's https address; outside debug mode this is error E008.",
  },
  W012: {
    group: "project settings",
    severity: "warning",
    title: "Sessions disappear before their caps end them",
    cause:
      "IDP_SESSION_TTL (option sessionTtl), given or by default, is not longer than IDP_SESSION_MAX_AGE or IDP_SESSION_IDLE_TIMEOUT: " +
      "the record goes first, so the cap is cut short and nothing is left that could say why the session ended.",
    remedy: "Set IDP_SESSION_TTL to more than the longest cap, for example a day more.",
  },
  W013: {
    group: "project settings",
    severity: "warning",
    title: "The cookie's name binds it to no host",
    cause:
      "IDP_COOKIE_NAME (option cookieName) lacks the prefix `__Host-`, and BASE_URL (option baseUrl) is https: another host under the same domain " +
      "can plant a cookie of that name.",
    remedy: "Leave IDP_COOKIE_NAME out, or begin it with `__Host-`. Users who are signed in have to sign in again.",
  },
  W014: {
    group: "project settings",
    severity: "warning",
    title: "A variable is probably misspelt",
    cause: "The environment has a variable `IDP_…` that is no setting, and one or two letters away from a setting.",
    remedy: "Correct the name, or rename the variable if another program reads it; docs/reference/settings.md lists the settings.",
  },
  E101: {
    group: "live",
    severity: "error",
    title: "The provider cannot be reached",
    cause: "The provider at IDP_ISSUER (option issuer), or an endpoint of it that a sign-in needs, gave no answer.",
    remedy:
      "Look at the address, at name resolution, firewalls and proxies between this machine and the provider, and at the provider's health.",
  },
  E102: {
    group: "live",
    severity: "error",
    title: "The provider's certificate is not accepted",
    cause:
      "The TLS certificate of IDP_ISSUER (option issuer), or of an endpoint that a sign-in needs, does not prove that this is the provider.",
    remedy:
      "Have the certificate put right. Where it comes from an authority of your own, name that in NODE_EXTRA_CA_CERTS, for the application, too; " +
      "never turn verification off.",
  },
  E103: {
    group: "live",
    severity: "error",
    title: "There is no discovery document",
    cause: "What lies at IDP_ISSUER (option issuer) + `/.well-known/openid-configuration` is no discovery document.",
    remedy: "Set IDP_ISSUER to the provider's issuer identifier: its discovery document lies at exactly that path below it.",
  },
  E104: {
    group: "live",
    severity: "error",
    title: "The provider is another issuer",
    cause: "The discovery document names another issuer than IDP_ISSUER (option issuer); the two must be the same to the letter.",
    remedy: "Set IDP_ISSUER to the issuer that the discovery document names.",
  },
  E105: {
    group: "live",
    severity: "error",
    title: "An endpoint is missing",
    cause: "The discovery document lacks an endpoint that a sign-in needs, or names it with an address that may not be used.",
    remedy: "The provider has to announce it, with an https address.",
  },
  E106: {
    group: "live",
    severity: "error",
    title: "The provider does not offer the authorization code flow",
    cause: "The discovery document announces response types or grant types, and not those of the authorization code flow.",
    remedy: "Turn on the authorization code flow (response type `code`) at the provider.",
  },
  E107: {
    group: "live",
    severity: "error",
    title: "The provider signs ID tokens in no way that is accepted",
    cause: "The discovery document announces no asymmetric signature algorithm for ID tokens.",
    remedy: "Have the provider sign with RS256 or another asymmetric algorithm.",
  },
  E108: {
    group: "live",
    severity: "error",
    title: "The provider's signing keys cannot be used",
    cause: "The key set at the provider's jwks_uri cannot be had, or has no key that an ID token could be verified with.",
    remedy: "Look at the provider's key set: it must hold a public signing key for an algorithm that the discovery document announces.",
  },
  E109: {
    group: "live",
    severity: "error",
    title: "The provider does not accept the client",
    cause: "The token endpoint refuses IDP_CLIENT_ID (option clientId) with IDP_CLIENT_SECRET (option clientSecret).",
    remedy:
      "Compare both with the client's registration at the provider, also for white space at the ends. Then compare IDP_TOKEN_ENDPOINT_AUTH_METHOD: " +
      "`client_secret_post` sends both in the request body, `client_secret_basic` in the Authorization header, encoded as " +
      "application/x-www-form-urlencoded (letters, digits and `*-._` stay as they are), `client_secret_basic_raw` in the header, not encoded.",
  },
  E110: {
    group: "live",
    severity: "error",
    title: "The clocks differ too much",
    cause: "The provider's clock and this machine's differ so much that ID tokens are refused or long expired when they come.",
    remedy: "Synchronise this machine's clock (NTP). If it is right, the provider's is not.",
  },
  E111: {
    group: "live",
    severity: "error",
    title: "The session store cannot be used",
    cause: "The store that --store names cannot be opened, or does not answer.",
    remedy: "Look at the store's address and health, and at the rights of its user; docs/how-to/scaling.md explains each store's setup.",
  },
  E112: {
    group: "live",
    severity: "error",
    title: "The session store breaks a promise",
    cause: "The store that --store names does not do what a session store owes.",
    remedy: "Hold the store to the port with `testStore` of idpauth/testing, which names each promise and what hangs on it.",
  },
  E113: {
    group: "live",
    severity: "error",
    title: "The provider requires pushed authorization requests",
    cause:
      "The discovery document says `require_pushed_authorization_requests` (PAR, RFC 9126). idpauth does not send pushed authorization requests, so " +
      "no user can sign in.",
    remedy: "Turn that requirement off at the provider, for this client if the provider can.",
  },
  E114: {
    group: "live",
    severity: "error",
    title: "The provider requires signed request objects",
    cause:
      "The discovery document says `require_signed_request_object` (JAR, RFC 9101). idpauth does not sign authorization requests, so no user can sign in.",
    remedy: "Turn that requirement off at the provider, for this client if the provider can.",
  },
  W101: {
    group: "live",
    severity: "warning",
    title: "An optional endpoint is missing",
    cause: "The discovery document lacks an endpoint that is used where it is there.",
    remedy: "Nothing has to be done, where what is lost is not missed.",
  },
  W102: {
    group: "live",
    severity: "warning",
    title: "A scope is not announced",
    cause: "SCOPE (option scope) has scopes that the discovery document does not announce.",
    remedy: "Check their spelling. A provider may know more scopes than it announces, or refuse the login.",
  },
  W103: {
    group: "live",
    severity: "warning",
    title: "You might not get a refresh token",
    cause:
      "IDP_SESSION_AUTO_REFRESH is on, but the discovery document does not promise a refresh token. Some providers give one without announcing it. " +
      "Without a refresh token, a session ends when its ID token expires.",
    remedy:
      "Sign in once: in debug mode, `/idpauth/debug` shows whether the session has a refresh token. If it has one, ignore this warning. " +
      "Otherwise allow refresh tokens for this client at the provider, or set IDP_SESSION_AUTO_REFRESH to false.",
  },
  W104: {
    group: "live",
    severity: "warning",
    title: "PKCE is not announced",
    cause: "The discovery document does not announce PKCE with S256 (RFC 7636); the challenge is sent, but maybe nobody looks at it.",
    remedy: "Turn PKCE on for this client at the provider. Some providers do it without a word; the nonce guards the code in any case.",
  },
  W105: {
    group: "live",
    severity: "warning",
    title: "The client's authentication method is not announced",
    cause: "The discovery document does not announce what IDP_TOKEN_ENDPOINT_AUTH_METHOD (option tokenEndpointAuthMethod) says.",
    remedy: "Set IDP_TOKEN_ENDPOINT_AUTH_METHOD to a method that the provider announces and the client's registration allows.",
  },
  W106: {
    group: "live",
    severity: "warning",
    title: "The clocks differ",
    cause: "The provider's clock and this machine's differ by more than the 5 seconds that are tolerated.",
    remedy: "Synchronise this machine's clock (NTP). If it is right, the provider's is not.",
  },
  W107: {
    group: "live",
    severity: "warning",
    title: "The redirect URI is probably not registered",
    cause: "The authorization endpoint does not lead back to the application's redirect URI.",
    remedy: "Register the redirect URI at the provider, to the letter, for this very client id.",
  },
  W108: {
    group: "live",
    severity: "warning",
    title: "The client could not be judged",
    cause: "The token endpoint's answer does not tell whether the provider accepts the client.",
    remedy: "Sign in once to see.",
  },
  W110: {
    group: "live",
    severity: "warning",
    title: "The provider would refuse the login",
    cause: "The authorization endpoint leads back to the application with an error about the request itself, or does not work.",
    remedy: "Compare SCOPE and the client's registration at the provider with what the error says.",
  },
  W111: {
    group: "live",
    severity: "warning",
    title: "The session store is not there yet",
    cause: "There is no file at the path that --store names. The check creates none, so it has not looked at the store.",
    remedy: "Compare the path; or start the application once, which creates the file, and check again.",
  },
  W112: {
    group: "live",
    severity: "warning",
    title: "The check has left something in the session store",
    cause: "An entry that the check wrote could not be removed. It is nobody's session, and expires within two minutes.",
    remedy: "Nothing has to be done, where the store lets entries expire.",
  },
} as const satisfies Record<string, CheckRow>;

export type CheckCode = keyof typeof CHECKS;

/**
 * A finding of one check.
 *
 * @param message what is wrong here; default the check's cause. Never a secret's content.
 * @param remedy default the check's remedy
 */
export function check(code: CheckCode, message?: string, remedy?: string): Finding {
  const row = CHECKS[code];
  return { code, severity: row.severity, message: message ?? row.cause, remedy: remedy ?? row.remedy };
}

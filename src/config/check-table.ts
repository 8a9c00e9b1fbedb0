import type { Finding } from "../errors.js";
import type { SettingText } from "./setting-names.js";

/**
 * The groups of checks, in the order of a report. Only `idpauth check --live` runs the checks of
 * the group `live`.
 */
export const CHECK_GROUPS = [
  "project settings",
  "project middlewares",
  "defaults",
  "live",
] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

export interface CheckRow {
  readonly group: CheckGroup;
  /** An error prevents the start, or in the group `live` a sign-in; a warning does not. */
  readonly severity: Finding["severity"];
  /** The default message of a finding. */
  readonly cause: SettingText;
  /** The default remedy of a finding. */
  readonly remedy: SettingText;
}

/**
 * Returns the rows of a table with their groups and severities. A row states them only if they
 * differ from the table's group, and from what its code says: `E` an error, `W` a warning.
 */
export function checkTable<Code extends string>(
  rows: Readonly<Record<Code, Pick<CheckRow, "cause" | "remedy"> & Partial<CheckRow>>>,
  group: CheckGroup = "project settings",
): Readonly<Record<Code, CheckRow>> {
  const complete = Object.entries<Partial<CheckRow>>(rows).map(([code, row]) => {
    return [code, { group, severity: code.startsWith("E") ? "error" : "warning", ...row }];
  });
  return Object.fromEntries(complete) as Record<Code, CheckRow>;
}

const NEW_SECRET_KEY =
  "Set SECRET_KEY to a long random string, the same for every process. This command prints one: " +
  "`node -p \"require('node:crypto').randomBytes(32).toString('base64url')\"`.";

/**
 * THE table of startup checks. A code is never renamed and never used again for another check. The
 * documentation has the titles.
 */
export const CHECKS = checkTable({
  E001: {
    cause: "SECRET_KEY (option secretKey) is missing, empty or blank.",
    remedy: NEW_SECRET_KEY,
  },
  E002: {
    group: "project middlewares",
    cause:
      '`session: "host"` uses the framework\'s own sessions, but the framework has no session middleware that stores sessions on the server.',
    remedy:
      "Install the framework's session middleware before idpauth. To use idpauth's own sessions, remove `session: \"host\"`.",
  },
  E003: {
    cause: ({ label }) =>
      `${label("clientId")} or ${label("clientSecret")} is missing, empty or blank.`,
    remedy: ({ env }) =>
      `Register the application at the provider, then set both settings to the values that it issues. If the client authenticates with a key, set ${env("privateKey")} instead of the secret.`,
  },
  E004: {
    group: "defaults",
    severity: "warning",
    cause: ({ label }) =>
      `${label("scope")} is unset or empty. idpauth uses the default \`openid email profile\`.`,
    remedy: ({ env }) =>
      `Set ${env("scope")} to the scopes that the application needs, for example \`openid email profile\`.`,
  },
  E005: {
    cause: ({ label }) =>
      `${label("scope")} doesn't contain \`openid\`, so the provider wouldn't send an ID token (OpenID Connect Core section 3.1.2.1).`,
    remedy: ({ env }) => `Add \`openid\` to ${env("scope")}.`,
  },
  E006: {
    cause: "A setting or an option has a value that isn't allowed, in the environment or in code.",
    remedy:
      "Correct the value. To use the default, remove the setting. docs/reference/settings.md lists the allowed values.",
  },
  E007: {
    cause:
      "CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME aren't three different names, or one of them is a reserved name.",
    remedy: "Give each of the three a different name that no other session data uses.",
  },
  E008: {
    cause: ({ label }) =>
      `${label("issuer")} is an http address of another machine. Secrets and tokens would be sent unencrypted.`,
    remedy: "Use the provider's https address. In debug mode, this is only the warning W011.",
  },
  E009: {
    group: "project middlewares",
    cause: '`session: "host"` and `store` are both set, but sessions can use only one of them.',
    remedy:
      'To use the store, remove `session: "host"`. To use the framework\'s sessions, remove `store`.',
  },
  E010: {
    cause: "The code passes an option that doesn't exist.",
    remedy:
      "Correct the option's spelling, or remove the option. docs/reference/settings.md lists the options.",
  },
  E011: {
    cause:
      "IDP_COOKIE_NAME (option cookieName) starts with `__Host-` or `__Secure-`, but BASE_URL (option baseUrl) is http or unset. " +
      "Browsers accept such a cookie only over https.",
    remedy:
      "Set BASE_URL to the https origin that browsers use, or remove the prefix from the cookie name.",
  },
  E012: {
    group: "project middlewares",
    cause:
      "With this configuration, the store can't keep one of idpauth's guarantees, for example because its client runs queued commands after an outage.",
    remedy:
      "Change the store's configuration as the message describes. docs/how-to/sessions.md describes the configuration of each store.",
  },
  E013: {
    cause:
      "SECRET_KEY (option secretKey) is a placeholder from the documentation, or the key of idpauth/testing with a provider that isn't on this " +
      "machine. Both are public, so anyone can know them.",
    remedy: NEW_SECRET_KEY,
  },
  E016: {
    cause: ({ label }) =>
      `${label("authorizationParams")} or IDP_LOGIN_PARAMS (option loginParams) contains a parameter that idpauth itself uses, or that must not reach a browser.`,
    remedy: ({ env }) =>
      `Remove the parameter. Set scopes in ${env("scope")}, and the client in ${env("clientId")}. For \`auth_time\` in every ID token, set ${env("requestAuthTime")} instead of \`max_age\` or \`claims\`.`,
  },
  E018: {
    cause: ({ label }) =>
      `${label("issuer")} ends with \`/organizations/v2.0\` or \`/common/v2.0\`, Entra ID's addresses for several tenants. Without ${label("allowedTenants")}, idpauth doesn't know whose users may sign in.`,
    remedy: ({ env }) =>
      `Set ${env("allowedTenants")} to the tenant identifiers (GUIDs) of the organizations whose users may sign in, or to \`any\`. For one organization, set ${env("issuer")} to \`https://login.microsoftonline.com/TENANT/v2.0\` instead.`,
  },
  E019: {
    cause: ({ label }) =>
      `${label("allowedTenants")} is set, but ${label("issuer")} isn't Entra ID's address for several tenants, so the list would have no effect.`,
    remedy: ({ env }) =>
      `For users of several tenants, set ${env("issuer")} to exactly \`https://login.microsoftonline.com/organizations/v2.0\` or \`https://login.microsoftonline.com/common/v2.0\`. For one tenant, or another provider, remove ${env("allowedTenants")}.`,
  },
  E020: {
    group: "project middlewares",
    cause: ({ env }) =>
      `${env("backchannelLogout")}, ${env("frontchannelLogout")} or IDP_SESSIONS_PAGE is on, but with \`session: "host"\` the framework stores the sessions, so idpauth can't look up the sessions of one user.`,
    remedy: 'Turn the setting off. To use it, remove `session: "host"` and pass a `store`.',
  },
  E022: {
    cause:
      "IDP_SESSIONS_NOT_BEFORE (option sessionsNotBefore) is in the future, so each new session would end as soon as it begins, and every sign-in would loop.",
    remedy: "Set a time in the past. If it's already in the past, correct this machine's clock.",
  },
  E023: {
    cause: ({ label }) =>
      `Both ${label("privateKey")} and ${label("clientSecret")} or ${label("tokenEndpointAuthMethod")} are set. A client authenticates with a key or with a secret.`,
    remedy: ({ env }) =>
      `To authenticate with the key, which always uses \`private_key_jwt\`, remove ${env("clientSecret")} and ${env("tokenEndpointAuthMethod")}. To authenticate with the secret, remove ${env("privateKey")}.`,
  },
  E025: {
    cause: ({ label }) =>
      `${label("certificate")} isn't the certificate of the first key in ${label("privateKey")}.`,
    remedy: ({ env }) =>
      `Set ${env("certificate")} to the certificate of that key, or remove it. Without a private key, it has no effect.`,
  },
  E027: {
    cause:
      "IDP_DEFAULT_PROVIDER (option defaultProvider), or `provider` of a guarded route or of a rule in `apis`, is no key of IDP_PROVIDERS (option providers).",
    remedy:
      "Correct the key, or add the provider. docs/how-to/several-providers.md has an example.",
  },
  E028: {
    cause:
      "Two providers have the same issuer and the same client ID, so a session could belong to either.",
    remedy:
      "Remove one of them, or register a second client at the provider and use its client ID.",
  },
  E030: {
    cause:
      "Two providers have the same private key, so a provider could use an assertion that was meant for it at the other one.",
    remedy:
      "Create a key for each provider, for example with `npx idpauth keys`, and register its public half at that provider only.",
  },
  E031: {
    cause: ({ label }) =>
      `A setting for Apple is missing or doesn't fit: ${label("appleTeamId")}, ${label("appleKeyId")}, ${label("privateKey")} or ${label("responseMode")}.`,
    remedy: ({ env }) =>
      `Set ${env("appleTeamId")}, ${env("appleKeyId")} and ${env("privateKey")} (the \`.p8\` file that Apple issued), and ${env("responseMode")} to \`form_post\`. docs/providers/apple.md has an example.`,
  },
  E032: {
    cause:
      "The environment has Node.js use a proxy, although the option `providers` has a source. The proxy would resolve the names that customers enter, so idpauth couldn't refuse private addresses.",
    remedy:
      "Start the application without NODE_USE_ENV_PROXY and `--use-env-proxy`. If other requests need the proxy, set it for each of them in code, for example with undici's `ProxyAgent`.",
  },
  E035: {
    cause:
      "IDP_COOKIE_NAME (option cookieName) doesn't start with `__Host-`, although BASE_URL (option baseUrl) has several https origins, so a page of " +
      "one of them could set the cookie of another.",
    remedy:
      "Remove IDP_COOKIE_NAME, or choose a name that starts with `__Host-`. Signed-in users must then sign in again.",
  },
  E036: {
    cause:
      "IDP_AUTH_FINAL_REDIRECT_URL (option authFinalRedirectUrl) or IDP_AUTH_LOGOUT_REDIRECT_URL (option authLogoutRedirectUrl) is an address that isn't at " +
      "one of the several origins of BASE_URL (option baseUrl).",
    remedy:
      "Use a path, such as `/welcome`, which opens at the origin of the request. An address at one of the listed origins is possible, too.",
  },
  E037: {
    cause:
      "IDP_CALLBACK_ORIGIN (option callbackOrigin) is set, but BASE_URL (option baseUrl) doesn't have several origins, so every callback would arrive at the wrong one.",
    remedy:
      "Remove IDP_CALLBACK_ORIGIN, or set BASE_URL to all origins of the application. docs/how-to/many-origins.md has an example.",
  },
  E038: {
    group: "project middlewares",
    cause: ({ label }) =>
      `${label("dpop")} is on, but with \`session: "host"\`, the framework would store each session's key without encryption.`,
    remedy: ({ env }) =>
      `Turn ${env("dpop")} off. To use it, remove \`session: "host"\` and pass a \`store\`.`,
  },
  E039: {
    cause: ({ label }) =>
      `${label("clientCertificate")} and ${label("clientCertificateKey")} can't be used as they are set.`,
    remedy: ({ env }) =>
      `Set ${env("clientCertificate")} to the client's certificate and ${env("clientCertificateKey")} to its key, both as PEM, or remove both. docs/reference/settings.md describes both settings.`,
  },
  E040: {
    cause: ({ label }) =>
      `${label("signedRequests")} is \`always\`, but ${label("privateKey")} isn't set, so idpauth can't sign requests.`,
    remedy: ({ env }) =>
      `Set ${env("privateKey")}, and register its public half at the provider, or remove ${env("signedRequests")}.`,
  },
  E041: {
    cause: ({ label }) =>
      `${label("fapi")} is 2, but the FAPI 2.0 Security Profile forbids the value of another setting.`,
    remedy: ({ env }) =>
      `Correct the setting that the message names, or remove ${env("fapi")}. docs/reference/settings.md describes each setting.`,
  },
  W001: {
    cause:
      "BASE_URL (option baseUrl) isn't set, so the application's origin comes from each request's Host header.",
    remedy: "Set BASE_URL to the origin that browsers use, for example `https://app.example`.",
  },
  W002: {
    cause:
      "SECRET_KEY (option secretKey) is shorter than 32 bytes, or repeats a shorter part, so an attacker could guess it.",
    remedy:
      "Use at least 32 random bytes. To keep users signed in, first add the new key to SECRET_KEY_FALLBACKS in every process. " +
      "Then set it as SECRET_KEY, and keep the old key in SECRET_KEY_FALLBACKS.",
  },
  W003: {
    cause: "A session limit is 0 seconds, so each session ends as soon as it begins.",
    remedy: "Set the number of seconds that you need. To use the default, remove the setting.",
  },
  W004: {
    cause: ({ label }) =>
      `idpauth refreshes sessions, but ${label("scope")} doesn't contain \`offline_access\`. Many providers send a refresh token only for that scope. Without a refresh token, a session ends when its ID token expires, often after an hour.`,
    remedy: ({ env }) =>
      `Add \`offline_access\` to ${env("scope")}, or set IDP_SESSION_AUTO_REFRESH to false. If your provider sends a refresh token without that scope, idpauth logs \`refresh_token_given\` after a sign-in, and you can ignore this warning.`,
  },
  W005: {
    group: "project middlewares",
    cause:
      "No `store` is given, so sessions are stored in this process's memory. A restart signs all users out, and processes don't share sessions.",
    remedy: 'Pass a `store` that survives a restart, or use `session: "host"`.',
  },
  W006: {
    group: "project middlewares",
    cause:
      "The framework's sessions don't support compare-and-swap, so an overlapping request can write an outdated copy and undo a logout.",
    remedy:
      "On Fastify, register @fastify/session with `rolling: false`. By default, it writes its copy after every request. " +
      'If no copy may ever undo a logout, use idpauth\'s own sessions: remove `session: "host"` and pass a `store`.',
  },
  W008: {
    group: "project middlewares",
    cause: "idpauth can't tell whether the framework's session middleware is installed.",
    remedy:
      "Make sure that the middleware is installed before idpauth. If it isn't, the first request gets status 503 `session_missing`.",
  },
  W009: {
    cause:
      "BASE_URL (option baseUrl) is an http address of another machine, so the session cookie is sent unencrypted.",
    remedy: "Serve the application over https, and set BASE_URL to its https address.",
  },
  W010: {
    cause:
      "Debug mode is on (IDP_DEBUG, option debug), and BASE_URL (option baseUrl) isn't an address of this machine, so users can open the debug endpoint.",
    remedy:
      "Turn debug mode off in production. On a development machine, set BASE_URL to its local address, for example `http://localhost:3000`.",
  },
  W011: {
    cause: ({ label }) =>
      `${label("issuer")} is an http address of another machine. Secrets and tokens are sent unencrypted.`,
    remedy: "Use the https address. For the issuer, this is the error E008 outside debug mode.",
  },
  W012: {
    cause:
      "IDP_SESSION_TTL (option sessionTtl) isn't longer than IDP_SESSION_MAX_AGE or IDP_SESSION_IDLE_TIMEOUT. " +
      "The record expires first, so the session ends early, and the landing page can't show why.",
    remedy:
      "Set IDP_SESSION_TTL to more than the longest session limit, for example to one day more.",
  },
  W013: {
    cause:
      "IDP_COOKIE_NAME (option cookieName) doesn't start with `__Host-`, although BASE_URL (option baseUrl) is https, so " +
      "another server under the same domain can set a cookie with this name.",
    remedy:
      "Remove IDP_COOKIE_NAME, or choose a name that starts with `__Host-`. Signed-in users must then sign in again.",
  },
  W014: {
    cause:
      "The environment contains a variable `IDP_…` that isn't a setting, but its name differs from a setting by one or two letters.",
    remedy:
      "Correct the name. If another program reads the variable, rename it. docs/reference/settings.md lists the settings.",
  },
  W016: {
    group: "defaults",
    cause:
      "A route, a proxy or a rule in `apis` uses `maxAge`, and the issuer is Google. Google doesn't reauthenticate users on request, and sends the " +
      "claim `auth_time` only to applications that it has verified.",
    remedy:
      "Remove `maxAge`, or use another provider. Otherwise, users of that route get `step_up_failed`.",
  },
  W021: {
    cause:
      "A setting of the client is set without a provider's key, although there are several providers.",
    remedy: ({ env }) =>
      `Move it to a provider, for example from ${env("clientId")} to \`IDP_PROVIDER_STAFF_CLIENT_ID\`, or remove it.`,
  },
  W022: {
    group: "defaults",
    cause: ({ label }) =>
      `${label("issuer")} is unset, so users sign in at Google, but ${label("clientId")} doesn't end in \`.apps.googleusercontent.com\`, as Google's client IDs do.`,
    remedy: ({ env }) =>
      `Set ${env("issuer")} to your provider's issuer. If your provider is Google, copy the client ID from the console of Google Cloud.`,
  },
  W025: {
    group: "project middlewares",
    cause: "The store's server may lose entries on its own, or doesn't say whether it does.",
    remedy:
      "Change the server's configuration as the message describes. docs/reference/databases.md describes the configuration of each store.",
  },
  W026: {
    group: "project middlewares",
    cause: "With the options of the store's client, writes can be lost in a planned failover.",
    remedy:
      "Change the client's options as the message describes. docs/reference/databases.md explains each of them.",
  },
  W027: {
    cause: ({ label }) =>
      `The certificate in ${label("clientCertificate")} expires within 30 days, or has expired. Once it has expired, a provider that checks it refuses every sign-in and every refresh.`,
    remedy: ({ env }) =>
      `Get a new certificate, register it at the provider, and set ${env("clientCertificate")} and ${env("clientCertificateKey")} to the new certificate and its key. The next refresh replaces tokens that are bound to the old certificate.`,
  },
});

export type CheckCode = keyof typeof CHECKS;

import type { Finding } from "../errors.js";

/** The groups of checks, in the order of a report. Only `idpauth check --live` runs the checks of the group `live`. */
export const CHECK_GROUPS = ["project settings", "project middlewares", "defaults", "live"] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

export interface CheckRow {
  readonly group: CheckGroup;
  /** An error prevents the start, or in the group `live` a sign-in; a warning does not. */
  readonly severity: Finding["severity"];
  /** The default message of a finding. */
  readonly cause: string;
  /** The default remedy of a finding. */
  readonly remedy: string;
}

/**
 * Returns the rows of a table with their groups and severities. A row states them only if they differ from the table's group, and from
 * what its code says: `E` an error, `W` a warning.
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
  "Set SECRET_KEY to a long random text, the same for every process. This command prints one: " +
  "`node -p \"require('node:crypto').randomBytes(32).toString('base64url')\"`.";

/** THE table of startup checks. A code is never renamed and never used again for another check. The documentation has the titles. */
export const CHECKS = checkTable({
  E001: {
    cause: "SECRET_KEY (option secretKey) is missing, empty or blank.",
    remedy: NEW_SECRET_KEY,
  },
  E002: {
    group: "project middlewares",
    cause:
      '`session: "host"` uses the framework\'s own sessions, but the framework has no session middleware that stores sessions on the server.',
    remedy: 'Install the framework\'s session middleware before idpauth. To use the sessions of idpauth, remove `session: "host"`.',
  },
  E003: {
    cause: "IDP_CLIENT_ID (option clientId) or IDP_CLIENT_SECRET (option clientSecret) is missing, empty or blank.",
    remedy: "Register the application at the provider. Set both settings to the values that the provider issues.",
  },
  E004: {
    group: "defaults",
    severity: "warning",
    cause: "SCOPE (option scope) is unset or empty. idpauth uses the default `openid email profile`.",
    remedy: "Set SCOPE to the scopes that the application needs, for example `openid email profile`.",
  },
  E005: {
    cause: "SCOPE (option scope) lacks `openid`. The provider would send no ID token (OpenID Connect Core section 3.1.2.1).",
    remedy: "Add `openid` to SCOPE.",
  },
  E006: {
    cause: "A setting has a value that is not allowed, in the environment or in code.",
    remedy: "Correct the value. To use the default, remove the setting. docs/reference/settings.md lists the allowed values.",
  },
  E007: {
    cause:
      "CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME are not three different names, or one of them is a reserved name.",
    remedy: "Give each of the three a different name that no other session data uses.",
  },
  E008: {
    cause: "IDP_ISSUER (option issuer) is an http address of another machine. Secrets and tokens would be sent unencrypted.",
    remedy: "Use the provider's https address. In debug mode this error is warning W011.",
  },
  E009: {
    group: "project middlewares",
    cause: '`session: "host"` and `store` are both given. Sessions can use only one of them.',
    remedy: 'To use the store, remove `session: "host"`. To use the framework\'s sessions, remove `store`.',
  },
  E010: {
    cause: "The code passes an option that does not exist.",
    remedy: "Correct the option's spelling, or remove the option. docs/reference/settings.md lists the options.",
  },
  E011: {
    cause:
      "IDP_COOKIE_NAME (option cookieName) starts with `__Host-` or `__Secure-`, but BASE_URL (option baseUrl) is http or unset. " +
      "Browsers accept such a cookie over https only.",
    remedy: "Set BASE_URL to the https origin that browsers use, or remove the prefix from the cookie name.",
  },
  E012: {
    group: "project middlewares",
    cause:
      "With this configuration, the store cannot keep a guarantee of idpauth. For example, its client runs queued commands after an outage.",
    remedy: "Change the store's configuration as the finding says. docs/how-to/scaling.md describes the configuration of each store.",
  },
  E013: {
    cause:
      "SECRET_KEY (option secretKey) is a placeholder from the documentation, or the key of idpauth/testing with a provider that isn't on this " +
      "machine. Both are public, so anyone can know them.",
    remedy: NEW_SECRET_KEY,
  },
  E014: {
    group: "project middlewares",
    cause: "The option `store` is not a session store. For example, it is a database client, a URL or an empty object.",
    remedy:
      "Pass the result of `sqliteStore`, `redisStore`, `postgresStore` or `memoryStore`. docs/how-to/stores.md explains how to write a store.",
  },
  E015: {
    group: "project middlewares",
    cause:
      'With `session: "host"`, @fastify/session runs with `rolling: true`, its default. It saves each request\'s copy of the session when ' +
      "the response ends, so an old copy can undo a logout and restore spent tokens.",
    remedy: "Set `rolling: false` where you register @fastify/session.",
  },
  E016: {
    cause:
      "IDP_AUTHORIZATION_PARAMS (option authorizationParams) or IDP_LOGIN_PARAMS (option loginParams) contains a parameter that idpauth " +
      "itself uses, or that must not reach a browser.",
    remedy: "Remove the parameter. Scopes belong in SCOPE, and the client belongs in IDP_CLIENT_ID.",
  },
  E017: {
    cause:
      "`onSignIn`, `onRefresh`, `onSignOut` or `clientData` is no function, `claims` is no Standard Schema, or `claimsVersion` is no text.",
    remedy: "Pass functions, a schema such as `z.object({ … })` of zod, and a text. docs/how-to/users-and-claims.md shows each.",
  },
  E018: {
    cause:
      "IDP_ISSUER (option issuer) ends with `/organizations/v2.0` or `/common/v2.0`, Entra ID's addresses for several tenants. Without " +
      "IDP_ALLOWED_TENANTS (option allowedTenants), idpauth does not know whose users may sign in.",
    remedy:
      "Set IDP_ALLOWED_TENANTS to the tenant identifiers (GUIDs) of the organizations whose users may sign in, or to `any`. For one " +
      "organization, set IDP_ISSUER to `https://login.microsoftonline.com/TENANT/v2.0` instead.",
  },
  E019: {
    cause:
      "IDP_ALLOWED_TENANTS (option allowedTenants) is set, but IDP_ISSUER (option issuer) is not Entra ID's address for several tenants. The " +
      "list would have no effect.",
    remedy:
      "For users of several tenants, set IDP_ISSUER to exactly `https://login.microsoftonline.com/organizations/v2.0` or " +
      "`https://login.microsoftonline.com/common/v2.0`. For one tenant, or another provider, remove IDP_ALLOWED_TENANTS.",
  },
  E020: {
    group: "project middlewares",
    cause:
      'IDP_BACKCHANNEL_LOGOUT, IDP_FRONTCHANNEL_LOGOUT or IDP_SESSIONS_PAGE is on. With `session: "host"`, the framework stores the sessions, ' +
      "and idpauth cannot find those of one user.",
    remedy: 'Turn the setting off. To use it, remove `session: "host"` and pass a `store`.',
  },
  E021: {
    cause: "The option `pages` has an unknown member, a value that is not allowed, or a text with an unknown key or placeholder.",
    remedy: "Correct the member that the finding names. docs/how-to/your-pages.md lists the members and their values.",
  },
  E022: {
    cause:
      "IDP_SESSIONS_NOT_BEFORE (option sessionsNotBefore) is in the future, so each new session would end at once and every sign-in would loop.",
    remedy: "Set a time that has passed. If it has, correct this machine's clock.",
  },
  W001: {
    cause: "BASE_URL (option baseUrl) is not set. The application's origin comes from the Host header of each request.",
    remedy: "Set BASE_URL to the origin that browsers use, for example `https://app.example`.",
  },
  W002: {
    cause: "SECRET_KEY (option secretKey) is shorter than 32 bytes, or repeats a part that is shorter. An attacker could guess it.",
    remedy:
      "Use at least 32 random bytes. To keep users signed in, first add the new key to SECRET_KEY_FALLBACKS in every process. " +
      "Then set it as SECRET_KEY, and keep the old key in SECRET_KEY_FALLBACKS.",
  },
  W003: {
    cause: "A session limit is 0 seconds. Each session ends at once.",
    remedy: "Set the number of seconds that you need. To use the default, remove the setting.",
  },
  W004: {
    cause:
      "IDP_SESSION_AUTO_REFRESH is on, but SCOPE lacks `offline_access`. Many providers give a refresh token only for that scope. " +
      "Without a refresh token, a session ends when its ID token expires, often after an hour.",
    remedy:
      "Add `offline_access` to SCOPE, or set IDP_SESSION_AUTO_REFRESH to false. If your provider gives a refresh token without that scope, " +
      "the log says so after a sign-in (`refresh_token_given`). Then ignore this warning.",
  },
  W005: {
    group: "project middlewares",
    cause:
      "No `store` is given, so sessions are stored in this process's memory. A restart signs all users out, and processes share no sessions.",
    remedy: 'Pass a `store` that survives a restart, or use `session: "host"`.',
  },
  W006: {
    group: "project middlewares",
    cause: "The framework's sessions have no compare-and-swap, so an overlapping request can write an outdated copy and undo a logout.",
    remedy: 'If you need that guarantee, use the sessions of idpauth: remove `session: "host"` and pass a `store`.',
  },
  W007: {
    group: "project middlewares",
    cause: "The framework has a session middleware, but idpauth uses its own sessions, because neither `store` nor `session` is given.",
    remedy: 'To use the framework\'s sessions, set `session: "host"`. To use the sessions of idpauth, pass a `store`.',
  },
  W008: {
    group: "project middlewares",
    cause: "The framework does not show whether its session middleware is installed.",
    remedy:
      "Make sure that the middleware is installed before idpauth. If it is not installed, the first request gets status 503 `session_missing`.",
  },
  W009: {
    cause: "BASE_URL (option baseUrl) is an http address of another machine. The session cookie is sent unencrypted.",
    remedy: "Serve the application over https, and set BASE_URL to its https address.",
  },
  W010: {
    cause:
      "Debug mode is on (IDP_DEBUG, option debug), and BASE_URL (option baseUrl) is not an address of this machine. Users can open the debug endpoint.",
    remedy:
      "Turn debug mode off in production. On a development machine, set BASE_URL to its local address, for example `http://localhost:3000`.",
  },
  W011: {
    cause: "IDP_ISSUER (option issuer) is an http address of another machine. Secrets and tokens are sent unencrypted.",
    remedy: "Use the provider's https address. Outside debug mode this warning is error E008.",
  },
  W012: {
    cause:
      "IDP_SESSION_TTL (option sessionTtl) is not longer than IDP_SESSION_MAX_AGE or IDP_SESSION_IDLE_TIMEOUT. " +
      "The record expires first. So the session ends early, and the landing page cannot show why.",
    remedy: "Set IDP_SESSION_TTL to more than the longest session limit, for example to one day more.",
  },
  W013: {
    cause:
      "IDP_COOKIE_NAME (option cookieName) lacks the prefix `__Host-`, and BASE_URL (option baseUrl) is https. " +
      "Another server under the same domain can set a cookie of that name.",
    remedy: "Remove IDP_COOKIE_NAME, or start it with `__Host-`. Users who are signed in must sign in again.",
  },
  W014: {
    cause: "The environment has a variable `IDP_…` that is not a setting, but its name differs from a setting by one or two letters.",
    remedy: "Correct the name. If another program reads the variable, rename it. docs/reference/settings.md lists the settings.",
  },
  W016: {
    group: "defaults",
    cause:
      "A route uses `maxAge` of `auth.idpRequiredWith`, and the issuer is Google. Google authenticates no user again on request, and sends the " +
      "claim `auth_time` only to applications that it has verified.",
    remedy: "Remove `maxAge` from the route, or use another provider. Otherwise, users of that route get `step_up_failed`.",
  },
  W017: {
    cause: "Text in a color of the option `pages.colors`, or on it, has a contrast below 4.5:1. Many users cannot read it.",
    remedy: "Choose a darker color for the light scheme, or a lighter one for `dark`. WCAG 2.2 requires 4.5:1 for text.",
  },
});

export type CheckCode = keyof typeof CHECKS;

/** Returns a function that makes the findings of one table. Its message and remedy default to those of the table, and never contain a secret. */
export function findingsFrom<Code extends string>(table: Readonly<Record<Code, CheckRow>>) {
  return (code: Code, message?: string, remedy?: string): Finding => {
    const row = table[code];
    return { code, severity: row.severity, message: message ?? row.cause, remedy: remedy ?? row.remedy };
  };
}

export const check = findingsFrom(CHECKS);

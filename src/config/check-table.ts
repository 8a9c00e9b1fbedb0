import type { Finding } from "../errors.js";
import { WARNING_ROWS } from "./warning-rows.js";

/** The groups of checks, in the order of a report. Only `idpauth check --live` runs the checks of the group `live`. */
export const CHECK_GROUPS = ["project settings", "project middlewares", "defaults", "live"] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

export interface CheckRow {
  readonly group: CheckGroup;
  /** An error prevents the start, or in the group `live` a sign-in; a warning does not. */
  readonly severity: Finding["severity"];
  readonly title: string;
  /** The default message of a finding. */
  readonly cause: string;
  /** The default remedy of a finding. */
  readonly remedy: string;
}

const NEW_SECRET_KEY =
  "Set SECRET_KEY to a long random text, the same for every process. This command prints one: " +
  "`node -p \"require('node:crypto').randomBytes(32).toString('base64url')\"`.";

/** THE table of startup checks. A code is never renamed and never used again for another check. */
export const CHECKS = {
  E001: {
    group: "project settings",
    severity: "error",
    title: "The secret key is missing",
    cause: "SECRET_KEY (option secretKey) is missing, empty or blank.",
    remedy: NEW_SECRET_KEY,
  },
  E002: {
    group: "project middlewares",
    severity: "error",
    title: "The session middleware is not installed",
    cause:
      '`session: "host"` uses the framework\'s own sessions, but the framework has no session middleware that stores sessions on the server.',
    remedy: 'Install the framework\'s session middleware before idpauth. To use the sessions of idpauth, remove `session: "host"`.',
  },
  E003: {
    group: "project settings",
    severity: "error",
    title: "The client's registration is missing",
    cause: "IDP_CLIENT_ID (option clientId) or IDP_CLIENT_SECRET (option clientSecret) is missing, empty or blank.",
    remedy: "Register the application at the provider. Set both settings to the values that the provider issues.",
  },
  E004: {
    group: "defaults",
    severity: "warning",
    title: "No scopes are set",
    cause: "SCOPE (option scope) is unset or empty. idpauth uses the default `openid email profile`.",
    remedy: "Set SCOPE to the scopes that the application needs, for example `openid email profile`.",
  },
  E005: {
    group: "project settings",
    severity: "error",
    title: "The scopes lack openid",
    cause: "SCOPE (option scope) lacks `openid`. The provider would send no ID token (OpenID Connect Core section 3.1.2.1).",
    remedy: "Add `openid` to SCOPE.",
  },
  E006: {
    group: "project settings",
    severity: "error",
    title: "A setting has a value that is not allowed",
    cause: "A setting has a value that is not allowed, in the environment or in code.",
    remedy: "Correct the value. To use the default, remove the setting. docs/reference/settings.md lists the allowed values.",
  },
  E007: {
    group: "project settings",
    severity: "error",
    title: "Session key names clash",
    cause:
      "CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME are not three different names, or one of them is a reserved name.",
    remedy: "Give each of the three a different name that no other session data uses.",
  },
  E008: {
    group: "project settings",
    severity: "error",
    title: "The issuer's address is not encrypted",
    cause: "IDP_ISSUER (option issuer) is an http address of another machine. Secrets and tokens would be sent unencrypted.",
    remedy: "Use the provider's https address. In debug mode this error is warning W011.",
  },
  E009: {
    group: "project middlewares",
    severity: "error",
    title: "Two kinds of session storage",
    cause: '`session: "host"` and `store` are both given. Sessions can use only one of them.',
    remedy: 'To use the store, remove `session: "host"`. To use the framework\'s sessions, remove `store`.',
  },
  E010: {
    group: "project settings",
    severity: "error",
    title: "An option is unknown",
    cause: "The code passes an option that does not exist.",
    remedy: "Correct the option's spelling, or remove the option. docs/reference/settings.md lists the options.",
  },
  E011: {
    group: "project settings",
    severity: "error",
    title: "The cookie name needs an https BASE_URL",
    cause:
      "IDP_COOKIE_NAME (option cookieName) starts with `__Host-` or `__Secure-`, but BASE_URL (option baseUrl) is http or unset. " +
      "Browsers accept such a cookie over https only.",
    remedy: "Set BASE_URL to the https origin that browsers use, or remove the prefix from the cookie name.",
  },
  E012: {
    group: "project middlewares",
    severity: "error",
    title: "The session store cannot keep its guarantees",
    cause:
      "With this configuration, the store cannot keep a guarantee of idpauth. For example, its client runs queued commands after an outage.",
    remedy: "Change the store's configuration as the finding says. docs/how-to/scaling.md describes the configuration of each store.",
  },
  E013: {
    group: "project settings",
    severity: "error",
    title: "The secret key is a placeholder",
    cause: "SECRET_KEY (option secretKey) is a placeholder from the documentation, which is public.",
    remedy: NEW_SECRET_KEY,
  },
  E014: {
    group: "project middlewares",
    severity: "error",
    title: "The store is not a session store",
    cause: "The option `store` is not a session store. For example, it is a database client, a URL or an empty object.",
    remedy:
      "Pass the result of `sqliteStore`, `redisStore`, `postgresStore` or `memoryStore`. docs/how-to/stores.md explains how to write a store.",
  },
  E015: {
    group: "project middlewares",
    severity: "error",
    title: "The session middleware saves unchanged sessions",
    cause:
      'With `session: "host"`, @fastify/session runs with `rolling: true`, its default. It saves each request\'s copy of the session when ' +
      "the response ends, so an old copy can undo a logout and restore spent tokens.",
    remedy: "Set `rolling: false` where you register @fastify/session.",
  },
  E016: {
    group: "project settings",
    severity: "error",
    title: "A parameter is reserved",
    cause:
      "IDP_AUTHORIZATION_PARAMS (option authorizationParams) or IDP_LOGIN_PARAMS (option loginParams) contains a parameter that idpauth " +
      "itself uses, or that must not reach a browser.",
    remedy: "Remove the parameter. Scopes belong in SCOPE, and the client belongs in IDP_CLIENT_ID.",
  },
  E017: {
    group: "project settings",
    severity: "error",
    title: "One of the application's functions cannot be used",
    cause:
      "`onSignIn`, `onRefresh`, `onSignOut` or `clientData` is no function, `claims` is no Standard Schema, or `claimsVersion` is no text.",
    remedy: "Pass functions, a schema such as `z.object({ … })` of zod, and a text. docs/how-to/users-and-claims.md shows each.",
  },
  E018: {
    group: "project settings",
    severity: "error",
    title: "The allowed tenants are not set",
    cause:
      "IDP_ISSUER (option issuer) ends with `/organizations/v2.0` or `/common/v2.0`, Entra ID's addresses for several tenants. Without " +
      "IDP_ALLOWED_TENANTS (option allowedTenants), idpauth does not know whose users may sign in.",
    remedy:
      "Set IDP_ALLOWED_TENANTS to the tenant identifiers (GUIDs) of the organizations whose users may sign in, or to `any`. For one " +
      "organization, set IDP_ISSUER to `https://login.microsoftonline.com/TENANT/v2.0` instead.",
  },
  E019: {
    group: "project settings",
    severity: "error",
    title: "The issuer has no tenants",
    cause:
      "IDP_ALLOWED_TENANTS (option allowedTenants) is set, but IDP_ISSUER (option issuer) is not Entra ID's address for several tenants. The " +
      "list would have no effect.",
    remedy:
      "For users of several tenants, set IDP_ISSUER to exactly `https://login.microsoftonline.com/organizations/v2.0` or " +
      "`https://login.microsoftonline.com/common/v2.0`. For one tenant, or another provider, remove IDP_ALLOWED_TENANTS.",
  },
  E020: {
    group: "project middlewares",
    severity: "error",
    title: "Logout by the provider and the sessions page need the sessions of idpauth",
    cause:
      'IDP_BACKCHANNEL_LOGOUT, IDP_FRONTCHANNEL_LOGOUT or IDP_SESSIONS_PAGE is on. With `session: "host"`, the framework stores the sessions, ' +
      "and idpauth cannot find those of one user.",
    remedy: 'Turn the setting off. To use it, remove `session: "host"` and pass a `store`.',
  },
  E021: {
    group: "project settings",
    severity: "error",
    title: "The option `pages` has a value that is not allowed",
    cause: "The option `pages` has an unknown member, a value that is not allowed, or a text with an unknown key or placeholder.",
    remedy: "Correct the member that the finding names. docs/how-to/your-pages.md lists the members and their values.",
  },
  ...WARNING_ROWS,
} as const satisfies Record<string, CheckRow>;

export type CheckCode = keyof typeof CHECKS;

/** Returns a function that makes the findings of one table. Its message and remedy default to those of the table, and never contain a secret. */
export function findingsFrom<Code extends string>(table: Readonly<Record<Code, CheckRow>>) {
  return (code: Code, message?: string, remedy?: string): Finding => {
    const row = table[code];
    return { code, severity: row.severity, message: message ?? row.cause, remedy: remedy ?? row.remedy };
  };
}

export const check = findingsFrom(CHECKS);

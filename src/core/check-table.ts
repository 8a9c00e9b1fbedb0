import type { Finding } from "./errors.js";

/** The groups of the startup checks, in the order of a report. */
export const CHECK_GROUPS = ["project settings", "project middlewares", "defaults"] as const;
export type CheckGroup = (typeof CHECK_GROUPS)[number];

interface CheckRow {
  readonly group: CheckGroup;
  /** An error keeps the host from starting; a warning does not. */
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
    remedy: "Correct the value, or remove it where the setting has a default; docs/settings.md lists what each setting takes.",
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
    remedy: "Correct its spelling or remove it; docs/settings.md lists the options.",
  },
  E011: {
    group: "project settings",
    severity: "error",
    title: "The cookie's name contradicts BASE_URL",
    cause:
      "IDP_COOKIE_NAME (option cookieName) begins with `__Host-` or `__Secure-`, which browsers accept over https only, and BASE_URL is http.",
    remedy: "Use an https BASE_URL, or a cookie name without that prefix.",
  },
  E012: {
    group: "project middlewares",
    severity: "error",
    title: "The session store cannot keep its promises",
    cause: "The store is set up in a way that breaks what it promises, such as a client that runs queued commands after an outage.",
    remedy: "Change the store's setup as the finding says; docs/scaling.md explains each store's setup.",
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
    title: "There will hardly be a refresh token",
    cause:
      "IDP_SESSION_AUTO_REFRESH is on, but SCOPE lacks `offline_access`, without which most providers give no refresh token: " +
      "sessions would end with the ID token, often after an hour.",
    remedy:
      "Add `offline_access` to SCOPE, or set IDP_SESSION_AUTO_REFRESH to false if that is meant. Ignore this where the provider gives one anyway.",
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
    title: "Debug mode on an https address",
    cause:
      "Debug mode is on (IDP_DEBUG, option debug) while BASE_URL is https, as it is in production: the debug endpoint is open to visitors.",
    remedy: "Turn debug mode off where visitors come.",
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

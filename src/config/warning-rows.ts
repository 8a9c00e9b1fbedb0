/** The warnings in the table of startup checks. A warning does not prevent the start. */
export const WARNING_ROWS = {
  W001: {
    group: "project settings",
    severity: "warning",
    title: "The application's origin is not set",
    cause: "BASE_URL (option baseUrl) is not set. The application's origin comes from the Host header of each request.",
    remedy: "Set BASE_URL to the origin that browsers use, for example `https://app.example`.",
  },
  W002: {
    group: "project settings",
    severity: "warning",
    title: "The secret key is short",
    cause: "SECRET_KEY (option secretKey) is shorter than 32 bytes. An attacker could guess it.",
    remedy:
      "Use at least 32 random bytes. To keep users signed in, first add the new key to SECRET_KEY_FALLBACKS in every process. " +
      "Then set it as SECRET_KEY, and keep the old key in SECRET_KEY_FALLBACKS.",
  },
  W003: {
    group: "project settings",
    severity: "warning",
    title: "A session limit is zero",
    cause: "A session limit is 0 seconds. Each session ends at once.",
    remedy: "Set the number of seconds that you need. To use the default, remove the setting.",
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
    title: "Sessions are stored in memory",
    cause:
      "No `store` is given, so sessions are stored in this process's memory. A restart signs all users out, and processes share no sessions.",
    remedy: 'Pass a `store` that survives a restart, or use `session: "host"`.',
  },
  W006: {
    group: "project middlewares",
    severity: "warning",
    title: "The framework's sessions give fewer guarantees",
    cause: "The framework's sessions have no compare-and-swap, so an overlapping request can write an outdated copy and undo a logout.",
    remedy: 'If you need that guarantee, use the sessions of idpauth: remove `session: "host"` and pass a `store`.',
  },
  W007: {
    group: "project middlewares",
    severity: "warning",
    title: "The framework's sessions are not used",
    cause: "The framework has a session middleware, but idpauth uses its own sessions, because neither `store` nor `session` is given.",
    remedy: 'To use the framework\'s sessions, set `session: "host"`. To use the sessions of idpauth, pass a `store`.',
  },
  W008: {
    group: "project middlewares",
    severity: "warning",
    title: "The session middleware cannot be detected",
    cause: "The framework does not show whether its session middleware is installed.",
    remedy:
      "Make sure that the middleware is installed before idpauth. If it is not installed, the first request gets status 503 `session_missing`.",
  },
  W009: {
    group: "project settings",
    severity: "warning",
    title: "The application's address is not encrypted",
    cause: "BASE_URL (option baseUrl) is an http address of another machine. The session cookie is sent unencrypted.",
    remedy: "Serve the application over https, and set BASE_URL to its https address.",
  },
  W010: {
    group: "project settings",
    severity: "warning",
    title: "Debug mode is on",
    cause:
      "Debug mode is on (IDP_DEBUG, option debug), and BASE_URL (option baseUrl) is not an address of this machine. Users can open the debug endpoint.",
    remedy:
      "Turn debug mode off in production. On a development machine, set BASE_URL to its local address, for example `http://localhost:3000`.",
  },
  W011: {
    group: "project settings",
    severity: "warning",
    title: "The issuer's address is not encrypted, in debug mode",
    cause: "IDP_ISSUER (option issuer) is an http address of another machine. Secrets and tokens are sent unencrypted.",
    remedy: "Use the provider's https address. Outside debug mode this warning is error E008.",
  },
  W012: {
    group: "project settings",
    severity: "warning",
    title: "Session records expire before the session limits",
    cause:
      "IDP_SESSION_TTL (option sessionTtl) is not longer than IDP_SESSION_MAX_AGE or IDP_SESSION_IDLE_TIMEOUT. " +
      "The record expires first. So the session ends early, and the landing page cannot show why.",
    remedy: "Set IDP_SESSION_TTL to more than the longest session limit, for example to one day more.",
  },
  W013: {
    group: "project settings",
    severity: "warning",
    title: "Another subdomain can set the cookie",
    cause:
      "IDP_COOKIE_NAME (option cookieName) lacks the prefix `__Host-`, and BASE_URL (option baseUrl) is https. " +
      "Another server under the same domain can set a cookie of that name.",
    remedy: "Remove IDP_COOKIE_NAME, or start it with `__Host-`. Users who are signed in must sign in again.",
  },
  W014: {
    group: "project settings",
    severity: "warning",
    title: "A variable's name is probably misspelt",
    cause: "The environment has a variable `IDP_…` that is not a setting, but its name differs from a setting by one or two letters.",
    remedy: "Correct the name. If another program reads the variable, rename it. docs/reference/settings.md lists the settings.",
  },
  W016: {
    group: "defaults",
    severity: "warning",
    title: "The provider documents no max_age",
    cause:
      "A route uses `maxAge` of `auth.idpRequiredWith`, and the issuer is Google. Google authenticates no user again on request, and sends the " +
      "claim `auth_time` only to applications that it has verified.",
    remedy:
      "Remove `maxAge` from the route, or use another provider. Otherwise the sign-in ends with `step_up_failed`. See docs/how-to/step-up.md#google.",
  },
  W017: {
    group: "project settings",
    severity: "warning",
    title: "A color of the pages has too little contrast",
    cause: "Text in a color of the option `pages.colors`, or on it, has a contrast below 4.5:1. Many users cannot read it.",
    remedy: "Choose a darker color for the light scheme, or a lighter one for `dark`. WCAG 2.2 requires 4.5:1 for text.",
  },
} as const;

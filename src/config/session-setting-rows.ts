import * as kind from "./setting-kinds.js";

/** The settings of sessions: keys, limits, the cookie, and logout. */
export const SESSION_SETTINGS = {
  secretKey: {
    env: "SECRET_KEY",
    kind: kind.secret,
    meaning: "The secret that encrypts stored sessions. Use at least 32 random bytes, the same for every process.",
    secret: true,
    required: true,
  },
  secretKeyFallbacks: {
    env: "SECRET_KEY_FALLBACKS",
    kind: kind.secretList,
    default: [],
    meaning:
      "Other keys that can decrypt stored sessions. New sessions use SECRET_KEY only. To rotate the key and keep users signed in, first " +
      "add the new key here, in every process. Then set the new key as SECRET_KEY, and keep the old key here.",
    secret: true,
  },
  sessionAutoRefresh: {
    env: "IDP_SESSION_AUTO_REFRESH",
    kind: kind.boolean,
    default: true,
    meaning:
      "Whether idpauth refreshes an expired ID token without asking the user. If this is off, a session ends when its ID token expires, often after an hour.",
  },
  /** Seconds from the sign-in; null: no limit. */
  sessionMaxAge: {
    env: "IDP_SESSION_MAX_AGE",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
    defaultText: "unset: no limit",
    meaning:
      "The maximum age of a session, measured from the sign-in. A refresh never extends it. 0 ends each session at once (warning W003).",
  },
  /** Seconds without use; null: no limit. */
  sessionIdleTimeout: {
    env: "IDP_SESSION_IDLE_TIMEOUT",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
    defaultText: "unset: no limit",
    meaning:
      "The idle timeout, measured from the last request of the signed-in user that met a guard, an accessor or the probe without `slide=false`. 0 ends each session at once (warning W003).",
  },
  /** Seconds that a stored record exists after its last renewal. */
  sessionTtl: {
    env: "IDP_SESSION_TTL",
    kind: kind.wholeSeconds,
    unit: "seconds",
    defaultText: "14 days, or IDP_SESSION_MAX_AGE plus one day if that is longer",
    meaning:
      "The lifetime of the stored record and of the cookie, for the sessions of idpauth. The probe renews both, at most once a day. Set a longer time than " +
      "the session limits. Then the landing page can show which limit ended a session.",
  },
  tokenRevokeOnLogout: {
    env: "IDP_TOKEN_REVOKE_ON_LOGOUT",
    kind: kind.boolean,
    default: true,
    meaning: "Whether logout revokes the token at the provider. The logout succeeds even if the provider does not respond.",
  },
  credentialsSessionKeyName: {
    env: "CREDENTIALS_SESSION_KEY_NAME",
    kind: kind.keyName,
    default: "credentials",
    meaning:
      "The session key that stores the credentials. CREDENTIALS_SESSION_KEY_NAME, STATE_KEY_NAME and FINAL_REDIRECT_KEY_NAME must differ. " +
      "None of them may be a reserved name (E007). Reserved are the record's other keys: `id_info`, `debug`, `idp_login_at`, `idp_last_active` and " +
      "`idp_state`. Members of session objects and of other objects are reserved too, such as `cookie`, `id` and `constructor`.",
  },
  stateKeyName: {
    env: "STATE_KEY_NAME",
    kind: kind.keyName,
    default: "oauth_state",
    meaning: "The session key that stores the state of the newest login in progress.",
  },
  finalRedirectKeyName: {
    env: "FINAL_REDIRECT_KEY_NAME",
    kind: kind.keyName,
    default: "final_redirect",
    meaning: "The session key that stores the page to which the newest login returns.",
  },
  /** Bundled sessions only; null: `__Host-idpauth` over https, `idpauth` over http. */
  cookieName: {
    env: "IDP_COOKIE_NAME",
    kind: kind.cookieName,
    default: null,
    defaultText:
      "unset: `__Host-idpauth` over https, `idpauth` over http; if IDP_MOUNT_PATH is not `/idpauth/`, the path is added to the name, as in `idpauth.partners.idpauth`",
    meaning:
      "The name of the session cookie, for the sessions of idpauth only. The prefixes `__Host-` and `__Secure-` need an https BASE_URL. If BASE_URL is https " +
      "and the name does not start with `__Host-`, idpauth logs warning W013.",
  },
} as const satisfies Record<string, kind.SettingRow>;

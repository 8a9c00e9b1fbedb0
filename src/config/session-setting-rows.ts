import * as kind from "./setting-kinds.js";

/** The settings of sessions: keys, limits, the cookie, and logout. */
export const SESSION_SETTINGS = {
  secretKey: {
    env: "SECRET_KEY",
    kind: kind.secret,
    secret: true,
    required: true,
  },
  secretKeyFallbacks: {
    env: "SECRET_KEY_FALLBACKS",
    kind: kind.secretList,
    default: [],
    secret: true,
  },
  sessionAutoRefresh: {
    env: "IDP_SESSION_AUTO_REFRESH",
    kind: kind.boolean,
    default: true,
  },
  /** Seconds from the sign-in; null: no limit. */
  sessionMaxAge: {
    env: "IDP_SESSION_MAX_AGE",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
  },
  /** Seconds without use; null: no limit. */
  sessionIdleTimeout: {
    env: "IDP_SESSION_IDLE_TIMEOUT",
    kind: kind.wholeSeconds,
    unit: "seconds",
    default: null,
  },
  /** Epoch seconds; null: no such limit. */
  sessionsNotBefore: {
    env: "IDP_SESSIONS_NOT_BEFORE",
    kind: kind.instant,
    default: null,
  },
  /** Seconds that a stored record exists after its last renewal. */
  sessionTtl: {
    env: "IDP_SESSION_TTL",
    kind: kind.wholeSeconds,
    unit: "seconds",
  },
  /** 0: no maximum. */
  sessionsPerUser: {
    env: "IDP_SESSIONS_PER_USER",
    kind: kind.sessionCount,
    default: 100,
  },
  tokenRevokeOnLogout: {
    env: "IDP_TOKEN_REVOKE_ON_LOGOUT",
    kind: kind.boolean,
    default: true,
  },
  credentialsSessionKeyName: {
    env: "CREDENTIALS_SESSION_KEY_NAME",
    kind: kind.keyName,
    default: "credentials",
  },
  stateKeyName: {
    env: "STATE_KEY_NAME",
    kind: kind.keyName,
    default: "oauth_state",
  },
  finalRedirectKeyName: {
    env: "FINAL_REDIRECT_KEY_NAME",
    kind: kind.keyName,
    default: "final_redirect",
  },
  /** Bundled sessions only; null: `__Host-Http-idpauth` over https, `idpauth` over http. */
  cookieName: {
    env: "IDP_COOKIE_NAME",
    kind: kind.cookieName,
    default: null,
  },
} as const satisfies Record<string, kind.SettingRow>;

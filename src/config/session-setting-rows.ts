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
    kind: kind.boolean,
    default: true,
  },
  /** Seconds from the sign-in; null: no limit. */
  sessionMaxAge: {
    kind: kind.wholeSeconds,
    default: null,
  },
  /** Seconds without use; null: no limit. */
  sessionIdleTimeout: {
    kind: kind.wholeSeconds,
    default: null,
  },
  /** Epoch seconds; null: no such limit. */
  sessionsNotBefore: {
    kind: kind.instant,
    default: null,
  },
  /** Seconds that a stored record exists after its last renewal. */
  sessionTtl: {
    kind: kind.wholeSeconds,
  },
  /** 0: no maximum. */
  sessionsPerUser: {
    kind: kind.sessionCount,
    default: 100,
  },
  tokenRevokeOnLogout: {
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
    kind: kind.cookieName,
    default: null,
  },
} as const satisfies Record<string, kind.WrittenRow>;

import * as kind from "./setting-kinds.js";
import { setting, type RowsOfOptions } from "./setting-row.js";

/** The settings of sessions: keys, limits, the cookie, and logout. */
export const SESSION_SETTINGS = {
  secretKey: {
    env: "SECRET_KEY",
    kind: kind.secret,
    secret: true,
    required: true,
  },
  secretKeyFallbacks: setting(kind.secretList, [], { env: "SECRET_KEY_FALLBACKS", secret: true }),
  sessionAutoRefresh: setting(kind.boolean, true),
  /** Seconds from the sign-in; null: no limit. */
  sessionMaxAge: setting(kind.wholeSeconds, null),
  /** Seconds without use; null: no limit. */
  sessionIdleTimeout: setting(kind.wholeSeconds, null),
  /** Epoch seconds; null: no such limit. */
  sessionsNotBefore: setting(kind.instant, null),
  /** Seconds that a stored record exists after its last renewal. */
  sessionTtl: {
    kind: kind.wholeSeconds,
  },
  /** 0: no maximum. */
  sessionsPerUser: setting(kind.countOrNone, 100),
  /** In one process; 0: no maximum. */
  streamsPerSession: setting(kind.countOrNone, 64),
  tokenRevokeOnLogout: setting(kind.boolean, true),
  credentialsSessionKeyName: setting(kind.keyName, "credentials", {
    env: "CREDENTIALS_SESSION_KEY_NAME",
  }),
  stateKeyName: setting(kind.keyName, "oauth_state", { env: "STATE_KEY_NAME" }),
  finalRedirectKeyName: setting(kind.keyName, "final_redirect", { env: "FINAL_REDIRECT_KEY_NAME" }),
  /** Bundled sessions only; null: `__Host-Http-idpauth` over https, `idpauth` over http. */
  cookieName: setting(kind.cookieName, null),
} as const satisfies Partial<RowsOfOptions>;

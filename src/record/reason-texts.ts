import type { EndReason } from "./session-policy.js";

interface ReasonRow {
  /** One sentence for the operator of the application. */
  readonly meaning: string;
  readonly remedy: string;
}

/** Why a user is not signed in. `id_token_expired` and `review_due` only where a refresh is not allowed. */
export type ReasonCode = EndReason | "id_token_expired" | "review_due";

/** The table of reason codes, in the order in which they are decided. Codes are never renamed. */
export const REASONS = {
  no_credentials: {
    meaning: "There is no session, or no user has signed in with it.",
    remedy:
      "Sign in. If this reason appears right after a sign-in, the browser probably did not send the cookie. Check that the page has the origin of BASE_URL, and that no proxy removes cookies.",
  },
  max_age: {
    meaning: "More than IDP_SESSION_MAX_AGE seconds have passed since the sign-in, or its time stamp is invalid.",
    remedy: "Sign in again. A refresh never extends this limit; raise IDP_SESSION_MAX_AGE if it is too short.",
  },
  idle: {
    meaning: "More than IDP_SESSION_IDLE_TIMEOUT seconds have passed since the last use, or its time stamp is invalid.",
    remedy: "Sign in again; raise IDP_SESSION_IDLE_TIMEOUT if it is too short.",
  },
  session_expiry: {
    meaning: "The time limit of the provider's claim `session_expiry` (IPSIE) has passed.",
    remedy: "Sign in again. A refresh moves this limit only to a later value that the provider sends.",
  },
  logged_out_at_provider: {
    meaning: "The provider signed the user out, by a back-channel or a front-channel logout.",
    remedy: "Sign in again. If the user did not sign out, an administrator of the provider ended the session.",
  },
  ended_everywhere: {
    meaning:
      "The application called `endSession` or `endAllSessions`, or the user ended the session on the sessions page of another browser.",
    remedy: "Sign in again.",
  },
  claims_rejected: {
    meaning: "The application's claims schema (`claims`) does not accept the claims of the last refresh.",
    remedy: "Compare the schema with what the provider sends. The log line `claims_rejected` names the claims.",
  },
  denied: {
    meaning: "The application's `onRefresh` ended the session.",
    remedy: "This is the application's decision. If it is unexpected, check that function.",
  },
  review_due: {
    meaning:
      "The application's schema or `onRefresh` has not accepted the claims yet. Only `explainIdpAuthentication` returns this reason, because it runs neither.",
    remedy: "Nothing to do: the next `getCredentials` or probe runs them.",
  },
  id_token_expired: {
    meaning:
      "The ID token has expired and can be refreshed. Only `explainIdpAuthentication` returns this reason, because it never refreshes.",
    remedy: "Nothing to do: the next `getCredentials` or probe refreshes.",
  },
  auto_refresh_off: {
    meaning: "The ID token has expired and IDP_SESSION_AUTO_REFRESH is off.",
    remedy: "Sign in again. Turn IDP_SESSION_AUTO_REFRESH on for sessions that outlive the ID token.",
  },
  refresh_rejected: {
    meaning: "The ID token has expired and the provider refused the refresh token: revoked, expired or already used.",
    remedy: "Sign in again. If it happens often, check the lifetime and rotation of refresh tokens at the provider.",
  },
  no_refresh_token: {
    meaning: "The ID token has expired and the provider never gave a refresh token.",
    remedy:
      "Sign in again. To get a refresh token, add `offline_access` to SCOPE or see IDP_LOGIN_PROMPT, and allow refresh tokens at the provider.",
  },
} as const satisfies Record<ReasonCode, ReasonRow>;

/**
 * Why a user is not signed in. Events, the log, the landing page and the guard's 401 carry this code.
 */
export type EndReason =
  | "no_credentials"
  | "max_age"
  | "idle"
  | "signed_in_before"
  | "session_expiry"
  | "logged_out_at_provider"
  | "provider_removed"
  | "ended_everywhere"
  | "too_many_sessions"
  | "claims_rejected"
  | "denied"
  | "auto_refresh_off"
  | "refresh_rejected"
  | "no_refresh_token";

/** Why a session ended: the policy's reason, a logout, or a sign-in that replaced it. */
export type SessionEnd = EndReason | "logout" | "replaced";

import type { EndReason } from "../record/policy.js";
import type { UserPayload } from "../record/identity.js";

/**
 * The body of `GET /idpauth/session`. With status 503 (an outage of the provider or the store) the body says signed out, but the user
 * may still be signed in: read the status first. The status is 200 otherwise.
 */
export interface SessionProbe {
  readonly authenticated: boolean;
  /** Null when signed out. */
  readonly user: UserPayload | null;
}

/** What `?details=true` adds to a response with status 200: seconds until each limit, for a front end that warns before the session ends. */
export interface SessionDetails {
  /** Why the user is signed out; null when signed in. */
  readonly reason: EndReason | null;
  /** Seconds until the ID token expires; idpauth then refreshes it where it can. Null when there is no usable ID token. */
  readonly expires_in: number | null;
  /** Seconds until the maximum age of the session (`IDP_SESSION_MAX_AGE`); null without one. */
  readonly max_age_expires_in: number | null;
  /**
   * Seconds until the idle timeout (`IDP_SESSION_IDLE_TIMEOUT`); null without one. This request counts as activity unless it says
   * `?slide=false`.
   */
  readonly idle_expires_in: number | null;
}

/** The body of `GET /idpauth/session?details=true` with status 200. */
export type DetailedSessionProbe = SessionProbe & SessionDetails;

/**
 * What the session endpoint tells the browser. The server and `idpauth/client` share these types.
 */
import type { EndReason } from "./end-reason.js";
import type { UserPayload } from "./identity.js";

/**
 * What a browser may know of its session: the result of `auth.clientState`, the client's
 * `initialState`, and the body of `GET /idpauth/session?details=true` with status 200. Without
 * `details`, the body has only `authenticated` and `user`. With status 503 (an outage of the
 * provider or the store) it says signed out, but the user may still be signed in: read the status
 * first.
 *
 * @typeParam ClientData the result of the application's `clientData`
 */
export interface ClientState<ClientData extends object = Record<string, unknown>> {
  /** Whether a user is signed in. */
  readonly authenticated: boolean;
  /** Null when signed out. */
  readonly user: UserPayload | null;
  /** Why the user is signed out; null when signed in. */
  readonly reason: EndReason | null;
  /**
   * Tells one user from another: a keyed hash of `iss` and `sub`. It changes when SECRET_KEY
   * changes. Null when signed out.
   */
  readonly account: string | null;
  /**
   * The key of the provider that the user signed in at. Null when signed out, or if the application
   * has one provider, without a key.
   */
  readonly provider: string | null;
  /**
   * Seconds until the session ends if the user does nothing: the earliest limit that a refresh does
   * not extend. Null: none applies, or signed out.
   */
  readonly ends_in: number | null;
  /**
   * Seconds until the ID token expires; idpauth then refreshes it where it can. Null when there is
   * no usable ID token.
   */
  readonly expires_in: number | null;
  /** Seconds until the maximum age of the session (`IDP_SESSION_MAX_AGE`); null without one. */
  readonly max_age_expires_in: number | null;
  /**
   * Seconds until the idle timeout (`IDP_SESSION_IDLE_TIMEOUT`); null without one. This request
   * counts as activity unless it says `?slide=false`.
   */
  readonly idle_expires_in: number | null;
  /**
   * Seconds until the provider's own limit (claim `session_expiry` of the ID token); null without
   * one.
   */
  readonly session_expiry_expires_in: number | null;
  /** The result of the application's `clientData`. Null when signed out, or without that option. */
  readonly data: Readonly<ClientData> | null;
}

import type { EndReason } from "../record/end-reason.js";
import type { UserPayload } from "../record/identity.js";

/**
 * When each limit of the session is reached: milliseconds since the epoch, by this browser's clock.
 * Null: no such limit.
 */
export interface Deadlines {
  /**
   * The ID token expires. idpauth then refreshes it where it can, so this is rarely the end of the
   * session.
   */
  readonly idToken: number | null;
  /** The maximum age of the session (`IDP_SESSION_MAX_AGE`). */
  readonly maxAge: number | null;
  /** Only this limit moves when the user is active. */
  readonly idle: number | null;
  /** The provider's own limit (claim `session_expiry`). */
  readonly sessionExpiry: number | null;
  /**
   * The session ends if the user does nothing: the earliest limit that no refresh of the tokens
   * extends.
   */
  readonly end: number | null;
}

/** Nothing is known yet. The first probe is on its way. */
export interface Loading {
  /** The first state, unless `initialState` is given. */
  readonly status: "loading";
  /** Not known yet. */
  readonly user: null;
  /** Not known yet. */
  readonly account: null;
  /** Not known yet. */
  readonly provider: null;
  /** Not known yet. */
  readonly data: null;
  /** Not known yet. */
  readonly deadlines: null;
  /** Only `signed-out` has a reason. */
  readonly reason: null;
}

/** A user is signed in, as of the server's last response. */
export interface SignedIn<ClientData extends object> {
  /** Narrows the type: `user` is then not null. */
  readonly status: "signed-in";
  /** Email, name and picture, from the verified claims. */
  readonly user: UserPayload;
  /** Tells one user from another. It changes when the application's secret key changes. */
  readonly account: string;
  /**
   * The key of the provider that the user signed in at. Null if the application has one provider,
   * without a key.
   */
  readonly provider: string | null;
  /** The result of the application's `clientData`; null without that option. */
  readonly data: Readonly<ClientData> | null;
  /** As of the last response. */
  readonly deadlines: Deadlines;
  /** Only `signed-out` has a reason. */
  readonly reason: null;
}

/** No user is signed in. */
export interface SignedOut {
  /** Never the result of an outage; see `Unavailable`. */
  readonly status: "signed-out";
  /** Null, also after the end of a session. */
  readonly user: null;
  /** Null, also after the end of a session. */
  readonly account: null;
  /** Null, also after the end of a session, although the client remembers it for the next login. */
  readonly provider: null;
  /** Null, also after the end of a session. */
  readonly data: null;
  /** Null, also after the end of a session. */
  readonly deadlines: null;
  /** Why the user is signed out. `logout`: the user has signed out, in this tab or in another. */
  readonly reason: EndReason | "logout";
}

/**
 * The server did not respond, so nothing was decided. The other members are those of the last known
 * state.
 */
export interface Unavailable<ClientData extends object> {
  /** The client tries again by itself. */
  readonly status: "unavailable";
  /** The last known user; null if none is known. */
  readonly user: UserPayload | null;
  /** The last known account; null if none is known. */
  readonly account: string | null;
  /** The last known provider; null if none is known. */
  readonly provider: string | null;
  /** The last known data; null if none is known. */
  readonly data: Readonly<ClientData> | null;
  /** The last known ones; null if none are known. */
  readonly deadlines: Deadlines | null;
  /** Only `signed-out` has a reason. */
  readonly reason: null;
}

/** What the browser knows of the session. Each change is a new, frozen object. */
export type SessionState<ClientData extends object = Record<string, unknown>> =
  Loading | SignedIn<ClientData> | SignedOut | Unavailable<ClientData>;

import type { EndReason } from "../record/probe.js";
import type { UserPayload } from "../record/identity.js";

/** When each limit of the session is reached: milliseconds since the epoch, by this browser's clock. Null: no such limit. */
export interface Deadlines {
  /** The ID token expires. idpauth then refreshes it where it can, so this is rarely the end of the session. */
  readonly idToken: number | null;
  readonly maxAge: number | null;
  /** Only this limit moves when the user is active. */
  readonly idle: number | null;
  /** The provider's own limit (claim `session_expiry`). */
  readonly sessionExpiry: number | null;
  /** The session ends if the user does nothing: the earliest limit that no refresh of the tokens extends. */
  readonly end: number | null;
}

/** Nothing is known yet. The first probe is on its way. */
export interface Loading {
  readonly status: "loading";
  readonly user: null;
  readonly account: null;
  readonly data: null;
  readonly deadlines: null;
  readonly reason: null;
}

export interface SignedIn<ClientData extends object> {
  readonly status: "signed-in";
  readonly user: UserPayload;
  /** Tells one user from another. It changes when the application's secret key changes. */
  readonly account: string;
  /** The result of the application's `clientData`; null without that option. */
  readonly data: Readonly<ClientData> | null;
  readonly deadlines: Deadlines;
  readonly reason: null;
}

export interface SignedOut {
  readonly status: "signed-out";
  readonly user: null;
  readonly account: null;
  readonly data: null;
  readonly deadlines: null;
  /** Why the user is signed out. */
  readonly reason: EndReason;
}

/** The server did not respond, so nothing was decided. The other members are those of the last known state. */
export interface Unavailable<ClientData extends object> {
  readonly status: "unavailable";
  /** The last known user; null if none is known. */
  readonly user: UserPayload | null;
  readonly account: string | null;
  readonly data: Readonly<ClientData> | null;
  readonly deadlines: Deadlines | null;
  readonly reason: null;
}

/** What the browser knows of the session. Each change is a new, frozen object. */
export type SessionState<ClientData extends object = Record<string, unknown>> =
  Loading | SignedIn<ClientData> | SignedOut | Unavailable<ClientData>;

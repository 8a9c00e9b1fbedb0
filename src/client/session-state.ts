import type { EndReason } from "../record/end-reason.js";
import type { UserPayload } from "../record/identity.js";
import type { ProbeDetails } from "../record/probe.js";
import { deadlinesOf } from "./deadlines.js";

/** When each limit of the session is reached: milliseconds since the epoch, by this browser's clock. Null: no such limit. */
export interface Deadlines {
  /** The ID token expires. idpauth then refreshes it where it can, so this is rarely the end of the session. */
  readonly idToken: number | null;
  readonly maxAge: number | null;
  /** Only this limit moves when the user is active. */
  readonly idle: number | null;
  /** The provider's own limit (claim `session_expiry`). */
  readonly sessionExpiry: number | null;
  /** The session ends if the user does nothing: the earliest limit that a refresh does not extend. */
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

const NOBODY = { user: null, account: null, data: null, deadlines: null } as const;

export const LOADING: Loading = Object.freeze({ status: "loading", ...NOBODY, reason: null });

/** @param reason null if the server did not say why */
export function signedOut(reason: EndReason | null): SignedOut {
  return { status: "signed-out", ...NOBODY, reason: reason ?? "no_credentials" };
}

/** @param at when the server made the details, in milliseconds by this browser's clock */
export function stateOf<ClientData extends object>(details: ProbeDetails<ClientData>, at: number): SessionState<ClientData> {
  const { user, account, data = null, reason } = details;
  if (user === null || account === null) return signedOut(reason);
  return { status: "signed-in", user, account, data, deadlines: deadlinesOf(details, at), reason: null };
}

/** Whether two states are the same, apart from the rounding of their deadlines: one second. */
export function isSame(one: SessionState<object>, other: SessionState<object>): boolean {
  const rest = (state: SessionState<object>) => JSON.stringify({ ...state, deadlines: null });
  const distance = (name: string) => Number(one.deadlines?.[name as keyof Deadlines]) - Number(other.deadlines?.[name as keyof Deadlines]);
  return rest(one) === rest(other) && Object.keys(one.deadlines ?? {}).every((name) => Math.abs(distance(name)) <= 1000);
}

import type { EndReason } from "../record/end-reason.js";
import type { ProbeDetails } from "../record/probe.js";
import { deadlinesOf } from "./deadlines.js";
import type { Deadlines, Loading, SessionState, SignedOut } from "./session-state.js";

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

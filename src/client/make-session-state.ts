import type { ClientState } from "../record/client-state.js";
import { deadlinesOf } from "./deadlines.js";
import type { Deadlines, Loading, SessionState, SignedOut } from "./session-state.js";

export const LOADING: Loading = {
  status: "loading",
  user: null,
  account: null,
  provider: null,
  data: null,
  deadlines: null,
  reason: null,
};

/** @param reason null or undefined if the server did not say why */
export function signedOut(reason: SignedOut["reason"] | null | undefined): SignedOut {
  return { ...LOADING, status: "signed-out", reason: reason ?? "no_credentials" };
}

/** @param at when the server made the details, in milliseconds by this browser's clock */
export function stateOf<ClientData extends object>(
  details: ClientState<ClientData>,
  at: number,
): SessionState<ClientData> {
  const { user, account, provider, data, reason } = details;
  if (!user || !account) return signedOut(reason);
  const deadlines = deadlinesOf(details, at);
  return { ...LOADING, status: "signed-in", user, account, provider, data, deadlines };
}

/** Whether two states are the same, apart from the rounding of their deadlines: one second. */
export function isSame(one: SessionState<object>, other: SessionState<object>): boolean {
  const { deadlines } = one;
  // The difference of two nulls is 0, and of null and a time it is large.
  const isNear = ([name, at]: [string, number]) =>
    Math.abs(at - (other.deadlines?.[name as keyof Deadlines] as number)) <= 1000;
  const isAlike = Object.entries((deadlines ?? {}) as Record<string, number>).every(isNear);
  return isAlike && JSON.stringify(one) === JSON.stringify({ ...other, deadlines });
}

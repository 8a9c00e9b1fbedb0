import { createClient, type ClientState, type SessionState } from "idpauth/client";

/** What the server's `clientData` returns. */
interface Account {
  readonly plan: "free" | "pro";
}

/** @param initialState the result of the server's `auth.clientState`, or null */
export function startClient(initialState: ClientState<Account> | null) {
  return createClient<Account>({ initialState });
}

export function greetingOf(state: SessionState<Account>): string {
  if (state.status !== "signed-in") return "Please sign in.";
  return `Hello ${state.user.name ?? "you"}, your plan is ${state.data?.plan ?? "free"}.`;
}

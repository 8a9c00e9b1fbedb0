import type { Client, SessionState } from "idpauth/client";
import { onScopeDispose, shallowRef, type ShallowRef } from "vue";

/** Returns the session's state as a ref, until the component that calls this is gone. */
export function useSession<ClientData extends object>(
  client: Client<ClientData>,
): Readonly<ShallowRef<SessionState<ClientData>>> {
  const state = shallowRef(client.getState());
  onScopeDispose(client.subscribe((next) => (state.value = next)));
  return state;
}

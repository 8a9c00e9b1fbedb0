import type { Client, SessionState } from "idpauth/client";
import { createSubscriber } from "svelte/reactivity";

/**
 * Returns an object whose `current` is the session's state. A component or an effect that reads it
 * follows each change.
 */
export function useSession<ClientData extends object>(
  client: Client<ClientData>,
): { readonly current: SessionState<ClientData> } {
  const subscribe = createSubscriber((update) => client.subscribe(update));
  return {
    get current() {
      subscribe();
      return client.getState();
    },
  };
}

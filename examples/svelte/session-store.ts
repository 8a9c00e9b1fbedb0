import type { Client, SessionState } from "idpauth/client";
import { readable, type Readable } from "svelte/store";

/** Returns the session's state as a store: `$session` in a component. */
export function sessionStore<ClientData extends object>(
  client: Client<ClientData>,
): Readable<SessionState<ClientData>> {
  return readable(client.getState(), (set) => {
    set(client.getState());
    return client.subscribe(set);
  });
}

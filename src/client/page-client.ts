import { startClient } from "./browser-client.js";
import type { Client, ClientOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";

/** The newest client of the page. A server, which serves many users, remembers none. */
let newest: unknown;

/**
 * Returns a client. One for each page is enough; all parts of the page share it. On a server it
 * keeps its initial state.
 *
 * @typeParam ClientData the result of the application's `clientData`
 *
 * @example
 * const auth = createClient();
 * auth.subscribe(() => {
 *   document.title = auth.getState().user?.name ?? "Signed out";
 * });
 */
export function createClient<ClientData extends object = Record<string, unknown>>(
  options: ClientOptions<ClientData> = {},
): Client<ClientData> {
  const env = globalThis as unknown as Environment;
  const client = startClient(options, env);
  if (Boolean(env.document)) newest = client;
  return client;
}

/**
 * Returns the client that the page created last. If there is none, it creates one. On a server, each
 * call creates one, for one request.
 *
 * @param options of the client that it creates
 *
 * @example
 * const auth = pageClient();
 * await auth.signOut();
 */
export function pageClient<ClientData extends object = Record<string, unknown>>(
  options?: ClientOptions<ClientData>,
): Client<ClientData> {
  return (newest ?? createClient(options)) as Client<ClientData>;
}

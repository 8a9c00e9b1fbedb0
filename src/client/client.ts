/**
 * `idpauth/client`: the session as the browser sees it. It has no dependency and no code of the
 * server.
 */
import { startClient } from "./browser-client.js";
import type { Client, ClientOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";

export type { ProbeDetails } from "../record/probe.js";
export type { EndReason } from "../record/probe.js";
export type { UserPayload } from "../record/identity.js";
export type { Client, ClientOptions, SignInOptions, SignOutOptions } from "./client-interface.js";
export { SignInError } from "./sign-in-error.js";
export { UserChangedError } from "./user-changed-error.js";
export type {
  Deadlines,
  Loading,
  SessionState,
  SignedIn,
  SignedOut,
  Unavailable,
} from "./session-state.js";

/**
 * Returns a client. One for each page is enough; all parts of the page share it. On a server it
 * keeps its initial state.
 *
 * @typeParam ClientData the result of the application's `clientData`
 */
export function createClient<ClientData extends object = Record<string, unknown>>(
  options: ClientOptions<ClientData> = {},
): Client<ClientData> {
  return startClient(options, globalThis as unknown as Environment);
}

/** `idpauth/client/streams`: live connections that belong to the session of the page. */
import type { Client } from "../client-interface.js";
import { pageClient } from "../page-client.js";

/** Options of `openStream` and `openSocket`. */
export interface ConnectionOptions {
  /** Default: the client that the page created last, or a new one. */
  readonly client?: Client;
}

/** @internal Replaced by the functions of this entry. */
export function clientOf({ client = pageClient() }: ConnectionOptions = {}): Client {
  return client;
}

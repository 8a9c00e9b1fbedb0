/** `idpauth/client/warning`: defines the element `<idpauth-warning>`. */
import type { Client } from "../client-interface.js";
import { pageClient } from "../page-client.js";

/** @internal Replaced by the element of this entry. */
export function clientOfWarning(client?: Client): Client {
  return client ?? pageClient();
}

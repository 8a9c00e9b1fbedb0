import type { UnnamedFinding } from "../config/findings.js";
import type { Failure } from "./explain-connection-error.js";
import { liveCheck } from "./live-check-table.js";
import { shownEndpoint } from "./message-parts.js";

/**
 * The remedy for an address from the discovery document, which is not a mistake in the settings.
 */
export const FROM_THIS_MACHINE =
  "The discovery document contains that address, and this machine must reach it. Check the DNS, firewalls and proxies of this machine. " +
  "Then check the address that is configured at the provider.";

const FROM_BROWSERS =
  "The discovery document contains that address, and a login redirects browsers to it. Have the provider advertise an address that works. " +
  "If only this machine can't reach the address, a sign-in still works.";

/**
 * Returns the finding for an endpoint that does not respond and that every sign-in needs.
 *
 * @param failure why the request was rejected
 * @returns undefined if there was a response that was too long
 */
export function unreachable(
  endpoint: "authorization" | "token",
  address: string,
  { kind, words }: Failure,
): UnnamedFinding | undefined {
  if (kind === "too_large") return undefined;
  const shown = shownEndpoint(address);
  const message = `The server of the ${endpoint} endpoint${shown === undefined ? "" : ` (${shown})`} ${words}. Nobody can sign in.`;
  if (kind === "certificate") return liveCheck("E102", message);
  if (kind === "address") return liveCheck("E117", message);
  return liveCheck("E101", message, endpoint === "token" ? FROM_THIS_MACHINE : FROM_BROWSERS);
}

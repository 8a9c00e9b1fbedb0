import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import { failureOf } from "./explain-connection-error.js";
import { shownEndpoint } from "./message-parts.js";

/** A typing mistake in the settings cannot be the cause: the address is the provider's own. */
export const FROM_THIS_MACHINE =
  "The discovery document names that address, and this machine must reach it: look at name resolution, firewalls and proxies here, " +
  "and at what the provider takes for its own address.";

const FROM_BROWSERS =
  "The discovery document names that address, and browsers are sent there: the provider has to name one that exists and answers. " +
  "If browsers reach it and only this machine does not, a sign-in shows it.";

/**
 * What it means that one of the endpoints of a sign-in gave no answer. Nobody can sign in without them.
 *
 * @param error what the backchannel rejected with
 * @param timeout IDP_HTTP_TIMEOUT, seconds
 * @returns undefined where there was an answer, though one too long to be read
 */
export function unreachable(endpoint: "authorization" | "token", address: string, error: unknown, timeout: number): Finding | undefined {
  const { kind, words } = failureOf(error, timeout);
  if (kind === "too_large") return undefined;
  const shown = shownEndpoint(address);
  const message = `The server of the ${endpoint} endpoint${shown === undefined ? "" : ` (${shown})`} ${words}: nobody can sign in.`;
  // What a certificate lacks is put right in the same way everywhere.
  if (kind === "certificate") return check("E102", message);
  return check("E101", message, endpoint === "token" ? FROM_THIS_MACHINE : FROM_BROWSERS);
}

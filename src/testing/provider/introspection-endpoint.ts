import { refusedClient } from "./client-checks.js";
import { issuerClaims } from "./entra-tenants.js";
import type { ActiveToken } from "./grants.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, jsonReply, type ProviderReply } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

/** RFC 7662 section 2. */
export async function introspect(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const refused = await refusedClient(request, state);
  if (refused !== undefined) return refused;
  const token = request.params.get("token");
  if (token === null) return errorReply("invalid_request", "token is missing");
  return jsonReply(introspection(token, state));
}

/** Returns what the provider says about a token (RFC 7662 section 2.2). */
export function introspection(
  token: string,
  state: ProviderState,
): Readonly<Record<string, unknown>> {
  const found = state.grants.active(token, state.settings, state.now());
  // Nothing else, so that a caller can't learn anything of a token that is invalid.
  return found === undefined ? { active: false } : { active: true, ...members(found, state) };
}

function members(found: ActiveToken, state: ProviderState): Readonly<Record<string, unknown>> {
  if (found.kind === "access") {
    const { jkt } = Object(found.claims["cnf"]) as { readonly jkt?: unknown };
    return { token_type: jkt === undefined ? "Bearer" : "DPoP", ...found.claims };
  }
  const { person, scope } = found.family.approval;
  return {
    ...issuerClaims(person, state),
    sub: person["sub"],
    client_id: state.settings.clientId,
    scope,
    iat: Math.floor(found.issuedAt / 1000),
  };
}

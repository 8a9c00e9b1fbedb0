import { authorizationMistake } from "./authorization-endpoint.js";
import { refusedClient } from "./client-checks.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, jsonReply, type ProviderReply } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

/**
 * Those authenticate the client, so they are no part of the authorization request (RFC 9126
 * section 2.1).
 */
const OF_THE_CLIENT = ["client_secret", "client_assertion", "client_assertion_type"];

/** RFC 9126 section 2. */
export async function push(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const refused = await refusedClient(request, state);
  if (refused !== undefined) return refused;
  const params = new URLSearchParams(request.params);
  for (const name of OF_THE_CLIENT) params.delete(name);
  // With a Basic header, the body may leave it out.
  params.set("client_id", state.settings.clientId);
  if (params.has("request_uri"))
    return errorReply("invalid_request", "request_uri must not be pushed");
  const mistake = authorizationMistake(params, state.settings);
  if (mistake !== undefined) return errorReply(mistake.error, mistake.description);
  const seconds = state.settings.pushedRequestSeconds;
  return jsonReply(
    { request_uri: state.pushed.add(params, seconds, state.now()), expires_in: seconds },
    201,
  );
}

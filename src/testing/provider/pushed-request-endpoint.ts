import type { OAuthError } from "./authentication.js";
import { authorizationMistake } from "./authorization-endpoint.js";
import { refusedClient } from "./client-checks.js";
import type { Proof } from "./dpop-proofs.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, jsonReply, type ProviderReply } from "./replies.js";
import { signedParameters } from "./request-objects.js";
import { provenClient, withNonce, type ProvenClient } from "./sender-constraints.js";
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
  const client = await provenClient(request, state);
  if ("refused" in client) return client.refused;
  if (client.demand !== undefined) return client.demand;
  return withNonce(await keep(request, client, state), client, state);
}

async function keep(
  request: ReceivedRequest,
  { proof }: ProvenClient,
  state: ProviderState,
): Promise<ProviderReply> {
  const params = new URLSearchParams(request.params);
  for (const name of OF_THE_CLIENT) params.delete(name);
  // With a Basic header, the body may leave it out.
  params.set("client_id", state.settings.clientId);
  if (params.has("request_uri"))
    return errorReply("invalid_request", "request_uri must not be pushed");
  const read = await signedParameters(params, state);
  if (read.kind === "wrong") return errorReply(read.mistake.error, read.mistake.description);
  const mistake =
    authorizationMistake(read.params, state.settings) ?? keyMistake(read.params, proof);
  if (mistake !== undefined) return errorReply(mistake.error, mistake.description);
  // A proof here binds the code, as dpop_jkt does (RFC 9449 section 10.1).
  if (proof !== undefined) read.params.set("dpop_jkt", proof.jkt);
  const seconds = state.settings.pushedRequestSeconds;
  return jsonReply(
    { request_uri: state.pushed.add(read.params, seconds, state.now()), expires_in: seconds },
    201,
  );
}

function keyMistake(params: URLSearchParams, proof: Proof | undefined): OAuthError | undefined {
  const jkt = params.get("dpop_jkt");
  return jkt === null || proof === undefined || jkt === proof.jkt
    ? undefined
    : { error: "invalid_dpop_proof", description: "the proof's key isn't the one of dpop_jkt" };
}

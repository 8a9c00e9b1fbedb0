import { authorize } from "./authorization-endpoint.js";
import { refusedClient } from "./client-checks.js";
import { discoveryDocument } from "./discovery-document.js";
import { endSession } from "./end-session-endpoint.js";
import { announcedIssuer } from "./entra-tenants.js";
import { introspect } from "./introspection-endpoint.js";
import { token } from "./issue-tokens.js";
import { push } from "./pushed-request-endpoint.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import { errorReply, jsonReply, type ProviderReply } from "./replies.js";
import { jsonAfterHook, type ProviderState } from "./test-provider-state.js";
import { userinfo } from "./userinfo-endpoint.js";

/** Does the endpoint's work, and notes why it refuses a request. */
export async function work(
  endpoint: Endpoint,
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const reply = await respond(endpoint, request, state);
  if (reply.refusal !== undefined) state.noteRefusal({ endpoint, ...reply.refusal });
  return reply;
}

async function respond(
  endpoint: Endpoint,
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const methods = METHODS[endpoint];
  if (!methods.includes(request.method)) {
    return errorReply("invalid_request", `${endpoint} takes ${methods.join(" or ")}`, {
      status: 405,
      headers: { Allow: methods.join(", ") },
    });
  }
  switch (endpoint) {
    case "discovery":
      return jsonAfterHook(discoveryDocument(state), state.hooks.discoveryDocument);
    case "authorize":
      return authorize(request, state);
    case "token":
      return token(request, state);
    case "jwks":
      return {
        ...jsonReply({}),
        body: state.keys.published(
          state.settings.tenant === undefined ? {} : { issuer: announcedIssuer(state) },
        ),
      };
    case "userinfo":
      return userinfo(request, state);
    case "revoke":
      return revoke(request, state);
    case "endSession":
      return endSession(request, state);
    case "par":
      return push(request, state);
    case "introspect":
      return introspect(request, state);
  }
}

const METHODS: Readonly<Record<Endpoint, readonly string[]>> = {
  discovery: ["GET"],
  authorize: ["GET"],
  token: ["POST"],
  jwks: ["GET"],
  userinfo: ["GET", "POST"],
  revoke: ["POST"],
  endSession: ["GET", "POST"],
  par: ["POST"],
  introspect: ["POST"],
};

/** RFC 7009 section 2. */
async function revoke(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const refused = await refusedClient(request, state);
  if (refused !== undefined) return refused;
  const value = request.params.get("token");
  if (value === null) return errorReply("invalid_request", "token is missing");
  state.grants.revoke(value);
  return { status: 200, headers: {}, body: "" };
}

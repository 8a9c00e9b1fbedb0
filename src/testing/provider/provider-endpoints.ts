import { APPLE_DISCOVERY, MISSING_AT_APPLE } from "./apple.js";
import { authorize } from "./authorization-endpoint.js";
import { ASSERTION_ALGORITHMS } from "./client-assertion-checks.js";
import { refusedClient } from "./client-checks.js";
import { endSession } from "./end-session-endpoint.js";
import { announcedIssuer } from "./entra-tenants.js";
import { introspect } from "./introspection-endpoint.js";
import { token } from "./issue-tokens.js";
import { push } from "./pushed-request-endpoint.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import { errorReply, jsonReply, type ProviderReply } from "./replies.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import { jsonAfterHook, type ProviderState } from "./test-provider-state.js";

/** The path of each endpoint, after the issuer. */
export const ENDPOINT_PATHS: Readonly<Record<Endpoint, string>> = {
  discovery: "/.well-known/openid-configuration",
  authorize: "/authorize",
  token: "/token",
  jwks: "/jwks",
  userinfo: "/userinfo",
  revoke: "/revoke",
  endSession: "/end-session",
  par: "/par",
  introspect: "/introspect",
};

/** Returns whether the provider has this endpoint. */
export function isOffered(endpoint: Endpoint, settings: ProviderSettings): boolean {
  if (settings.apple !== undefined && MISSING_AT_APPLE.includes(endpoint)) return false;
  if (endpoint === "par") return settings.pushedRequests || settings.requirePushedRequests;
  return endpoint !== "endSession" || settings.endSession === "supported";
}

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
      return discovery(state);
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

const CLAIMS = [
  "sub",
  "iss",
  "aud",
  "exp",
  "iat",
  "auth_time",
  "acr",
  "email",
  "email_verified",
  "name",
  "picture",
  "groups",
];

/** OpenID Connect Discovery section 3. */
function discovery(state: ProviderState): ProviderReply {
  const { base, settings, hooks } = state;
  const document: Record<string, unknown> = {
    issuer: announcedIssuer(state),
    authorization_endpoint: base + ENDPOINT_PATHS.authorize,
    token_endpoint: base + ENDPOINT_PATHS.token,
    jwks_uri: base + ENDPOINT_PATHS.jwks,
    ...(isOffered("userinfo", settings) && {
      userinfo_endpoint: base + ENDPOINT_PATHS.userinfo,
    }),
    revocation_endpoint: base + ENDPOINT_PATHS.revoke,
    ...(isOffered("introspect", settings) && {
      introspection_endpoint: base + ENDPOINT_PATHS.introspect,
    }),
    response_types_supported: ["code"],
    response_modes_supported: ["query", "form_post"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    ...authenticationMembers(settings),
    scopes_supported: settings.scopesSupported,
    claims_supported: CLAIMS,
    claims_parameter_supported: settings.stepUp === "supported",
    ...(settings.acrValues === undefined ? {} : { acr_values_supported: settings.acrValues }),
    ...(settings.pkce === "required" ? { code_challenge_methods_supported: ["S256"] } : {}),
    ...(isOffered("par", settings) && {
      pushed_authorization_request_endpoint: base + ENDPOINT_PATHS.par,
    }),
    ...(settings.requirePushedRequests && { require_pushed_authorization_requests: true }),
    ...logoutMembers(state),
    ...(settings.announceIss ? { authorization_response_iss_parameter_supported: true } : {}),
    ...(settings.apple !== undefined && APPLE_DISCOVERY),
  };
  return jsonAfterHook(document, hooks.discoveryDocument);
}

/** RFC 8414 section 2. */
function authenticationMembers({
  clientJwks,
  tokenEndpointAuthMethods,
}: ProviderSettings): Record<string, unknown> {
  const methods = clientJwks === undefined ? tokenEndpointAuthMethods : ["private_key_jwt"];
  return {
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    ...(clientJwks !== undefined && {
      token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    }),
  };
}

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 2.1, Back-Channel Logout 1.0 section 2.1,
 * Front-Channel Logout 1.0 section 3.
 */
function logoutMembers({ base, settings }: ProviderState): Record<string, unknown> {
  const { sid, backchannelLogoutUri, frontchannelLogoutUri, frontchannelLogoutParams } = settings;
  return {
    ...(isOffered("endSession", settings) && {
      end_session_endpoint: base + ENDPOINT_PATHS.endSession,
    }),
    ...(backchannelLogoutUri !== undefined && {
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: sid === "supported",
    }),
    ...(frontchannelLogoutUri !== undefined && {
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported:
        sid === "supported" && frontchannelLogoutParams.includes("sid"),
    }),
  };
}

/** OpenID Connect Core section 5.3. */
function userinfo(request: ReceivedRequest, state: ProviderState): ProviderReply {
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const found =
    bearer === undefined ? undefined : state.grants.active(bearer, state.settings, state.now());
  if (found?.kind !== "access") return invalidToken("no usable access token");
  const { resource, audience } = found.target;
  if (resource !== undefined || audience !== undefined)
    return invalidToken("the access token is for an API, not for userinfo");
  return jsonAfterHook({ ...found.family.approval.person }, state.hooks.userinfoResponse);
}

function invalidToken(reason: string): ProviderReply {
  return errorReply("invalid_token", reason, {
    status: 401,
    headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
  });
}

/** RFC 7009 section 2. */
async function revoke(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const refused = await refusedClient(request, state);
  if (refused !== undefined) return refused;
  const value = request.params.get("token");
  if (value === null) return errorReply("invalid_request", "token is missing");
  state.grants.revoke(value);
  return { status: 200, headers: {}, body: "" };
}

import { APPLE_DISCOVERY } from "./apple.js";
import { SIGNED_MODES } from "./authorization-responses.js";
import { tlsMethod } from "./certificate-checks.js";
import { ASSERTION_ALGORITHMS } from "./client-assertion-checks.js";
import { ENDPOINT_PATHS, isOffered } from "./endpoint-paths.js";
import { announcedIssuer } from "./entra-tenants.js";
import { REQUEST_ALGORITHMS } from "./request-objects.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState } from "./test-provider-state.js";

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
export function discoveryDocument(state: ProviderState): Record<string, unknown> {
  const { base, settings } = state;
  return {
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
    response_modes_supported: [
      "query",
      "form_post",
      ...(settings.signedResponses === "ignored" ? [] : SIGNED_MODES),
    ],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [settings.signingAlg],
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
    ...assuranceMembers(state),
    ...logoutMembers(state),
    ...(settings.announceIss ? { authorization_response_iss_parameter_supported: true } : {}),
    ...(settings.apple !== undefined && APPLE_DISCOVERY),
  };
}

/** RFC 8414 section 2. */
function authenticationMembers(settings: ProviderSettings): Record<string, unknown> {
  const { clientJwks, tokenEndpointAuthMethods, certificateBoundTokens } = settings;
  const certificate = tlsMethod(settings);
  const hasKey = clientJwks !== undefined && certificate === undefined;
  const methods =
    certificate !== undefined
      ? [certificate]
      : hasKey
        ? ["private_key_jwt"]
        : tokenEndpointAuthMethods;
  return {
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    ...(certificateBoundTokens !== "ignored" && {
      tls_client_certificate_bound_access_tokens: true,
    }),
    ...(hasKey && {
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

/** RFC 9449 section 5.1, RFC 8705 section 5, RFC 9101 section 10.5, JARM section 4. */
function assuranceMembers({ mtlsBase, settings }: ProviderState): Record<string, unknown> {
  const { dpop, dpopSigningAlgs, signedRequests, signedResponses, signingAlg } = settings;
  return {
    ...(dpop !== "ignored" && { dpop_signing_alg_values_supported: dpopSigningAlgs }),
    ...(mtlsBase !== undefined && { mtls_endpoint_aliases: aliases(mtlsBase, settings) }),
    ...(signedRequests !== "ignored" && {
      request_parameter_supported: true,
      request_object_signing_alg_values_supported: REQUEST_ALGORITHMS,
    }),
    ...(signedRequests === "required" && { require_signed_request_object: true }),
    ...(signedResponses !== "ignored" && {
      authorization_signing_alg_values_supported: [signingAlg],
    }),
  };
}

function aliases(base: string, settings: ProviderSettings): Record<string, string> {
  const members = {
    token_endpoint: "token",
    userinfo_endpoint: "userinfo",
    revocation_endpoint: "revoke",
    introspection_endpoint: "introspect",
    pushed_authorization_request_endpoint: "par",
  } as const;
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, endpoint]) =>
      isOffered(endpoint, settings) ? [[name, base + ENDPOINT_PATHS[endpoint]]] : [],
    ),
  );
}

import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from "jose";
import type { OAuthError } from "./authentication.js";
import { clientKeys } from "./client-keys.js";
import { printable } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

/** The algorithms of signed requests that the provider accepts and advertises. */
export const REQUEST_ALGORITHMS = ["PS256", "ES256", "EdDSA"];

/** Seconds, the longest life of a signed request. */
const LONGEST_LIFE_SECONDS = 3600;

/** The claims that are none of an authorization request. */
const OF_THE_JWT = ["iss", "aud", "exp", "nbf", "iat", "jti", "sub"];

/** The parameters of an authorization request, or the client's mistake in them. */
export type ReadParameters =
  | { readonly kind: "read"; readonly params: URLSearchParams }
  | { readonly kind: "wrong"; readonly mistake: OAuthError };

/**
 * Returns the parameters of the signed request (RFC 9101), or else the given ones. Those beside a
 * signed request don't count.
 */
export async function signedParameters(
  params: URLSearchParams,
  state: ProviderState,
): Promise<ReadParameters> {
  const { signedRequests } = state.settings;
  const jwt = params.get("request");
  if (signedRequests === "ignored") return { kind: "read", params };
  if (jwt !== null) return parametersIn(jwt, params, state);
  if (signedRequests === "supported") return { kind: "read", params };
  return wrong("the request must be a signed one, in the parameter request", "invalid_request");
}

async function parametersIn(
  jwt: string,
  outside: URLSearchParams,
  state: ProviderState,
): Promise<ReadParameters> {
  const { clientId, clientJwks } = state.settings;
  const keys = await clientKeys(clientJwks);
  let payload: JWTPayload;
  try {
    const { typ } = decodeProtectedHeader(jwt);
    // RFC 9101 section 10.8.
    if (typ !== "oauth-authz-req+jwt" && typ !== "JWT" && typ !== undefined)
      return wrong(`its typ is ${printable(typ)}`);
    ({ payload } = await jwtVerify(
      jwt,
      createLocalJWKSet({ keys: keys.map(({ jwk, kid }) => ({ ...jwk, kid })) }),
      {
        issuer: clientId,
        audience: state.issuer,
        algorithms: REQUEST_ALGORITHMS,
        currentDate: new Date(state.now()),
        requiredClaims: ["exp", "nbf"],
      },
    ));
  } catch (error) {
    return wrong(reasonOf(error, jwt));
  }
  const { exp = 0, nbf = 0, sub } = payload;
  if (exp - nbf > LONGEST_LIFE_SECONDS) return wrong("it lives for more than an hour");
  // It would be a client assertion, too (section 10.8).
  if (sub === clientId) return wrong("its sub is the client ID");
  if (payload["client_id"] !== clientId || outside.get("client_id") !== clientId)
    return wrong("its client_id isn't that of the request");
  if ("request" in payload || "request_uri" in payload)
    return wrong("it contains another signed request");
  return { kind: "read", params: parametersOf(payload) };
}

/** Section 4: numbers and objects are values of parameters, too. */
function parametersOf(payload: JWTPayload): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(payload)) {
    if (OF_THE_JWT.includes(name)) continue;
    for (const one of [value].flat() as readonly unknown[])
      params.append(name, typeof one === "string" ? one : JSON.stringify(one));
  }
  return params;
}

function reasonOf(error: unknown, jwt: string): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === "nbf" && error.reason === "check_failed"
      ? "its nbf is in the future"
      : `its ${error.claim} is missing or wrong`;
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `its alg is ${printable(decodeProtectedHeader(jwt).alg)}, and must be one of ${REQUEST_ALGORITHMS.join(", ")}`;
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return "another key than the client's has signed it";
  if (error instanceof errors.JWKSNoMatchingKey) return "no key of the client fits its kid and alg";
  return "it isn't a signed JWT, or no key of the client fits it";
}

function wrong(description: string, error = "invalid_request_object"): ReadParameters {
  const subject = error === "invalid_request_object" ? "the signed request: " : "";
  return { kind: "wrong", mistake: { error, description: subject + description } };
}

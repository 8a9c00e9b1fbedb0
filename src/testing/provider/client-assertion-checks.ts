import { createLocalJWKSet, jwtVerify, type JWK } from "jose";
import type { ReceivedRequest } from "./received-requests.js";
import type { ProviderState } from "./test-provider-state.js";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The algorithms of client assertions that the provider accepts and advertises. */
export const ASSERTION_ALGORITHMS = ["PS256", "ES256", "EdDSA", "RS256"];

/** Seconds, the longest life of an assertion. */
const LONGEST_LIFE_SECONDS = 300;

/**
 * Returns why the client assertion of a request is wrong (RFC 7523 section 3): signature, `iss`,
 * `sub`, `aud`, `exp`, or a `jti` that was used before. Undefined for a right one.
 */
export async function assertionMistake(
  { params, url }: ReceivedRequest,
  state: ProviderState,
): Promise<string | undefined> {
  const { settings, base, usedAssertions } = state;
  if (params.has("client_secret")) return "the request contains a secret besides the assertion";
  if (params.get("client_assertion_type") !== ASSERTION_TYPE)
    return "client_assertion_type is wrong";
  if (params.get("client_id") !== settings.clientId) return "client_id is wrong";
  const audience = {
    issuer: state.issuer,
    token_endpoint: `${base}/token`,
    endpoint: new URL(url, base).href,
  }[settings.clientAssertionAudience];
  try {
    const { payload } = await jwtVerify(
      params.get("client_assertion") ?? "",
      createLocalJWKSet({ keys: [...(settings.clientJwks ?? [])] as JWK[] }),
      {
        issuer: settings.clientId,
        subject: settings.clientId,
        algorithms: ASSERTION_ALGORITHMS,
        currentDate: new Date(state.now()),
        requiredClaims: ["exp", "iat", "jti"],
      },
    );
    if (payload.aud !== audience) return "aud is wrong, or a list";
    if ((payload.exp ?? 0) - (payload.iat ?? 0) > LONGEST_LIFE_SECONDS)
      return "the assertion lives too long";
    if (usedAssertions.has(payload.jti ?? "")) return "the assertion was used before";
    usedAssertions.add(payload.jti ?? "");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "the assertion is wrong";
  }
}

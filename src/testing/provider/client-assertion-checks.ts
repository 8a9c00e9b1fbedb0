import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from "jose";
import { clientKeys, type ClientKey } from "./client-keys.js";
import type { ReceivedRequest } from "./received-requests.js";
import { printable } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The algorithms of client assertions that the provider accepts and advertises. */
export const ASSERTION_ALGORITHMS = ["PS256", "ES256", "EdDSA", "RS256"];

/** Seconds, the longest life of an assertion. */
const LONGEST_LIFE_SECONDS = 300;

/**
 * Returns why the client assertion of a request is wrong (RFC 7523 section 3): key, signature,
 * `iss`, `sub`, `aud`, `exp`, or a `jti` that was used before. Undefined for a right one.
 */
export async function assertionMistake(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<string | undefined> {
  const { params, headers } = request;
  const { settings, usedAssertions } = state;
  const key = "but this client authenticates with a key (private_key_jwt)";
  if (params.has("client_secret") || headers.authorization !== undefined)
    return `the request contains a client secret, ${key}`;
  const assertion = params.get("client_assertion");
  if (assertion === null) return `the request contains no client_assertion, ${key}`;
  if (params.get("client_assertion_type") !== ASSERTION_TYPE)
    return `client_assertion_type must be ${ASSERTION_TYPE}`;
  if (params.get("client_id") !== settings.clientId) return `client_id isn't ${settings.clientId}`;
  const keys = await clientKeys(settings.clientJwks);
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(
      assertion,
      createLocalJWKSet({ keys: keys.map(({ jwk, kid }) => ({ ...jwk, kid })) }),
      {
        issuer: settings.clientId,
        subject: settings.clientId,
        algorithms: ASSERTION_ALGORITHMS,
        currentDate: new Date(state.now()),
        requiredClaims: ["exp", "iat", "jti"],
      },
    ));
  } catch (error) {
    return verificationMistake(error, assertion, keys) ?? claimMistake(error, state);
  }
  const { aud, exp = 0, iat = 0, jti = "" } = payload;
  const audience = audienceOf(request, state);
  if (aud !== audience)
    return Array.isArray(aud)
      ? `the assertion's aud is a list, and must be ${audience} alone`
      : `the assertion's aud is ${printable(aud)}, and must be ${audience}`;
  if (exp - iat > LONGEST_LIFE_SECONDS)
    return `the assertion lives for ${String(exp - iat)} seconds, and may live for ${String(LONGEST_LIFE_SECONDS)}`;
  if (usedAssertions.has(jti)) return "the assertion was used before: its jti is known";
  usedAssertions.add(jti);
  return undefined;
}

function audienceOf({ url }: ReceivedRequest, { issuer, base, settings }: ProviderState): string {
  return {
    issuer,
    token_endpoint: `${base}/token`,
    endpoint: new URL(url, base).href,
  }[settings.clientAssertionAudience];
}

/** Returns why the signature can't be verified; undefined if that isn't the reason. */
function verificationMistake(
  error: unknown,
  assertion: string,
  keys: readonly ClientKey[],
): string | undefined {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
    return undefined;
  let header: ProtectedHeaderParameters;
  try {
    header = decodeProtectedHeader(assertion);
  } catch {
    return "client_assertion isn't a signed JWT";
  }
  const kid = printable(header.kid);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `the assertion's alg is ${printable(header.alg)}, and must be one of ${ASSERTION_ALGORITHMS.join(", ")}`;
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return "the assertion has no kid, and several of the client's keys fit it";
  if (error instanceof errors.JWKSNoMatchingKey) return unknownKey(header, keys);
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return header.kid === undefined
      ? "another key than the client's has signed the assertion"
      : `another key has signed the assertion than the client's key with the kid ${kid}`;
  return "client_assertion isn't a signed JWT, or the client's key can't be used";
}

function unknownKey({ kid, alg }: ProtectedHeaderParameters, keys: readonly ClientKey[]): string {
  const known = keys.map((key) => printable(key.kid)).join(", ");
  if (kid === undefined || keys.some((key) => key.kid === kid))
    return `none of the client's keys (${known}) fits the assertion's alg ${printable(alg)}`;
  const named = keys.find(({ thumbprint }) => thumbprint === kid);
  if (named !== undefined)
    return (
      `the assertion's kid ${printable(kid)} is the thumbprint of the client's key, which is registered with the kid ${printable(named.kid)}: ` +
      "without a kid of its own, the application's key is named by its thumbprint"
    );
  return `the assertion's kid ${printable(kid)} is none of the client's keys: ${known} (of a key without a kid, its thumbprint counts)`;
}

function claimMistake(error: unknown, state: ProviderState): string {
  if (error instanceof errors.JWTExpired) {
    const seconds = Math.floor(state.now() / 1000) - (error.payload.exp ?? 0);
    return `the assertion expired ${String(seconds)} seconds ago by the provider's clock`;
  }
  if (!(error instanceof errors.JWTClaimValidationFailed)) return "the assertion is wrong";
  const { claim, payload } = error;
  if (payload[claim] === undefined) return `the assertion has no ${claim}`;
  return claim === "iss" || claim === "sub"
    ? `the assertion's ${claim} isn't the client ID ${state.settings.clientId}`
    : `the assertion's ${claim} is wrong`;
}

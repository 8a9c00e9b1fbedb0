/** Authorization responses that the provider signs (JARM). Anyone can send one to the callback. */
import type { EpochSeconds } from "../clock.js";
import { ProviderRefusedError } from "../errors.js";
import type { ResponseParameters } from "../ports/provider.js";
import type { IdInfo } from "../record/identity.js";
import { isDate, readJwt, type ExpectedClaims } from "./id-token.js";
import type { Jwks } from "./key-fetches.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/** Characters: the longest request line that Node.js reads has as many bytes. */
const MAX_RESPONSE_LENGTH = 16 * 1024;

/**
 * Seconds until which a response may be valid. JARM section 2.1 recommends ten minutes. A state works
 * once, so what is longer is a mistake of the provider. Our decision.
 */
const MAX_LIFE_SECONDS = 3_600;

/** The members that count. */
const MEMBERS = ["state", "code", "iss", "error"] as const;

export interface ExpectedResponse extends ExpectedClaims {
  /** Reads the discovery document. */
  readonly metadata: () => Promise<ProviderMetadata>;
  /** Reads the discovery document again, since the provider may have changed its algorithms. */
  readonly newerMetadata: () => Promise<ProviderMetadata>;
}

/**
 * Verifies a signed response (JARM section 2.4) and returns its parameters. `validateJwtAuthResponse`
 * of oauth4webapi fetches the keys by itself, for every stranger's response.
 *
 * @throws ProviderRefusedError `response_…`, with the failed check
 * @throws ProviderUnavailableError the provider's metadata or the key for the signature cannot be
 *   fetched now
 */
export async function verifySignedResponse(
  response: string,
  expected: ExpectedResponse,
  jwks: Jwks,
): Promise<ResponseParameters> {
  if (response.length > MAX_RESPONSE_LENGTH) throw refused("size");
  const { header, claims } = readJwt(response, ["jwt", undefined], refused);
  // Before anything is fetched, so that an outage never keeps a response that is not for this client.
  checkResponseClaims(claims, expected);
  const isAdvertised =
    advertises(await expected.metadata(), header.alg) ||
    advertises(await expected.newerMetadata(), header.alg);
  if (!isAdvertised) throw refused("alg");
  const { tenants } = expected;
  const keyFits = tenants && ((own: unknown) => tenants.keyFits(own, claims.iss));
  if (!(await jwks.verifyUnasked({ token: response, header, keyFits }))) throw refused("signature");
  return parametersIn(claims);
}

function refused(what: string): ProviderRefusedError {
  return new ProviderRefusedError(`response_${what}`);
}

function advertises(
  { authorization_signing_alg_values_supported: algorithms = [] }: ProviderMetadata,
  algorithm: string,
): boolean {
  return algorithms.includes(algorithm);
}

/** Checks for whom a response is and until when (JARM section 2.4). Pure. */
function checkResponseClaims(claims: IdInfo, expected: ExpectedClaims): void {
  const { tenants, issuer, clientId, trustedAudiences, now, clockTolerance } = expected;
  const { iss, aud, exp, nbf } = claims as Readonly<Record<string, unknown>>;
  if (typeof iss !== "string" || !(tenants?.isResponseIssuer(iss) ?? iss === issuer))
    throw refused("iss");
  const audiences: readonly unknown[] = [aud].flat();
  const isTrusted = (one: unknown) => one === clientId || trustedAudiences.includes(one as string);
  if (!audiences.includes(clientId) || !audiences.every(isTrusted)) throw refused("aud");
  const latest: EpochSeconds = now + MAX_LIFE_SECONDS + clockTolerance;
  if (!isDate(exp) || exp <= now - clockTolerance || exp > latest) throw refused("exp");
  if (nbf !== undefined && (!isDate(nbf) || nbf > now + clockTolerance)) throw refused("nbf");
}

/** @throws ProviderRefusedError a parameter isn't a string */
function parametersIn(claims: IdInfo): ResponseParameters {
  const given = claims as Readonly<Record<string, unknown>>;
  const parameters: Partial<Record<keyof ResponseParameters, string>> = {};
  for (const name of MEMBERS) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== "string") throw refused(name);
    parameters[name] = value;
  }
  return parameters;
}

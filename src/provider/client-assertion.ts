import { randomBytes } from "node:crypto";
import { epochSeconds, type Clock } from "../clock.js";
import { profileOf } from "../config/provider-profiles.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { ProviderUnavailableError } from "../errors.js";
import { signingKey, type AssertionAlgorithm, type ClientKey } from "../keys/client-keys.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { SIGNATURE_FAILED } from "./back-off.js";
import type { ProviderConnection } from "./provider-connection.js";
import { createSignInSignatures } from "./sign-in-signatures.js";
import { signedJwt } from "./signed-jwt.js";

/** RFC 7523 section 2.2. */
export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** For which an assertion is valid. Our decision. */
const ASSERTION_SECONDS = 60;

/** The preferred algorithms first. */
const PREFERRED: readonly AssertionAlgorithm[] = ["PS256", "ES256", "EdDSA", "RS256"];

/** What an assertion takes from the discovery document. */
interface Metadata {
  readonly authorization_endpoint?: string | undefined;
  readonly token_endpoint: string;
  readonly token_endpoint_auth_signing_alg_values_supported?: readonly string[] | undefined;
}

/** The client that authenticates. */
export interface AuthenticatedClient {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/** The settings that say for whom an assertion is. */
interface AudienceSettings {
  readonly issuer: string;
  /** Null: what the provider documents. */
  readonly clientAssertionAudience: ProviderSettings["clientAssertionAudience"];
}

/** For what an assertion is needed. */
interface AssertionRequest {
  /** The address to which the assertion is sent. */
  readonly endpoint: string;
  readonly metadata: Metadata;
  /** Of a refresh or a revocation. Undefined: a sign-in, which waits for other sign-ins. */
  readonly signal: AbortSignal | undefined;
}

/** The assertions of one client (`private_key_jwt`: OpenID Connect Core section 9, RFC 7523). */
export interface ClientAssertions {
  /**
   * Returns a new assertion that authenticates the client at one endpoint.
   *
   * @throws ProviderUnavailableError the key cannot sign now, or the provider accepts none of its
   *   algorithms
   */
  create(request: AssertionRequest, connection: ProviderConnection): Promise<string>;
  /** @throws ProviderUnavailableError `backing_off`: no sign-in may sign now */
  assertReadyToSignIn(): void;
}

/** Returns what makes the assertions of one client. */
export function createClientAssertions({
  settings,
  clock,
  random = Math.random,
}: AuthenticatedClient): ClientAssertions {
  // Refreshes may use as many.
  const signIns = createSignInSignatures({ clock, random, limit: settings.refreshConcurrency });

  async function create(
    { endpoint, metadata, signal }: AssertionRequest,
    connection: ProviderConnection,
  ): Promise<string> {
    const key = signingKey(settings.privateKey);
    if (key === undefined) throw new TypeError("There is no private key.");
    const { httpTimeout } = settings;
    const header = {
      alg: acceptedAlgorithm(key, metadata, connection),
      typ: "JWT",
      ...withoutUndefined({ kid: key.kid, "x5t#S256": settings.certificate?.thumbprint }),
    };
    const now = Math.floor(epochSeconds(clock));
    const claims = {
      iss: settings.clientId,
      sub: settings.clientId,
      aud: assertionAudience(settings, endpoint, metadata),
      jti: randomBytes(16).toString("base64url"),
      iat: now,
      exp: now + ASSERTION_SECONDS,
    };
    const release = signal === undefined ? await signIns.take() : undefined;
    const startedAt = clock.monotonic();
    try {
      return await signedJwt(key, { header, claims }, { clock, httpTimeout, signal });
    } catch (error) {
      signIns.refused(startedAt);
      throw new ProviderUnavailableError(SIGNATURE_FAILED, { cause: error });
    } finally {
      release?.();
    }
  }

  return { create, assertReadyToSignIn: signIns.assertReady };
}

/** @throws ProviderUnavailableError the provider accepts none of the key's algorithms */
function acceptedAlgorithm(
  { algorithms }: ClientKey,
  { token_endpoint_auth_signing_alg_values_supported: accepted }: Metadata,
  connection: ProviderConnection,
): AssertionAlgorithm {
  const alg = assertionAlgorithm(algorithms, accepted, connection.settings.issuer);
  if (alg !== undefined) return alg;
  throw connection.misconfigured({
    endpoint: "token",
    reason: "client_assertion_algorithm",
    message: ({ env }) =>
      `The provider accepts none of the algorithms that the key of ${env("privateKey")} can sign with (${algorithms.join(", ")}). Use a key of another type.`,
  });
}

/**
 * Returns the algorithm of an assertion; undefined if the provider accepts none of the key's. Pure.
 *
 * @param accepted `token_endpoint_auth_signing_alg_values_supported`
 */
export function assertionAlgorithm(
  ofKey: readonly AssertionAlgorithm[],
  accepted: readonly string[] | undefined,
  issuer: string,
): AssertionAlgorithm | undefined {
  const isListed = accepted !== undefined && accepted.length > 0;
  if (ofKey.length === 1 && !isListed) return ofKey[0];
  const known = isListed ? accepted : [profileOf(issuer).assertion.algorithm];
  return PREFERRED.find((alg) => ofKey.includes(alg) && known.includes(alg));
}

/**
 * Returns `aud` of an assertion, one string: of the setting, or what this provider documents. Pure.
 */
export function assertionAudience(
  { issuer, clientAssertionAudience: given }: AudienceSettings,
  endpoint: string,
  metadata: Pick<Metadata, "token_endpoint" | "authorization_endpoint">,
): string {
  const { token_endpoint: tokenEndpoint } = metadata;
  const audience = given ?? profileOf(issuer, metadata).assertion.audience;
  return { issuer, token_endpoint: tokenEndpoint, endpoint }[audience];
}

import { randomBytes } from "node:crypto";
import { profileOf } from "../config/provider-profiles.js";
import type { ProviderSettings } from "../config/setting-table.js";
import type { ClientSignatures } from "./client-signatures.js";
import type { ProviderConnection } from "./provider-connection.js";

/** RFC 7523 section 2.2. */
export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** For which an assertion is valid. Our decision. */
const ASSERTION_SECONDS = 60;

/** What an assertion takes from the discovery document. */
interface Metadata {
  readonly authorization_endpoint?: string | undefined;
  readonly token_endpoint: string;
  readonly token_endpoint_auth_signing_alg_values_supported?: readonly string[] | undefined;
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

/**
 * Returns a new assertion that authenticates the client at one endpoint (`private_key_jwt`: OpenID
 * Connect Core section 9, RFC 7523).
 *
 * @throws ProviderUnavailableError the key cannot sign now, or the provider accepts none of its
 *   algorithms
 */
export function clientAssertion(
  { endpoint, metadata, signal }: AssertionRequest,
  signatures: ClientSignatures,
  connection: ProviderConnection,
): Promise<string> {
  const { settings } = connection;
  return signatures.sign({
    typ: "JWT",
    accepted: metadata.token_endpoint_auth_signing_alg_values_supported,
    claims: (now) => ({
      iss: settings.clientId,
      sub: settings.clientId,
      aud: assertionAudience(settings, endpoint, metadata),
      jti: randomBytes(16).toString("base64url"),
      iat: now,
      exp: now + ASSERTION_SECONDS,
    }),
    signal,
    unacceptable: (message) =>
      connection.misconfigured({
        endpoint: "token",
        reason: "client_assertion_algorithm",
        message,
      }),
  });
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

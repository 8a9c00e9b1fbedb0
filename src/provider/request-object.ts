/** The parameters of a login as a JWT that the client signs (JAR, RFC 9101). */
import { randomBytes } from "node:crypto";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { signingKey } from "../keys/client-keys.js";
import type { ClientSignatures } from "./client-signatures.js";
import { jsonObject } from "./http-to-provider.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/** RFC 9101 section 10.8: another JWT of the client can't pass for a request object. */
const TYPE = "oauth-authz-req+jwt";

/**
 * For which a request object is valid. A browser brings it at once, but some providers verify it
 * again when the user reloads their page, and FAPI 2.0 Message Signing (section 5.3.1) allows an
 * hour. State, nonce and PKCE bind it to one login, whoever repeats it. Our decision.
 */
const REQUEST_SECONDS = 300;

export interface RequestObjects {
  /**
   * Whether the parameters of a login are signed.
   * @throws ProviderUnavailableError `request_object_required`: there is no private key
   */
  areRequired(metadata: ProviderMetadata): boolean;
  /**
   * Returns the parameters that carry those of a login as a request object.
   *
   * @throws ProviderUnavailableError the key cannot sign now, or the provider accepts none of its
   *   algorithms
   */
  sign(metadata: ProviderMetadata, parameters: AuthorizationParams): Promise<SignedParameters>;
}

/** All that is left outside of a request object. */
type SignedParameters = Readonly<Record<"client_id" | "request", string>>;

export function createRequestObjects(
  connection: ProviderConnection,
  signatures: ClientSignatures,
): RequestObjects {
  const { settings } = connection;

  function areRequired(metadata: ProviderMetadata): boolean {
    if (!signsRequests(settings, metadata)) return false;
    if (signingKey(settings.privateKey) !== undefined) return true;
    throw connection.misconfigured({
      endpoint: "authorization",
      reason: "request_object_required",
      message: ({ env }) =>
        `The provider requires signed request objects (JAR, RFC 9101), but no private key is set. Set ${env("privateKey")}, or turn the requirement off for this client.`,
    });
  }

  async function sign(
    metadata: ProviderMetadata,
    parameters: AuthorizationParams,
  ): Promise<SignedParameters> {
    signatures.assertReadyToSignIn();
    const request = await signatures.sign({
      typ: TYPE,
      accepted: metadata.request_object_signing_alg_values_supported,
      claims: (now) => ({
        ...requestClaims(parameters, settings),
        iat: now,
        nbf: now,
        exp: now + REQUEST_SECONDS,
      }),
      signal: undefined,
      unacceptable: (message) =>
        connection.misconfigured({
          endpoint: "authorization",
          reason: "request_object_algorithm",
          message,
        }),
    });
    return { client_id: settings.clientId, request };
  }

  return { areRequired, sign };
}

/** Whether a login's parameters are signed. */
export function signsRequests(
  { signedRequests }: Pick<ProviderSettings, "signedRequests">,
  document: { readonly require_signed_request_object?: unknown },
): boolean {
  return signedRequests === "always" || document.require_signed_request_object === true;
}

/** The parameters that aren't strings in a JWT, and how their text is read. */
const READ = new Map<string, (text: string) => unknown>([
  ["max_age", wholeNumber],
  ["claims", (text) => jsonObject({ text })],
  ["authorization_details", listIn],
]);

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function listIn(text: string): readonly unknown[] | undefined {
  const list = jsonObject({ text: `{"list":${text}}` })?.["list"];
  return Array.isArray(list) ? list : undefined;
}

/** Returns the claims of a request object besides its times (RFC 9101 section 4). Pure. */
export function requestClaims(
  parameters: AuthorizationParams,
  { clientId, issuer }: Pick<ProviderSettings, "clientId" | "issuer">,
): Readonly<Record<string, unknown>> {
  // Section 10.8: with a `sub`, it could pass for a client assertion.
  const { sub: _sub, ...others } = parameters;
  const entries = Object.entries(others).flatMap(([name, values]): [string, unknown][] => {
    const [value, ...more] = [values].flat();
    // An empty list removes a parameter.
    if (value === undefined) return [];
    return [[name, more.length > 0 ? [value, ...more] : (READ.get(name)?.(value) ?? value)]];
  });
  return {
    ...Object.fromEntries(entries),
    iss: clientId,
    aud: issuer,
    jti: randomBytes(16).toString("base64url"),
  };
}

/** What FAPI 2.0 Security Profile (Final) demands of a provider, as its discovery document shows it. */
import { isUnencrypted } from "../config/check-common-settings.js";
import { ENDPOINT_NAMES } from "../config/endpoints-kind.js";
import type { ProviderSettings } from "../config/setting-table.js";
import type { Document } from "./endpoints-in-use.js";
import type { ProviderConnection } from "./provider-connection.js";
import {
  responseAlgorithms,
  signingAlgorithms,
  stringsOf,
  type ProviderMetadata,
} from "./provider-metadata.js";

/** Something that the profile demands, and that the document doesn't show. */
export interface ProfileProblem {
  readonly reason: "fapi_iss" | "fapi_pkce" | "fapi_algorithms" | "fapi_https";
  /** A sentence without its full stop. */
  readonly words: string;
}

/**
 * Returns the problems, none if `IDP_FAPI` is unset. That the document has an endpoint for pushed
 * requests is checked where they are required. Pure.
 *
 * @param document with the endpoints in use
 */
export function profileProblems(
  document: Document,
  settings: Pick<ProviderSettings, "fapi" | "responseMode">,
): readonly ProfileProblem[] {
  if (settings.fapi !== 2) return [];
  const problems: ProfileProblem[] = [];
  const isSigned = settings.responseMode === "jwt";
  // A signed response has an issuer of its own (RFC 9207 section 2.4).
  if (!isSigned && document["authorization_response_iss_parameter_supported"] !== true)
    problems.push({
      reason: "fapi_iss",
      words:
        "doesn't advertise `iss` in its authorization responses (RFC 9207, FAPI 2.0 section 5.3.2.2)",
    });
  if (stringsOf(document["code_challenge_methods_supported"])?.includes("S256") !== true)
    problems.push({
      reason: "fapi_pkce",
      words: "doesn't advertise PKCE with S256 (RFC 7636, FAPI 2.0 section 5.3.2.2)",
    });
  const unsigned = [
    ...(signingAlgorithms(document, settings).length > 0 ? [] : ["ID tokens"]),
    ...(!isSigned || responseAlgorithms(document, settings).length > 0 ? [] : ["responses"]),
  ];
  for (const what of unsigned)
    problems.push({
      reason: "fapi_algorithms",
      words: `doesn't sign ${what} with PS256, ES256 or EdDSA (FAPI 2.0 section 5.4.1)`,
    });
  const open = ENDPOINT_NAMES.filter((name) => {
    const address = document[name];
    return typeof address === "string" && isUnencrypted(address);
  });
  if (open.length > 0)
    problems.push({
      reason: "fapi_https",
      words: `has an http address for ${open.join(", ")} (FAPI 2.0 section 5.2.1)`,
    });
  return problems;
}

/**
 * Checks the document before a login. Sessions that exist go on: their tokens are as safe as before.
 * @throws ProviderUnavailableError with the reason of the first problem
 */
export function assertProfile(metadata: ProviderMetadata, connection: ProviderConnection): void {
  const [problem] = profileProblems(metadata, connection.settings);
  if (problem === undefined) return;
  throw connection.misconfigured({
    endpoint: "discovery",
    reason: problem.reason,
    message: ({ env }) =>
      `${env("fapi")} is 2, but the provider ${problem.words}. Turn it on at the provider, or remove ${env("fapi")}.`,
  });
}

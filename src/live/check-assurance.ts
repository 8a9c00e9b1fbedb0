// Compares what the discovery document says of bound tokens and of signed requests and responses with
// the settings. All functions are pure.
import type { UnnamedFinding } from "../config/findings.js";
import type { Settings } from "../config/read-settings.js";
import { assertionAlgorithm, usableAlgorithms } from "../provider/client-signatures.js";
import { withEndpointsInUse, type Document } from "../provider/endpoints-in-use.js";
import { profileProblems } from "../provider/fapi-document.js";
import { responseAlgorithms, stringsOf } from "../provider/provider-metadata.js";
import { signsRequests } from "../provider/request-object.js";
import { liveCheck } from "./live-check-table.js";

/** The algorithm of every proof. */
const PROOF_ALGORITHM = "ES256";

export function assuranceFindings(document: Document, settings: Settings): UnnamedFinding[] {
  return [
    ...requestObjectFindings(document, settings),
    ...bindingFindings(document, settings),
    ...responseFindings(document, settings),
    ...profileProblems(withEndpointsInUse(document, settings), settings).map(({ words }) =>
      liveCheck("E118", ({ env }) => `${env("fapi")} is 2, but the provider ${words}.`),
    ),
  ];
}

function requestObjectFindings(document: Document, settings: Settings): UnnamedFinding[] {
  if (!signsRequests(settings, document)) return [];
  const usable = usableAlgorithms(settings);
  if (usable === undefined) return [liveCheck("E114")];
  const accepted = stringsOf(document["request_object_signing_alg_values_supported"]);
  if (assertionAlgorithm(usable, accepted, settings.issuer) !== undefined) return [];
  return [
    liveCheck(
      "E114",
      ({ label }) =>
        `The provider doesn't accept any algorithm with which the key of ${label("privateKey")} can sign requests (${usable.join(", ")}), so nobody can sign in.`,
      "Use a key of another type, or have the provider accept one of these algorithms.",
    ),
  ];
}

function bindingFindings(document: Document, settings: Settings): UnnamedFinding[] {
  const { dpop, clientCertificate } = settings;
  const algorithms = stringsOf(document["dpop_signing_alg_values_supported"]);
  if (dpop)
    return algorithms?.includes(PROOF_ALGORITHM) === true
      ? []
      : [
          liveCheck("W114", ({ env }) =>
            algorithms === undefined
              ? `${env("dpop")} is on, but the discovery document doesn't advertise DPoP (\`dpop_signing_alg_values_supported\`).`
              : `${env("dpop")} is on, but the discovery document doesn't list ${PROOF_ALGORITHM}, with which idpauth signs its proofs, in \`dpop_signing_alg_values_supported\`.`,
          ),
        ];
  const isBound = document["tls_client_certificate_bound_access_tokens"] === true;
  if (clientCertificate === null || isBound) return [];
  return [
    liveCheck(
      "W114",
      ({ env }) =>
        `${env("clientCertificate")} is set, but the discovery document doesn't advertise access tokens that are bound to it (\`tls_client_certificate_bound_access_tokens\`).`,
    ),
  ];
}

function responseFindings(document: Document, settings: Settings): UnnamedFinding[] {
  if (settings.responseMode !== "jwt") return [];
  const modes = stringsOf(document["response_modes_supported"]) ?? [];
  return [
    ...(modes.some((mode) => mode === "jwt" || mode === "query.jwt") ? [] : [liveCheck("W115")]),
    ...(responseAlgorithms(document, settings).length > 0 ? [] : [liveCheck("E119")]),
  ];
}

/** What the document demands or offers of all this, in words. */
export function assuranceFact(document: Document): readonly string[] {
  const proofs = stringsOf(document["dpop_signing_alg_values_supported"]);
  const isListed = (name: string, value: string) =>
    stringsOf(document[name])?.includes(value) === true;
  return [
    ...(proofs === undefined ? [] : ["DPoP"]),
    ...(document["tls_client_certificate_bound_access_tokens"] === true
      ? ["certificate-bound tokens"]
      : []),
    ...(isListed("token_endpoint_auth_methods_supported", "tls_client_auth") ||
    isListed("token_endpoint_auth_methods_supported", "self_signed_tls_client_auth")
      ? ["client certificates"]
      : []),
    ...signedRequestsIn(document),
    ...(isListed("response_modes_supported", "jwt") ? ["signed responses"] : []),
  ];
}

function signedRequestsIn(document: Document): readonly string[] {
  if (document["require_signed_request_object"] === true) return ["signed requests (required)"];
  // OpenID Connect Discovery section 3: false if it is absent.
  return document["request_parameter_supported"] === true ? ["signed requests"] : [];
}

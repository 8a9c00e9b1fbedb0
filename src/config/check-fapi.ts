// What FAPI 2.0 Security Profile (Final) forbids of the settings of one provider: one finding each, with
// the section that says so.
import { signingKey } from "../keys/client-keys.js";
import { authenticatesByTls } from "./check-certificates.js";
import { isUnencrypted, originsIn } from "./check-common-settings.js";
import { providerCheck, type UnnamedFinding } from "./findings.js";
import { profileOf } from "./provider-profiles.js";
import { textWith, type SettingText } from "./setting-names.js";
import type { SettingName, Values } from "./setting-table.js";
import { profileAlgorithms } from "./signing-algorithms.js";

/** @param what the finding, as the end of a sentence */
function forbidden(what: SettingText, section: string, remedy: SettingText): UnnamedFinding {
  return providerCheck(
    "E041",
    (names) =>
      `${names.label("fapi")} is 2, but ${textWith(names, what)} (FAPI 2.0, section ${section}).`,
    remedy,
  );
}

/** What the profile forbids. Nothing if `IDP_FAPI` is unset. A refused value is undefined here. */
export function fapiFindings(values: Values): UnnamedFinding[] {
  if (values.fapi !== 2) return [];
  return [
    ...pushFindings(values),
    ...authenticationFindings(values),
    ...bindingFindings(values),
    ...addressFindings(values),
    ...metadataFindings(values),
    ...algorithmFindings(values),
  ];
}

function pushFindings({ pushedRequests }: Values): UnnamedFinding[] {
  if (pushedRequests !== "when-required") return [];
  return [
    forbidden(
      ({ label }) => `${label("pushedRequests")} isn't \`always\``,
      "5.3.3.2",
      ({ env }) => `Set ${env("pushedRequests")} to \`always\`.`,
    ),
  ];
}

/** Whether the client signs assertions (`private_key_jwt`). */
function signsAssertions({ privateKey, tokenEndpointAuthMethod, appleTeamId }: Values): boolean {
  return Boolean(privateKey) && !authenticatesByTls(tokenEndpointAuthMethod) && !appleTeamId;
}

function authenticationFindings(values: Values): UnnamedFinding[] {
  const { privateKey, tokenEndpointAuthMethod, issuer } = values;
  const findings: UnnamedFinding[] = [];
  const isUnknown = privateKey === undefined || tokenEndpointAuthMethod === undefined;
  if (!isUnknown && !signsAssertions(values) && !authenticatesByTls(tokenEndpointAuthMethod))
    findings.push(
      forbidden(
        "the client authenticates with a secret",
        "5.3.3.1",
        ({ env }) =>
          `Set ${env("privateKey")}, or set ${env("tokenEndpointAuthMethod")} to \`tls_client_auth\` or \`self_signed_tls_client_auth\`.`,
      ),
    );
  const audience =
    values.clientAssertionAudience ?? (issuer && profileOf(issuer).assertion.audience);
  if (signsAssertions(values) && audience !== undefined && audience !== "issuer")
    findings.push(
      forbidden(
        ({ label }) => `${label("clientAssertionAudience")} isn't \`issuer\``,
        "5.3.3.1",
        ({ env }) => `Set ${env("clientAssertionAudience")} to \`issuer\`.`,
      ),
    );
  return findings;
}

function bindingFindings({ dpop, clientCertificate }: Values): UnnamedFinding[] {
  if (dpop !== false || clientCertificate !== null) return [];
  return [
    forbidden(
      ({ label }) =>
        `access tokens aren't bound to the client: ${label("dpop")} is off, and ${label("clientCertificate")} isn't set`,
      "5.3.3.1",
      ({ env }) => `Set ${env("dpop")} to true, or set ${env("clientCertificate")}.`,
    ),
  ];
}

function addressFindings(values: Values): UnnamedFinding[] {
  const { issuer, discoveryUrl, providerMetadata = {}, baseUrl, callbackOrigin } = values;
  const given: readonly [SettingName, readonly (string | null | undefined)[]][] = [
    ["issuer", [issuer]],
    ["discoveryUrl", [discoveryUrl]],
    ["providerMetadata", Object.values(providerMetadata)],
    ["baseUrl", originsIn(baseUrl) ?? []],
    ["callbackOrigin", [callbackOrigin]],
  ];
  return given
    .filter(([, addresses]) =>
      addresses.some((one) => typeof one === "string" && isUnencrypted(one)),
    )
    .map(([name]) =>
      forbidden(
        ({ label }) => `${label(name)} contains an http address of another machine`,
        "5.2.1",
        "Use https.",
      ),
    );
}

/** The profile says nothing of logouts at the provider. */
const OUTSIDE_PROFILE = "end_session_endpoint";

function metadataFindings({ providerMetadata = {} }: Values): UnnamedFinding[] {
  const own = Object.keys(providerMetadata).filter((name) => name !== OUTSIDE_PROFILE);
  if (own.length === 0) return [];
  return [
    forbidden(
      ({ label }) =>
        `${label("providerMetadata")} sets ${own.join(", ")}, which may only come from the discovery document`,
      "5.3.3.1",
      ({ env }) => `Remove ${own.join(", ")} from ${env("providerMetadata")}.`,
    ),
  ];
}

function algorithmFindings(values: Values): UnnamedFinding[] {
  const { privateKey, idTokenSignedResponseAlg: algorithm } = values;
  const findings: UnnamedFinding[] = [];
  const key = signingKey(privateKey);
  if (key !== undefined && profileAlgorithms(key.algorithms, values).length === 0)
    findings.push(
      forbidden(
        ({ label }) =>
          `the first key in ${label("privateKey")} signs with ${key.algorithms.join()}`,
        "5.4.1",
        "Use a key for PS256, ES256 or EdDSA. `npx idpauth keys` creates one.",
      ),
    );
  if (algorithm && profileAlgorithms([algorithm], values).length === 0)
    findings.push(
      forbidden(
        ({ label }) => `${label("idTokenSignedResponseAlg")} is ${algorithm}`,
        "5.4.1",
        ({ env }) =>
          `Set ${env("idTokenSignedResponseAlg")} to PS256, ES256 or EdDSA, as at the provider, or remove it.`,
      ),
    );
  return findings;
}

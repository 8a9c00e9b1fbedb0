// What the settings of one provider violate: required settings, values that contradict each other,
// and values that are probably mistakes.
import { isCertificateOf, signingKey } from "../keys/client-keys.js";
import { authenticatesByTls, certificateFindings } from "./check-certificates.js";
import { isUnencrypted } from "./check-common-settings.js";
import { fapiFindings } from "./check-fapi.js";
import { isInternal } from "./endpoints-kind.js";
import { providerCheck as check, type UnnamedFinding } from "./findings.js";
import { DEFAULT_ISSUER, profileOf } from "./provider-profiles.js";
import { RESERVED_PARAMETERS, reserved } from "./reserved-parameters.js";
import type { SettingText } from "./setting-names.js";
import type { SettingName, Values } from "./setting-table.js";
import { issuerTemplate } from "./tenant-issuers.js";

/**
 * What the settings of one provider violate.
 * @param unset the settings without a value in the environment or in code
 */
export function providerFindings(
  values: Values,
  unset: ReadonlySet<SettingName>,
): UnnamedFinding[] {
  const { authorizationParams = {} } = values;
  return [
    ...missing(values, unset),
    ...keyFindings(values, unset),
    ...certificateFindings(values),
    ...(values.signedRequests === "always" && unset.has("privateKey") ? [check("E040")] : []),
    ...appleFindings(values),
    ...tenantFindings(values),
    ...insecureProvider(values),
    ...fapiFindings(values),
    ...scopeFindings(values, unset),
    ...reserved("authorizationParams", Object.keys(authorizationParams), RESERVED_PARAMETERS),
  ];
}

/** What the settings of the only provider violate, which has no key. @param unset as above */
export function singleFindings(values: Values, unset: ReadonlySet<SettingName>): UnnamedFinding[] {
  const { clientIdEnd } = profileOf(DEFAULT_ISSUER);
  const { clientId = clientIdEnd } = values;
  return [
    ...(unset.has("issuer") && !clientId.endsWith(clientIdEnd) ? [check("W022")] : []),
    ...providerFindings(values, unset),
  ];
}

function missing(
  { tokenEndpointAuthMethod: method }: Values,
  unset: ReadonlySet<SettingName>,
): UnnamedFinding[] {
  const hasSecret = unset.has("privateKey") && !authenticatesByTls(method);
  const client = (["clientId", "clientSecret"] as const).filter(
    (name) => unset.has(name) && (name === "clientId" || hasSecret),
  );
  return client.length === 0
    ? []
    : [
        check(
          "E003",
          ({ label }) =>
            `${client.map(label).join(" and ")} ${client.length === 1 ? "is" : "are"} missing, empty or blank.`,
        ),
      ];
}

/**
 * A key replaces the secret and the setting of how the secret is sent. With a certificate that
 * authenticates, it can only sign login requests.
 */
function keyFindings(values: Values, unset: ReadonlySet<SettingName>): UnnamedFinding[] {
  const { privateKey, certificate, signedRequests } = values;
  const findings: UnnamedFinding[] = [];
  const hasKey = !unset.has("privateKey");
  const hasSecret = !unset.has("clientSecret");
  if (authenticatesByTls(values.tokenEndpointAuthMethod)) {
    if (hasSecret) findings.push(secondBesidesTls("clientSecret"));
    if (hasKey && signedRequests !== "always") findings.push(secondBesidesTls("privateKey"));
  } else if (hasKey && (hasSecret || !unset.has("tokenEndpointAuthMethod")))
    findings.push(check("E023"));
  const key = signingKey(privateKey);
  if (certificate && (!hasKey || (key !== undefined && !isCertificateOf(certificate, key))))
    findings.push(check("E025"));
  return findings;
}

function secondBesidesTls(name: "clientSecret" | "privateKey"): UnnamedFinding {
  return check(
    "E023",
    ({ label }) =>
      `${label(name)} is set, but with ${label("tokenEndpointAuthMethod")} the client authenticates with its certificate.`,
    ({ env }) =>
      name === "clientSecret"
        ? `Remove ${env(name)}, or choose a method in ${env("tokenEndpointAuthMethod")} that sends it.`
        : `Remove ${env("tokenEndpointAuthMethod")} to authenticate with the key; the certificate then only binds tokens. If the key is to sign login requests, set ${env("signedRequests")} to \`always\`. Otherwise, remove ${env(name)}.`,
  );
}

/** Apple's client secret, and how its response comes. */
function appleFindings(values: Values): UnnamedFinding[] {
  const { appleTeamId, appleKeyId, privateKey, issuer, responseMode, scope } = values;
  const findings: UnnamedFinding[] = [];
  // A refused value is undefined here.
  const isSet = [appleTeamId, appleKeyId].some((value) => typeof value === "string");
  const isUnset = [appleTeamId, appleKeyId, privateKey].some((value) => value === null);
  if (isSet && isUnset)
    findings.push(
      check(
        "E031",
        ({ label }) =>
          `${label("appleTeamId")}, ${label("appleKeyId")} and ${label("privateKey")} belong together, but one of them isn't set.`,
      ),
    );
  const key = signingKey(privateKey);
  if (isSet && key?.algorithms.includes("ES256") === false)
    findings.push(
      check(
        "E031",
        ({ label }) =>
          `The first key in ${label("privateKey")} can't sign with ES256, which Apple demands.`,
      ),
    );
  const asksIdentity = scope?.some((one) => one !== "openid") === true;
  if (
    responseMode === "query" &&
    issuer !== undefined &&
    profileOf(issuer).postsIdentity &&
    asksIdentity
  )
    findings.push(
      check(
        "E031",
        ({ label }) =>
          `${label("responseMode")} isn't \`form_post\`, but Apple refuses a login that requests the name or the e-mail address without it.`,
      ),
    );
  return findings;
}

function tenantFindings({ issuer, allowedTenants }: Values): UnnamedFinding[] {
  // A refused value is undefined here.
  if (issuer === undefined || allowedTenants === undefined) return [];
  const isForTenants = issuerTemplate(issuer) !== undefined;
  if (isForTenants === (allowedTenants !== null)) return [];
  return isForTenants
    ? [
        check(
          "E018",
          ({ label }) =>
            `${label("issuer")} is Entra ID's address for several tenants, but ${label("allowedTenants")} isn't set.`,
        ),
      ]
    : [
        check(
          "E019",
          ({ label }) =>
            `${label("allowedTenants")} is set, but ${label("issuer")} is the issuer of a single tenant, or of another provider.`,
        ),
      ];
}

const UNENCRYPTED_DISCOVERY: SettingText = ({ label }) =>
  `${label("discoveryUrl")} is an http address of another machine, so the client secret and tokens are sent to it unencrypted, and whoever controls the network can sign in as any user.`;
const OWN_NETWORK =
  "Use an https address, unless the network between your application and the provider is your own.";

function insecureProvider(values: Values): UnnamedFinding[] {
  const { issuer, debug, discoveryUrl } = values;
  const findings: UnnamedFinding[] = [];
  if (issuer !== undefined && isUnencrypted(issuer))
    findings.push(check(debug === true ? "W011" : "E008"));
  for (const [name, endpoint] of Object.entries(values.providerMetadata ?? {})) {
    const message: SettingText = ({ label }) =>
      `The ${name} in ${label("providerMetadata")} is an http address of another machine. Secrets and tokens are sent unencrypted.`;
    if (isUnencrypted(endpoint) && !isInternal(name, new URL(endpoint), discoveryUrl))
      findings.push(check(debug === true ? "W011" : "E008", message));
  }
  if (typeof discoveryUrl === "string" && isUnencrypted(discoveryUrl))
    findings.push(check("W011", UNENCRYPTED_DISCOVERY, OWN_NETWORK));
  return findings;
}

function scopeFindings(values: Values, unset: ReadonlySet<SettingName>): UnnamedFinding[] {
  const { scope, issuer, sessionAutoRefresh } = values;
  if (unset.has("scope")) return [check("E004")];
  if (scope === undefined) return [];
  const findings: UnnamedFinding[] = [];
  if (!scope.includes("openid")) findings.push(check("E005"));
  if (
    sessionAutoRefresh === true &&
    issuer !== undefined &&
    profileOf(issuer).offline === "offline_access" &&
    !scope.includes("offline_access")
  ) {
    findings.push(check("W004"));
  }
  return findings;
}

/** What a discovery document must have, and what idpauth reads of it. */
import type { AuthorizationServer } from "oauth4webapi";
import { quoted } from "../config/describe-value.js";
import { isInternal, type Endpoints } from "../config/endpoints-kind.js";
import type { SettingText } from "../config/setting-names.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { profileAlgorithms, SIGNING_ALGORITHMS } from "../config/signing-algorithms.js";
import { isTemplate } from "../config/tenant-issuers.js";
import { ProviderUnavailableError } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import { parseUrl } from "../http/redirects.js";
import { tenantsOf, type TenantSettings } from "./allowed-tenants.js";
import { asksForRetry } from "./back-off.js";
import { documentSource, type DocumentSettings } from "./discovery-request.js";
import {
  replacedEndpoints,
  showsCertificate,
  withEndpointsInUse,
  type Document,
  type EndpointSettings,
} from "./endpoints-in-use.js";
import { ADDRESS_REFUSED, jsonObject, type ProviderResponse } from "./http-to-provider.js";

/**
 * The used part of the discovery document (OpenID Connect Discovery section 3). Every member is
 * checked.
 */
export interface ProviderMetadata extends AuthorizationServer {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  /** The accepted (asymmetric) algorithms for ID tokens; default RS256. */
  readonly id_token_signing_alg_values_supported: string[];
  readonly prompt_values_supported?: string[];
  /** The ordinary addresses of endpoints whose aliases are used (RFC 8705 section 5). */
  readonly replaced_endpoints: string[];
}

/** The settings that decide whether requests may be unencrypted. */
interface HttpSettings {
  readonly issuer: string;
  readonly debug: boolean;
}

/** Whether requests to this provider may be unencrypted: on this machine, or in debug mode. */
export function allowsHttp({ issuer, debug }: HttpSettings): boolean {
  const url = parseUrl(issuer);
  return url?.protocol === "http:" && (debug || isLoopback(url.hostname));
}

/** The settings that decide which endpoints may be unencrypted. */
interface Addresses
  extends HttpSettings, DocumentSettings, Pick<EndpointSettings, "clientCertificate"> {}

/**
 * Whether requests to an endpoint of the discovery document may be unencrypted: in debug mode, if
 * both provider and endpoint are on this machine, or at the origin of IDP_DISCOVERY_URL.
 */
function allowsHttpTo(name: keyof Endpoints, endpoint: URL, settings: Addresses): boolean {
  return (
    settings.debug ||
    (allowsHttp(settings) && isLoopback(endpoint.hostname)) ||
    isInternal(name, endpoint, settings.discoveryUrl)
  );
}

/**
 * Returns the error for a wrong configuration, which only an operator or the provider can correct.
 */
export type MisconfiguredAs = (reason: string, message: SettingText) => ProviderUnavailableError;

/** What a document is read with. */
export interface ReadParts {
  readonly misconfiguredAs: MisconfiguredAs;
  /** Whether idpauth may use this address. Default: any. */
  readonly allows?: ((address: URL) => boolean) | undefined;
}

export function readDocument(
  response: ProviderResponse,
  settings: ProviderSettings,
  { misconfiguredAs, allows = () => true }: ReadParts,
): ProviderMetadata {
  const document = documentOf(response, documentSource(settings).setting, misconfiguredAs);
  assertIssuer(document["issuer"], settings, misconfiguredAs);
  const addresses = withEndpointsInUse(document, settings);
  const usable = (name: keyof Endpoints): string | undefined => {
    const endpoint = usableEndpoint(name, addresses, settings);
    if (endpoint === undefined || allows(new URL(endpoint))) return endpoint;
    throw misconfiguredAs(
      ADDRESS_REFUSED,
      `The ${name} in the discovery document is an address that idpauth doesn't use: it isn't public, isn't https with port 443 or a port above 1023, or is the application's own.`,
    );
  };
  const required = (name: keyof Endpoints): string => {
    const endpoint = usable(name);
    if (endpoint === undefined)
      throw misconfiguredAs("discovery_endpoint", `The discovery document has no usable ${name}.`);
    return endpoint;
  };
  return {
    issuer: settings.issuer,
    replaced_endpoints: replacedEndpoints(document, settings),
    authorization_endpoint: required("authorization_endpoint"),
    token_endpoint: required("token_endpoint"),
    jwks_uri: required("jwks_uri"),
    userinfo_endpoint: usable("userinfo_endpoint"),
    revocation_endpoint: usable("revocation_endpoint"),
    end_session_endpoint: usable("end_session_endpoint"),
    pushed_authorization_request_endpoint: usable("pushed_authorization_request_endpoint"),
    scopes_supported: stringsOf(document["scopes_supported"]),
    grant_types_supported: stringsOf(document["grant_types_supported"]),
    code_challenge_methods_supported: stringsOf(document["code_challenge_methods_supported"]),
    prompt_values_supported: stringsOf(document["prompt_values_supported"]),
    id_token_signing_alg_values_supported: signingAlgorithms(document, settings),
    authorization_signing_alg_values_supported: responseAlgorithms(document, settings),
    token_endpoint_auth_signing_alg_values_supported: stringsOf(
      document["token_endpoint_auth_signing_alg_values_supported"],
    ),
    request_object_signing_alg_values_supported: stringsOf(
      document["request_object_signing_alg_values_supported"],
    ),
    revocation_endpoint_auth_methods_supported: stringsOf(
      document["revocation_endpoint_auth_methods_supported"],
    ),
    authorization_response_iss_parameter_supported:
      document["authorization_response_iss_parameter_supported"] === true,
    require_pushed_authorization_requests:
      document["require_pushed_authorization_requests"] === true,
    require_signed_request_object: document["require_signed_request_object"] === true,
    claims_parameter_supported: document["claims_parameter_supported"] === true,
  } as ProviderMetadata;
}

/**
 * Returns an endpoint that idpauth may use.
 * @param document with the endpoints in use
 */
export function usableEndpoint(
  name: keyof Endpoints,
  document: Document,
  settings: Addresses,
): string | undefined {
  const endpoint = document[name];
  return endpointProblem(name, endpoint, settings) === undefined ? (endpoint as string) : undefined;
}

function documentOf(
  response: ProviderResponse,
  setting: "issuer" | "discoveryUrl",
  misconfiguredAs: MisconfiguredAs,
): Document {
  const { status } = response;
  if (status >= 300 && status < 400) {
    const target = quoted(response.headers.get("location") ?? undefined) || "an unknown address";
    throw misconfiguredAs(
      "redirect",
      ({ env }) =>
        `The discovery document of ${env(setting)} redirects (${String(status)}) to ${target}. Set ${env(setting)} to the ${setting === "issuer" ? "issuer that serves the document" : "address that returns the document"} without a redirect.`,
    );
  }
  if (status !== 200) {
    const reason = `http_${String(status)}`;
    if (status < 400 || asksForRetry(status)) throw new ProviderUnavailableError(reason);
    throw misconfiguredAs(
      reason,
      ({ env }) =>
        `The request for the discovery document of ${env(setting)} returned status ${String(status)}. Compare ${env(setting)} with the provider's ${setting === "issuer" ? "issuer" : "documentation"}.`,
    );
  }
  const document = jsonObject(response);
  if (document === undefined) throw new ProviderUnavailableError("not_json");
  return document;
}

function assertIssuer(
  issuer: unknown,
  settings: ProviderSettings,
  misconfiguredAs: MisconfiguredAs,
): void {
  const { issuer: configured } = settings;
  const expected = expectedIssuer(settings);
  if (issuer === expected) return;
  if (typeof issuer === "string" && isTemplate(issuer)) {
    throw misconfiguredAs(
      "issuer_template",
      ({ env }) =>
        `The issuer in the discovery document is ${quotedIssuer(issuer)}, for several tenants. For Entra ID, set ${env("issuer")} to exactly https://login.microsoftonline.com/organizations/v2.0 or https://login.microsoftonline.com/common/v2.0, and set ${env("allowedTenants")}.`,
    );
  }
  throw misconfiguredAs("issuer_mismatch", ({ env }) =>
    expected === configured
      ? `The issuer in the discovery document is ${issuerInWords(issuer)}, but ${env("issuer")} is ${quotedIssuer(configured)}. Both must be exactly equal.`
      : `The issuer in the discovery document is ${issuerInWords(issuer)}. With ${env("issuer")} ${quotedIssuer(configured)} it must be exactly ${quotedIssuer(expected)}.`,
  );
}

/**
 * Returns the issuer that the document must contain: exactly, including a slash at the end (OpenID
 * Connect Discovery section 4.3).
 */
export function expectedIssuer(settings: TenantSettings): string {
  return tenantsOf(settings)?.template ?? settings.issuer;
}

/** The setting that can exclude algorithms. */
type Profile = Pick<ProviderSettings, "fapi">;

/**
 * Returns the accepted algorithms that the provider announces for ID tokens; RS256 if it announces
 * none.
 */
export function signingAlgorithms(document: Document, profile: Profile): string[] {
  const announced = stringsOf(document["id_token_signing_alg_values_supported"]) ?? ["RS256"];
  return accepted(announced, profile);
}

/**
 * Returns those that it announces for authorization responses (JARM section 4). A list is optional:
 * without one, they are those of ID tokens.
 */
export function responseAlgorithms(document: Document, profile: Profile): string[] {
  const announced = stringsOf(document["authorization_signing_alg_values_supported"]);
  return announced === undefined
    ? signingAlgorithms(document, profile)
    : accepted(announced, profile);
}

function accepted(announced: readonly string[], profile: Profile): string[] {
  const known = SIGNING_ALGORITHMS.filter((algorithm) => announced.includes(algorithm));
  return profileAlgorithms(known, profile);
}

/** Returns why an endpoint cannot be used, after its name; undefined for a usable one. */
export function endpointProblem(
  name: keyof Endpoints,
  value: unknown,
  settings: Addresses,
): string | undefined {
  if (value === undefined) return "is missing";
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined) return "isn't an address";
  if (url.username !== "" || url.password !== "" || url.hash !== "")
    return "contains user info or a fragment, which isn't allowed";
  if (url.protocol === "http:" && showsCertificate(name, settings))
    return "is an http address, where no certificate is ever shown";
  if (url.protocol === "https:" || (url.protocol === "http:" && allowsHttpTo(name, url, settings)))
    return undefined;
  return url.protocol === "http:"
    ? "is an http address: secrets and tokens would be sent unencrypted"
    : "isn't an https address";
}

/** Returns the strings of a list; undefined if the value is not a list. */
export function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

/**
 * Quotes an issuer exactly, since one slash or letter can be the difference. Only control
 * characters are replaced.
 */
function quotedIssuer(issuer: string): string {
  return JSON.stringify(issuer.slice(0, 500)).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

function issuerInWords(issuer: unknown): string {
  return typeof issuer === "string" ? quotedIssuer(issuer) : "missing";
}

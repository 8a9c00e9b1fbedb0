import type { AuthorizationServer } from "oauth4webapi";
import { quoted } from "../config/describe-value.js";
import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { isLoopback } from "../http/loopback.js";
import { parseUrl } from "../http/redirects.js";
import { ENDPOINT_NAMES } from "../config/endpoints-kind.js";
import type { Clock } from "../clock.js";
import { jsonObject } from "./token-responses.js";
import type { BackOff } from "./endpoint-back-off.js";
import { untilAborted, type ProviderResponse, type Backchannel } from "./transport.js";
import { SIGNING_ALGORITHMS } from "./id-token.js";
import type { Misconfigurations } from "./misconfiguration.js";
import { isTemplate } from "../config/tenants.js";
import { oneAtATime } from "./one-at-a-time.js";
import type { ProviderSettings } from "./provider-settings.js";
import { tenantsOf } from "./tenants.js";

/** Milliseconds after which the document is fetched again in the background. */
const REFRESH_AFTER = 3600 * 1000;

/** The used part of the discovery document (OpenID Connect Discovery section 3). Every member is checked. */
export interface ProviderMetadata extends AuthorizationServer {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  /** The accepted (asymmetric) algorithms for ID tokens; default RS256. */
  readonly id_token_signing_alg_values_supported: string[];
  readonly prompt_values_supported?: string[];
}

export interface Discovery {
  /**
   * Returns the provider's metadata, from the cache or the provider. Metadata in the cache never expires, so that an outage
   * changes nothing.
   *
   * @param signal ends the wait of this call
   * @throws ProviderUnavailableError
   */
  current(signal?: AbortSignal): Promise<ProviderMetadata>;
}

interface DiscoveryOptions {
  readonly settings: ProviderSettings;
  readonly backchannel: Backchannel;
  readonly backOff: BackOff;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly misconfigurations: Misconfigurations;
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { settings, backchannel, backOff, clock, events, misconfigurations } = options;
  let cached: { readonly metadata: ProviderMetadata; readonly fetchedAt: number } | undefined;

  const fetchNow = oneAtATime(async () => {
    backOff.assertReady();
    const startedAt = clock.monotonic();
    let response: ProviderResponse | undefined;
    try {
      response = await fetchDocument(settings.issuer, backchannel);
      const metadata = readDocument(response, settings);
      backOff.succeeded();
      misconfigurations.resolved("discovery");
      cached = { metadata, fetchedAt: clock.monotonic() };
      return metadata;
    } catch (error) {
      const isMistake = error instanceof Mistake;
      if (!isMistake && !(error instanceof ProviderUnavailableError)) throw error;
      const retryAfter = backOff.failed(startedAt, { retryAfter: response?.headers.get("retry-after"), misconfigured: isMistake });
      const { reason } = error;
      const duration = clock.monotonic() - startedAt;
      const line = isMistake ? misconfigurations.lineOf({ endpoint: "discovery", reason, message: error.message }) : undefined;
      events.emit("outage", { issuer: settings.issuer, side: "provider", endpoint: "discovery", reason, duration }, line);
      if (isMistake) throw new ProviderUnavailableError(reason, { misconfigured: true });
      throw new ProviderUnavailableError(reason, { retryAfter, cause: error.cause });
    }
  });

  return {
    current(signal) {
      if (cached === undefined) return untilAborted(signal, fetchNow);
      if (clock.monotonic() - cached.fetchedAt >= REFRESH_AFTER && backOff.secondsLeft() === 0) {
        fetchNow().catch(() => undefined);
      }
      return Promise.resolve(cached.metadata);
    },
  };
}

/** Whether requests to this provider may be unencrypted: on this machine, or in debug mode. */
export function allowsHttp({ issuer, debug }: Pick<ProviderSettings, "issuer" | "debug">): boolean {
  const url = parseUrl(issuer);
  return url?.protocol === "http:" && (debug || isLoopback(url.hostname));
}

/**
 * Whether requests to an endpoint of the discovery document may be unencrypted: in debug mode, or if both provider and
 * endpoint are on this machine.
 */
export function allowsHttpTo(endpoint: URL, settings: Pick<ProviderSettings, "issuer" | "debug">): boolean {
  return settings.debug || (allowsHttp(settings) && isLoopback(endpoint.hostname));
}

const WELL_KNOWN = "/.well-known/openid-configuration";

/** Returns the address of an issuer's discovery document (OpenID Connect Discovery section 4). A slash at the issuer's end does not count. */
export function documentAddress(issuer: string): string {
  if (issuer.includes("/.well-known/")) return issuer;
  const url = new URL(issuer);
  url.pathname = `${url.pathname.replace(/\/$/, "")}${WELL_KNOWN}`;
  return url.href;
}

/** Fetches the document. Follows one redirect that only adds or removes a slash at the end, as some frameworks do. */
export async function fetchDocument(issuer: string, backchannel: Backchannel): Promise<ProviderResponse> {
  const request = { method: "GET", headers: { accept: "application/json" } };
  const address = documentAddress(issuer);
  const response = await backchannel.send(address, request);
  const target = redirectTarget(response, address);
  const isSlash = target !== undefined && target !== address && target.replace(/\/$/, "") === address.replace(/\/$/, "");
  return isSlash ? backchannel.send(target, request) : response;
}

function redirectTarget({ status, headers }: ProviderResponse, address: string): string | undefined {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  try {
    return location === null ? undefined : new URL(location, address).href;
  } catch {
    return undefined;
  }
}

/** A wrong configuration: only an operator, or the provider, can correct it. */
class Mistake extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

function readDocument(response: ProviderResponse, settings: ProviderSettings): ProviderMetadata {
  const { status } = response;
  if (status >= 300 && status < 400) {
    const target = quoted(response.headers.get("location") ?? undefined) || "an unknown address";
    throw new Mistake(
      "redirect",
      `The discovery document of IDP_ISSUER redirects (${String(status)}) to ${target}. Set IDP_ISSUER to the issuer that serves the document without a redirect.`,
    );
  }
  if (status !== 200) {
    const reason = `http_${String(status)}`;
    if (status < 400 || status >= 500 || status === 408 || status === 429) throw new ProviderUnavailableError(reason);
    throw new Mistake(
      reason,
      `The request for the discovery document of IDP_ISSUER returned status ${String(status)}. Compare IDP_ISSUER with the provider's issuer.`,
    );
  }
  const document = jsonObject(response);
  if (document === undefined) throw new ProviderUnavailableError("not_json");
  const { issuer } = document;
  // Exactly equal, including a slash at the end (OpenID Connect Discovery section 4.3).
  const expected = tenantsOf(settings)?.template ?? settings.issuer;
  if (issuer !== expected) {
    if (typeof issuer === "string" && isTemplate(issuer)) {
      throw new Mistake(
        "issuer_template",
        `The issuer in the discovery document is ${quotedIssuer(issuer)}, for several tenants. For Entra ID, set IDP_ISSUER to exactly https://login.microsoftonline.com/organizations/v2.0 or https://login.microsoftonline.com/common/v2.0, and set IDP_ALLOWED_TENANTS.`,
      );
    }
    throw new Mistake(
      "issuer_mismatch",
      expected === settings.issuer
        ? `The issuer in the discovery document is ${issuerInWords(issuer)}, but IDP_ISSUER is ${quotedIssuer(settings.issuer)}. The two must be exactly equal.`
        : `The issuer in the discovery document is ${issuerInWords(issuer)}. With IDP_ISSUER ${quotedIssuer(settings.issuer)} it must be exactly ${quotedIssuer(expected)}.`,
    );
  }
  const endpoints = new Map(
    ENDPOINT_NAMES.map((name) => [name as string, endpointOf(settings.providerMetadata[name] ?? document[name], settings)] as const),
  );
  const required = (name: string): string => {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) throw new Mistake("discovery_endpoint", `The discovery document has no usable ${name}.`);
    return endpoint;
  };
  const userinfo = endpoints.get("userinfo_endpoint");
  const revocation = endpoints.get("revocation_endpoint");
  const endSession = endpoints.get("end_session_endpoint");
  const scopes = document["scopes_supported"];
  const prompts = document["prompt_values_supported"];
  return {
    issuer: settings.issuer,
    authorization_endpoint: required("authorization_endpoint"),
    token_endpoint: required("token_endpoint"),
    jwks_uri: required("jwks_uri"),
    ...(userinfo !== undefined && { userinfo_endpoint: userinfo }),
    ...(revocation !== undefined && { revocation_endpoint: revocation }),
    ...(endSession !== undefined && { end_session_endpoint: endSession }),
    ...(Array.isArray(scopes) && { scopes_supported: textsIn(scopes) }),
    ...(Array.isArray(prompts) && { prompt_values_supported: textsIn(prompts) }),
    ...(document["require_pushed_authorization_requests"] === true && { require_pushed_authorization_requests: true }),
    ...(document["require_signed_request_object"] === true && { require_signed_request_object: true }),
    id_token_signing_alg_values_supported: signingAlgorithms(document["id_token_signing_alg_values_supported"]),
    ...(document["authorization_response_iss_parameter_supported"] === true && { authorization_response_iss_parameter_supported: true }),
  };
}

function signingAlgorithms(announced: unknown): string[] {
  return Array.isArray(announced) ? SIGNING_ALGORITHMS.filter((algorithm) => announced.includes(algorithm)) : ["RS256"];
}

/** Returns the value if it is an absolute https address without user info or fragment. http only if it is allowed. */
function endpointOf(value: unknown, settings: ProviderSettings): string | undefined {
  if (typeof value !== "string") return undefined;
  const url = parseUrl(value);
  if (url === undefined || url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && allowsHttpTo(url, settings)) ? value : undefined;
}

function textsIn(list: readonly unknown[]): string[] {
  return list.filter((item) => typeof item === "string");
}

/** Quotes an issuer exactly, since one slash or letter can be the difference. Only control characters are replaced. */
function quotedIssuer(issuer: string): string {
  return JSON.stringify(issuer.slice(0, 500)).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

function issuerInWords(issuer: unknown): string {
  return typeof issuer === "string" ? quotedIssuer(issuer) : "missing";
}

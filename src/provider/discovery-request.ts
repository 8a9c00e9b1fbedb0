/** Where the discovery document is, and how it is fetched. */
import type { ProviderHttp, ProviderResponse } from "./http-to-provider.js";

export const WELL_KNOWN = "/.well-known/openid-configuration";

/**
 * Returns the address of an issuer's discovery document (OpenID Connect Discovery section 4). A
 * slash at the issuer's end does not count.
 */
function documentAddress(issuer: string): string {
  if (issuer.includes("/.well-known/")) return issuer;
  const url = new URL(issuer);
  url.pathname = `${url.pathname.replace(/\/$/, "")}${WELL_KNOWN}`;
  return url.href;
}

/** The settings that say where the document is. */
export interface DocumentSettings {
  readonly issuer: string;
  /** Null: the issuer's. */
  readonly discoveryUrl: string | null;
}

/** Returns the address of a provider's discovery document, and the setting that it comes from. */
export function documentSource({ issuer, discoveryUrl }: DocumentSettings): {
  readonly address: string;
  readonly setting: "issuer" | "discoveryUrl";
} {
  return discoveryUrl === null
    ? { address: documentAddress(issuer), setting: "issuer" }
    : { address: discoveryUrl, setting: "discoveryUrl" };
}

/**
 * Fetches the document. Follows one redirect that only adds or removes a slash at the end, as some
 * frameworks do.
 */
export async function fetchDocument(
  settings: DocumentSettings,
  http: ProviderHttp,
): Promise<ProviderResponse> {
  const request = { method: "GET", headers: { accept: "application/json" } };
  const { address } = documentSource(settings);
  const response = await http.send(address, request);
  const target = redirectTarget(response, address);
  const isSlash =
    target !== undefined &&
    target !== address &&
    target.replace(/\/$/, "") === address.replace(/\/$/, "");
  return isSlash ? http.send(target, request) : response;
}

/**
 * Returns the absolute address that a redirect leads to; undefined for another response, and
 * without a usable Location.
 */
export function redirectTarget(
  { status, headers }: ProviderResponse,
  address: string,
): string | undefined {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  return location !== null && URL.canParse(location, address)
    ? new URL(location, address).href
    : undefined;
}

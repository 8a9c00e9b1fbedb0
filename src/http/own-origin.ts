/** The application's own origin and the browser's address, as the browser, or a trusted proxy, says. */
import { requestOrigin, type Origin } from "./redirects.js";
import type { IdpRequest } from "./request.js";

export interface AddressSettings {
  readonly baseUrl: string | null;
  /** Forwarded headers are used only if this setting, or the framework's own setting, allows it. */
  readonly trustProxy: boolean;
}

/**
 * Returns the application's origin; undefined without BASE_URL and without a usable Host header.
 */
export function ownOrigin(
  request: IdpRequest,
  { baseUrl, trustProxy }: AddressSettings,
): Origin | undefined {
  return baseUrl ?? requestOrigin(seenScheme(request, trustProxy), seenHost(request, trustProxy));
}

/** Returns whether the browser uses https. */
export function isSecure(request: IdpRequest, { baseUrl, trustProxy }: AddressSettings): boolean {
  return baseUrl === null
    ? seenScheme(request, trustProxy) === "https"
    : baseUrl.startsWith("https:");
}

// The last value of a forwarded list counts, because the nearest proxy, which is trusted, wrote it.

function seenScheme(request: IdpRequest, trustProxy: boolean): "http" | "https" {
  const forwarded = trustProxy
    ? lastOf(request.header("x-forwarded-proto"))?.toLowerCase()
    : undefined;
  return forwarded === "https" || forwarded === "http" ? forwarded : request.scheme;
}

/** Returns host and port as the browser used them, independent of BASE_URL. */
export function seenHost(request: IdpRequest, trustProxy: boolean): string | undefined {
  return (trustProxy ? lastOf(request.header("x-forwarded-host")) : undefined) ?? request.host;
}

/**
 * Returns the browser's IP address.
 * @param known as far as the framework trusts it
 */
export function seenClient(
  request: IdpRequest,
  known: string | undefined,
  trustProxy: boolean,
): string | undefined {
  return (trustProxy ? lastOf(request.header("x-forwarded-for")) : undefined) ?? known;
}

function lastOf(list: string | undefined): string | undefined {
  return list?.split(",").at(-1)?.trim();
}

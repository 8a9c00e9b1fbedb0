/** The application's own origin, as BASE_URL, the browser or a trusted proxy says. */
import { seenHost, seenScheme } from "./forwarded-headers.js";
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

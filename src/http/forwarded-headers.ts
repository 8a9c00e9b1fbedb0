/** What a browser's request was like before the trusted proxy, by the X-Forwarded headers. */
import type { IdpRequest } from "./request.js";

// The last value of a forwarded list counts, because the nearest proxy, which is trusted, wrote it.

export function seenScheme(request: IdpRequest, trustProxy: boolean): "http" | "https" {
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

/** The address that a visitor reaches us under: BASE_URL, else what the request shows. Pure. */
import type { IdpRequest } from "./request-reply.js";
import { requestOrigin, type Origin } from "./redirects.js";

export interface AddressSettings {
  readonly baseUrl: string | null;
  /** Forwarded headers count only when this, or the host framework by its own means, says so. */
  readonly trustProxy: boolean;
}

/** Our own origin; undefined when neither BASE_URL nor a usable Host tells it. */
export function ownOrigin(request: IdpRequest, { baseUrl, trustProxy }: AddressSettings): Origin | undefined {
  return baseUrl ?? requestOrigin(seenScheme(request, trustProxy), seenHost(request, trustProxy));
}

/** Whether the visitor reaches us over https. */
export function isSecure(request: IdpRequest, { baseUrl, trustProxy }: AddressSettings): boolean {
  return baseUrl === null ? seenScheme(request, trustProxy) === "https" : baseUrl.startsWith("https:");
}

// Of forwarded lists the last value counts: the nearest proxy, the one that is trusted, wrote it.

function seenScheme(request: IdpRequest, trustProxy: boolean): "http" | "https" {
  const forwarded = trustProxy ? lastOf(request.header("x-forwarded-proto"))?.toLowerCase() : undefined;
  return forwarded === "https" || forwarded === "http" ? forwarded : request.scheme;
}

/** Host and port as the visitor used them, whatever BASE_URL says. */
export function seenHost(request: IdpRequest, trustProxy: boolean): string | undefined {
  return (trustProxy ? lastOf(request.header("x-forwarded-host")) : undefined) ?? request.host;
}

function lastOf(list: string | undefined): string | undefined {
  return list?.split(",").at(-1)?.trim();
}

/** Who sent a request, as far as a browser says so: the application's pages, the user, another site. */
import { parseUrl } from "./redirects.js";
import type { IdpRequest } from "./request.js";

/**
 * Who started a navigation: a page of the application's own origin, the user (a typed address, a
 * bookmark), or perhaps another site.
 */
export type Initiator = "own" | "user" | "other";

/**
 * Returns who started a navigation. A redirect changes nothing about it. Browsers send
 * Sec-Fetch-Site to https and loopback addresses; elsewhere only Referer tells.
 */
export function initiatorOf(request: IdpRequest, own: string | undefined): Initiator {
  const site = request.header("sec-fetch-site");
  if (site === "none") return "user";
  if (site !== undefined) return site === "same-origin" ? "own" : "other";
  return own !== undefined && parseUrl(request.header("referer") ?? "")?.origin === own
    ? "own"
    : "other";
}

/**
 * Whether the browser says that a page of another site sent the request. Browsers without
 * Sec-Fetch-Site say nothing.
 */
export function isSentByOtherSite(request: IdpRequest): boolean {
  return request.header("sec-fetch-site") === "cross-site";
}

/**
 * Whether a browser says that the request is not a navigation, but a script's or an element's. It
 * must send both headers: the `fetch` of Node.js sends the mode alone.
 */
export function isByScript(request: IdpRequest): boolean {
  const mode = request.header("sec-fetch-mode");
  return (
    request.header("sec-fetch-site") !== undefined && mode !== undefined && mode !== "navigate"
  );
}

/** Whether a script or perhaps another site sent the request. @param own as above */
export function isUnattended(request: IdpRequest, own: string | undefined): boolean {
  return isByScript(request) || initiatorOf(request, own) === "other";
}

/**
 * Whether a page of the application's own origin posted this form to one of idpauth's endpoints.
 * Browsers send Sec-Fetch-Site, and older browsers send Origin. Scripts of other sites cannot set
 * these headers.
 */
export function isSameOrigin(request: IdpRequest, own: string | undefined): boolean {
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = request.header("origin");
  return origin !== undefined && origin === own;
}

/** Who sent a request, as far as a browser says so: the application's pages, the user, another site. */
import type { IdpRequest } from "./request.js";

/**
 * Who started a navigation: a page of the application's own origin, the user (a typed address, a
 * bookmark, a link in a mail program), or perhaps another site.
 */
export type Initiator = "own" | "user" | "other";

/**
 * Returns who started a navigation. A redirect changes nothing about it. Browsers send
 * Sec-Fetch-Site to https and loopback addresses. Without it, any site may have started the
 * navigation: a Referer survives another site's redirect, so it proves nothing.
 */
export function initiatorOf(request: IdpRequest): Initiator {
  const site = request.header("sec-fetch-site");
  if (site === "none") return "user";
  return site === "same-origin" ? "own" : "other";
}

/** Whether the browser says that another site, or another origin of this one, began the request. */
export function saysOtherSite(request: IdpRequest): boolean {
  return request.header("sec-fetch-site") !== undefined && initiatorOf(request) === "other";
}

/**
 * Headers that scripts send with their requests for HTML: those of htmx, Turbo and Unpoly. A
 * navigation can't have them.
 */
const SCRIPT_HEADERS = ["hx-request", "x-turbo-request-id", "x-up-version"];

/** Whether htmx sent the request, which navigates to the URL in the response's `HX-Redirect`. */
export function isByHtmx(request: IdpRequest): boolean {
  return request.header("hx-request") === "true";
}

/**
 * Whether the request is not a navigation, but a script's or an element's: a browser or the
 * script's own header says so. A browser must send both headers, because the `fetch` of Node.js
 * sends the mode alone.
 */
export function isByScript(request: IdpRequest): boolean {
  if (SCRIPT_HEADERS.some((name) => request.header(name) !== undefined)) return true;
  const mode = request.header("sec-fetch-mode");
  return (
    request.header("sec-fetch-site") !== undefined && mode !== undefined && mode !== "navigate"
  );
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

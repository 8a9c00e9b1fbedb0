import { isByHtmx } from "../http/initiator.js";
import { sameOriginUrl } from "../http/same-origin-url.js";
import { pageOf, type SeenRequest } from "./login-url.js";

/**
 * The header with which a 401 leads htmx to the login. htmx navigates to it whatever the status is.
 * No other request has it.
 *
 * @param loginBackTo the login that leads back to this page; undefined: to the configured page
 */
export function htmxHeader(
  { request, origin }: SeenRequest,
  { pathPrefix }: { readonly pathPrefix: string },
  loginBackTo: (page: string | undefined) => string,
): { readonly "HX-Redirect"?: string } {
  if (!isByHtmx(request)) return {};
  // A boosted link or form leads to a page. Any other request is for a part of the current page.
  const page =
    request.method === "GET" && request.header("hx-boosted") === "true"
      ? pageOf(request, origin, pathPrefix)
      : origin && sameOriginUrl(request.header("hx-current-url"), origin);
  return { "HX-Redirect": loginBackTo(page) };
}

/**
 * The mark of a login or a logout that another site may have begun. Each link and form of our own
 * pages that continues it carries this mark, because the user's click on it comes from our own
 * origin. It only makes the login or the logout stricter.
 */
import { initiatorOf } from "./initiator.js";
import type { IdpRequest } from "./request.js";

/** The name of its query parameter. */
export const CROSS_SITE = "cross_site";

/** The mark as parameters of a link. */
export function markIf(isMarked: boolean): { readonly cross_site?: "true" } {
  return isMarked ? { [CROSS_SITE]: "true" } : {};
}

/** Returns a link to a login on the page for a request. It has the mark if that is needed. */
export function linkOnPage(request: IdpRequest, loginUrl: string): string {
  if (initiatorOf(request) !== "other") return loginUrl;
  return `${loginUrl}${loginUrl.includes("?") ? "&" : "?"}${CROSS_SITE}=true`;
}

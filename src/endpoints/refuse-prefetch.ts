import type { Reply } from "../http/reply.js";
import { isPrefetch, type IdpRequest } from "../http/request.js";
import { failureReply } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";

/**
 * Refuses a prefetch of login or logout with 503. Undefined: the request is the user's own.
 * Only `refusesPrefetch` of the router's table says which endpoints do so.
 */
export function refusePrefetch(request: IdpRequest, pages: Pages): Promise<Reply> | undefined {
  return isPrefetch(request)
    ? failureReply({ code: "prefetch_refused" }, request, { pages, otherwise: "json" })
    : undefined;
}

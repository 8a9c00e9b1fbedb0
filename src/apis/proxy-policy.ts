/** The policy of the proxy: which requests may reach an API. It knows no framework. */
import { passesCsrf } from "../guard/csrf.js";
import type { Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { proxiedUrl } from "./api-url.js";
import type { Exchange } from "./exchange.js";
import { isEventStreamType } from "./response-headers.js";

/**
 * Whether a page opens an event stream, to which its browser connects again by itself. A stream in
 * response to a POST isn't one: a shutdown waits for its end.
 */
export function opensStream(request: IdpRequest): boolean {
  return request.method === "GET" && isEventStreamType(request.header("accept"));
}

/**
 * Returns the API's URL for a request that may reach it; otherwise the response.
 * @param isForged whether a page of another site sent it
 */
export function admittedUrl(
  exchange: Exchange,
  isForged: (exchange: Exchange) => boolean,
): URL | Promise<Reply> {
  const { api } = exchange;
  const { method, target } = exchange.request;
  const url = proxiedUrl(api, target);
  if (!(url instanceof URL)) return exchange.refused(url.code, { detail: url.detail });
  const methods = api.methods;
  if (!methods.includes(method))
    return exchange.refused("method_not_allowed", { headers: { Allow: methods.join(", ") } });
  return isForged(exchange) ? exchange.refused("cross_origin") : url;
}

/**
 * Also reading is refused: a page of another site could otherwise load what the user may see, and
 * measure it.
 */
export function isFromOtherSite({ api, request, origin }: Exchange): boolean {
  if (!passesCsrf(request, () => origin)) return true;
  if (api.allowCrossSite && READING.includes(request.method)) return false;
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // Over plain http, and in old browsers, only this header tells.
  const from = request.header("origin");
  return from !== undefined && from !== origin;
}

/** The methods with which other sites may link to an API, if its row allows it. */
const READING = ["GET", "HEAD"];

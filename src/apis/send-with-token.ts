/** A request with the user's token: what becomes of the API's response, and of a rejected token. */
import { ERRORS, IdpAuthError, type ErrorCode } from "../errors.js";
import type { BodyStream, Reply } from "../http/reply.js";
import { STREAM_RETRY_SECONDS } from "../work/places-per-key.js";
import { CUT, LEFT } from "./abort-at-session-end.js";
import { challengeOf } from "./challenge.js";
import type { Exchange, ProxyReply } from "./exchange.js";
import { requestHeaders } from "./request-headers.js";
import { isEventStreamType, responseHeaders } from "./response-headers.js";
import { asApiError, BODILESS, type ApiResponse } from "./transport.js";

/** How a request is sent. */
export interface Sending<Stream extends BodyStream> {
  readonly canRepeat: boolean;
  /**
   * Waits for what is sent. Resolves to false if nothing had to be waited for. Absent: nothing is
   * waited for.
   */
  readonly waits?: (() => Promise<boolean>) | undefined;
  send(headers: Map<string, string>): Promise<ApiResponse<Stream>>;
}

/**
 * Sends a request with the user's token, and once more if the API rejects it. Returns the response
 * for the browser.
 *
 * Nothing is sent after the session's end, so each wait before a request is followed by a new look
 * at the session.
 */
export async function answered<Stream extends BodyStream>(
  exchange: Exchange,
  url: URL,
  { canRepeat, waits, send }: Sending<Stream>,
): Promise<ProxyReply<Stream>> {
  const { api, lines, origin, client, pathPrefix } = exchange;
  let token = await exchange.token();
  if (typeof token === "string" && waits !== undefined) {
    const waited = await waits().catch(asApiError);
    if (waited instanceof IdpAuthError) return refusal(waited.code, exchange, waited);
    if (waited) token = await exchange.tokenAgain();
  }
  for (let isFirst = true; typeof token === "string"; isFirst = false) {
    const headers = requestHeaders(lines, api, { token, origin, client, pathPrefix });
    const response = await exchange.observed(headers, () => send(headers)).catch(asApiError);
    if (response instanceof IdpAuthError) return refusal(response.code, exchange, response);
    const challenge = challengeOf(response.status, response.lines);
    if (challenge === undefined && response.status !== 401)
      return replyOf(response, { exchange, url, token });
    response.discard();
    if (challenge !== undefined) return exchange.challenged(challenge);
    const rejected: string = token;
    // Also if the request can't be repeated: the next one gets the new token.
    if (isFirst) token = await exchange.tokenAgain(rejected);
    if (token === rejected || (!canRepeat && typeof token === "string"))
      return refusal("api_token_rejected", exchange);
  }
  return token;
}

const TRY_AGAIN = { headers: { "Retry-After": String(STREAM_RETRY_SECONDS) } };

/** A request that the API has responded to. */
interface Sent {
  readonly exchange: Exchange;
  readonly url: URL;
  readonly token: string;
}

function replyOf<Stream extends BodyStream>(
  response: ApiResponse<Stream>,
  { exchange, url, token }: Sent,
): ProxyReply<Stream> | Promise<Reply> {
  const { lines, body, upgraded } = response;
  const { api, origin, pathPrefix } = exchange;
  // The API speaks another protocol from here on, which nobody has asked for.
  if (upgraded === undefined && response.status === 101) {
    response.discard();
    return refusal("api_response_invalid", exchange);
  }
  // What is no status means a 5xx (RFC 9110 section 15), and some frameworks throw for it.
  const status = response.status < 100 || response.status > 599 ? 500 : response.status;
  const { headers, location } = responseHeaders(lines, api, {
    url,
    origin,
    pathPrefix,
    status,
    token,
  });
  if (location === "refused") {
    response.discard();
    return refusal("api_redirect_refused", exchange);
  }
  if (location === "dropped") exchange.locationDropped();
  // The browser would expect a body of that length.
  if (status < 200 || status === 204 || status === 205) delete headers["Content-Length"];
  const hasBody = exchange.request.method !== "HEAD" && !BODILESS.includes(status);
  if (upgraded !== undefined || (hasBody && isEventStreamType(headers["Content-Type"]))) {
    const leave = exchange.takeStream();
    if (leave === undefined) {
      response.discard();
      return exchange.refused("too_many_streams", TRY_AGAIN);
    }
    exchange.onClose(leave);
  }
  if (!hasBody) {
    response.discard();
    return { status, headers };
  }
  // Otherwise some frameworks guess it, but only of a response that has arrived whole.
  headers["Content-Type"] ??= "application/octet-stream";
  // Node decodes this header if it knows the body's length, which changes its bytes.
  const isAscii = /^[\x20-\x7e]*$/.test(headers["Content-Disposition"] ?? "");
  return { status, headers, body: (isAscii && response.whole?.()) || body };
}

/** Reports a failure of the API, or of what is before the proxy, and returns its response. */
export function refusal(code: ErrorCode, exchange: Exchange, cause?: IdpAuthError): Promise<Reply> {
  const { status, title } = ERRORS[code];
  if (status >= 500 && cause !== LEFT && cause !== CUT)
    exchange.failed(cause ?? new IdpAuthError(code, `${title}.`));
  return exchange.refused(code);
}

/**
 * The policy of the proxy: which requests reach an API, and which responses the browser. It knows
 * no framework.
 */
import { ERRORS, IdpAuthError, type ErrorCode } from "../errors.js";
import { passesCsrf } from "../guard/csrf.js";
import type { Origin } from "../http/redirects.js";
import { isStream, problem, type BodyStream, type Reply } from "../http/reply.js";
import type { Clock } from "../clock.js";
import type { IdpRequest } from "../http/request.js";
import type { Api } from "../config/api-options.js";
import { challengeOf, stepUpReply, type Challenge } from "./challenge.js";
import { lengthOf, requestHeaders, type HeaderLines } from "./request-headers.js";
import { isEventStreamType, responseHeaders } from "./response-headers.js";
import { proxiedUrl } from "./target.js";
import { asApiError, type ApiResponse, type IncomingBody, type Transport } from "./transport.js";

/** What the proxy needs of a request, and of the session behind it. */
export interface Exchange {
  readonly request: IdpRequest;
  /** The header lines as the browser sent them. */
  readonly lines: HeaderLines;
  /** The application's own origin. */
  readonly origin: Origin | undefined;
  /** The browser's IP address, as far as the framework trusts it. */
  readonly client: string | undefined;
  /** See `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
  readonly clock: Clock;
  /**
   * Returns a signal that aborts when the session ends; its reason is a `SessionEndedError`. Called
   * only if the request takes long.
   */
  ended(): AbortSignal;
  /** Calls a function once when the response is complete, or the browser has left. */
  onClose(closed: () => void): void;
  /**
   * Returns the user's token for this API, or the response of the guard, an outage or a step-up.
   *
   * @param rejected the token to which the API has responded 401. The same one is returned if there
   *   can be no other
   */
  token(rejected?: string): Promise<string | Reply>;
  /**
   * Returns the URL of a login with `acr_values`, `max_age` or `scope`, at the session's provider.
   */
  loginUrl(parameters: Challenge["parameters"]): Promise<string>;
  /** Gets the failures that an operator must know: their status is 500 and above. */
  failed(error: IdpAuthError): void;
}

/** A response for the browser. The adapter sends its stream as it comes; see `AnyReply`. */
export type ProxyReply<Stream extends BodyStream> = Reply<string | Uint8Array | Stream>;

/**
 * The largest body in bytes that is kept, so that the request can be repeated with another token.
 */
const MAX_REPEATED = 65_536;

/** Passes a request on to an API. @param body undefined: the request has none */
export async function proxyRequest<Stream extends BodyStream>(
  api: Api,
  transport: Transport<Stream>,
  exchange: Exchange,
  body: IncomingBody<Stream> | undefined,
): Promise<ProxyReply<Stream>> {
  const { request, lines } = exchange;
  const url = admittedUrl(api, exchange, isFromOtherSite);
  if (!(url instanceof URL)) return url;
  const length = lengthOf(lines);
  if (length === "invalid") return refusal("api_framing_invalid");
  if (body?.isUsed === true) return refusal("api_body_consumed", exchange);
  let closing: Closing | undefined;
  const isKept = body === undefined || (typeof length === "number" && length <= MAX_REPEATED);
  let kept: Uint8Array<ArrayBuffer> | undefined;
  const reply = await answered(api, exchange, url, isKept, async (headers) => {
    if (isKept && body !== undefined) kept ??= await body.bytes().catch(throwLeft);
    const sent = isKept ? kept : body.stream;
    const size = typeof length === "number" ? length : undefined;
    // Only now: a request that is refused watches no session.
    closing ??= closingOf(exchange);
    return transport({
      method: request.method,
      url,
      headers,
      body: sent,
      length: size,
      onAbort: closing.onAbort,
    });
  });
  if (!isStream(reply.body)) closing?.release();
  else if (isEventStreamType(reply.headers["Content-Type"])) closing?.watch();
  return reply;
}

/**
 * Returns the API's URL for a request that may reach it; otherwise the response.
 * @param isForged whether a page of another site sent it
 */
export function admittedUrl(
  api: Api,
  exchange: Exchange,
  isForged: (api: Api, exchange: Exchange) => boolean,
): URL | Reply {
  const { method, target } = exchange.request;
  const url = proxiedUrl(api, target);
  if (!(url instanceof URL)) return refusal(url);
  const methods = api.methods;
  if (!methods.includes(method))
    return refusal("method_not_allowed", undefined, { Allow: methods.join(", ") });
  return isForged(api, exchange) ? refusal("cross_origin") : url;
}

/**
 * Also reading is refused: a page of another site could otherwise load what the user may see, and
 * measure it.
 */
function isFromOtherSite({ allowCrossSite }: Api, { request, origin }: Exchange): boolean {
  if (!passesCsrf(request, () => origin)) return true;
  const site = request.header("sec-fetch-site");
  return !allowCrossSite && site !== undefined && site !== "same-origin" && site !== "none";
}

/**
 * Sends a request with the user's token, and once more if the API rejects it. Returns the response
 * for the browser.
 */
export async function answered<Stream extends BodyStream>(
  api: Api,
  exchange: Exchange,
  url: URL,
  canRepeat: boolean,
  send: (headers: Map<string, string>) => Promise<ApiResponse<Stream>>,
): Promise<ProxyReply<Stream>> {
  const { lines, origin, client, pathPrefix } = exchange;
  let token = await exchange.token();
  try {
    for (let isFirst = true; typeof token === "string"; isFirst = false) {
      const response = await send(requestHeaders(lines, api, { token, origin, client }));
      const challenge = challengeOf(response.status, response.lines);
      if (challenge === undefined && response.status !== 401)
        return replyOf(api, exchange, response, { url, token, pathPrefix });
      response.discard();
      if (challenge !== undefined)
        return stepUpReply(challenge, await exchange.loginUrl(challenge.parameters));
      const rejected: string = token;
      // Also if the request can't be repeated: the next one gets the new token.
      if (isFirst) token = await exchange.token(rejected);
      if (token === rejected || (!canRepeat && typeof token === "string"))
        return refusal("api_token_rejected", exchange);
    }
    return token;
  } catch (error) {
    const { code } = asApiError(error);
    return refusal(code, exchange, undefined, error);
  }
}

/** The responses that never have a body (RFC 9110 section 6.4.1). */
const BODILESS = [204, 205, 304];

function replyOf<Stream extends BodyStream>(
  api: Api,
  exchange: Exchange,
  response: ApiResponse<Stream>,
  about: Parameters<typeof responseHeaders>[2],
): ProxyReply<Stream> {
  const { status, lines, body, upgraded } = response;
  const headers = responseHeaders(lines, api, about);
  // A framework may throw for what is no status.
  if (headers === undefined || (upgraded === undefined && (status < 200 || status > 599))) {
    response.discard();
    return refusal("api_response_invalid", exchange);
  }
  // The browser would expect a body of that length.
  if (status < 200 || status === 204 || status === 205) delete headers["Content-Length"];
  if (exchange.request.method === "HEAD" || BODILESS.includes(status)) {
    response.discard();
    return { status, headers };
  }
  // Otherwise some frameworks guess it, but only of a response that has arrived whole.
  headers["Content-Type"] ??= "application/octet-stream";
  return { status, headers, body: response.whole?.() ?? body };
}

function refusal(
  code: ErrorCode,
  exchange?: Exchange,
  headers: Record<string, string> = {},
  cause?: unknown,
): Reply {
  const { status, title } = ERRORS[code];
  if (status >= 500 && cause !== LEFT)
    exchange?.failed(
      cause instanceof IdpAuthError ? cause : new IdpAuthError(code, `${title}.`, { cause }),
    );
  return problem(code, `${title}.`, { headers });
}

/** Nobody gets it, and it isn't the API's failure. */
const LEFT = new IdpAuthError("api_unreachable", "The browser has left.");

function throwLeft(): never {
  throw LEFT;
}

/**
 * Milliseconds for which a request does without a watch over its session, which costs more than the
 * rest of a short request.
 */
const UNWATCHED = 500;

/**
 * Breaks a request off when the session ends or the browser leaves. Not an AbortController, which
 * costs several microseconds.
 */
export interface Closing {
  /** Gets the function that does it, in place of an earlier one. */
  onAbort(abort: (reason: IdpAuthError) => void): void;
  /** Watches the session from now on. */
  watch(): void;
  /** Ends the watch: the request is complete. */
  release(): void;
}

export function closingOf(exchange: Exchange): Closing {
  let reason: IdpAuthError | undefined;
  let abort: ((reason: IdpAuthError) => void) | undefined;
  let signal: AbortSignal | undefined;
  let unwatch = exchange.clock.timer(UNWATCHED, watch);
  const breakOff = (why: IdpAuthError) => {
    reason ??= why;
    abort?.(reason);
  };
  function watch(): void {
    unwatch();
    const ended = (signal ??= exchange.ended());
    const end = () => breakOff(ended.reason as IdpAuthError);
    unwatch = () => ended.removeEventListener("abort", end);
    ended.addEventListener("abort", end);
    if (ended.aborted) end();
  }
  exchange.onClose(() => {
    breakOff(LEFT);
    unwatch();
  });
  return {
    onAbort(given) {
      abort = given;
      if (reason !== undefined) abort(reason);
    },
    watch,
    release() {
      unwatch();
    },
  };
}

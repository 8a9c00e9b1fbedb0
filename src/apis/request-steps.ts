/**
 * The steps of a request to an API: admit → token → send → perhaps renew and send again → reply.
 * `fetchApi` takes those in the middle. They know neither a framework nor a transport.
 */
import { ERRORS, IdpAuthError, type ErrorCode } from "../errors.js";
import { passesCsrf } from "../guard/csrf.js";
import { isStream, shuttingDown, type BodyStream, type Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { STREAM_RETRY_SECONDS } from "../work/places-per-key.js";
import { Closing, CUT, LEFT } from "./abort-at-session-end.js";
import { proxiedUrl } from "./api-url.js";
import { challengeOf } from "./challenge.js";
import type { Exchange, ProxyReply } from "./exchange.js";
import { lengthOf, requestHeaders } from "./request-headers.js";
import { isEventStreamType, responseHeaders } from "./response-headers.js";
import {
  asApiError,
  BODILESS,
  type ApiResponse,
  type IncomingBody,
  type Transport,
} from "./transport.js";

/**
 * The largest body in bytes that is kept, so that the request can be repeated with another token.
 */
const MAX_REPEATED_BYTES = 65_536;

/**
 * Passes a request on to an API, and the API's response to the browser.
 * @param body undefined: the request has none
 */
export async function proxyRequest<Stream extends BodyStream, Body = Stream>(
  exchange: Exchange,
  transport: Transport<Stream, Body>,
  body: IncomingBody<Body> | undefined,
): Promise<ProxyReply<Stream>> {
  const { request, lines } = exchange;
  if (exchange.shutdown.isClosing && opensStream(request)) return shuttingDown();
  const url = admittedUrl(exchange, isFromOtherSite);
  if (!(url instanceof URL)) return url;
  const length = lengthOf(lines);
  if (length === "invalid") return refusal("api_framing_invalid", exchange);
  if (body?.isUsed === true) return refusal("api_body_consumed", exchange);
  let closing: Closing | undefined;
  const isKept = body === undefined || (typeof length === "number" && length <= MAX_REPEATED_BYTES);
  let kept: Uint8Array<ArrayBuffer> | undefined;
  // Only later: a request that is refused watches no session.
  const opened = () => (closing ??= new Closing(exchange));
  async function keep(incoming: IncomingBody<Body>): Promise<boolean> {
    const bytes = incoming.bytes().catch(throwLeft);
    const { hasArrived } = incoming;
    kept = await (hasArrived ? bytes : Promise.race([bytes, opened().aborted()]));
    return !hasArrived;
  }
  const reply = await answered(exchange, url, {
    canRepeat: isKept,
    waits: isKept && body !== undefined ? () => keep(body) : undefined,
    send(headers) {
      const broken = opened();
      return transport({
        method: request.method,
        url,
        headers,
        body: isKept ? kept : body.stream,
        length: typeof length === "number" ? length : undefined,
        onAbort(abort) {
          broken.onAbort(abort);
        },
        endsBy: request.method === "GET" ? (end) => broken.endsBy(end) : undefined,
      });
    },
  }).catch((error: unknown) => {
    // A rule of the application has thrown.
    closing?.release();
    throw error;
  });
  if (!isStream(reply.body)) closing?.release();
  else closing?.sends(isEventStreamType(reply.headers["Content-Type"]));
  return reply;
}

function throwLeft(): never {
  throw LEFT;
}

/**
 * Whether a page opens an event stream, to which its browser connects again by itself. A stream in
 * response to a POST isn't one: a shutdown waits for its end.
 */
function opensStream(request: IdpRequest): boolean {
  return request.method === "GET" && isEventStreamType(request.header("accept"));
}

/**
 * Admit: returns the API's URL for a request that may reach it; otherwise the response.
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

/** The methods with which other sites may link to an API, if its row allows it. */
const READING = ["GET", "HEAD"];

/**
 * Also reading is refused: a page of another site could otherwise load what the user may see, and
 * measure it.
 */
function isFromOtherSite({ api, request, origin }: Exchange): boolean {
  if (!passesCsrf(request, () => origin)) return true;
  if (api.allowCrossSite && READING.includes(request.method)) return false;
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // Over plain http, and in old browsers, only this header tells.
  const from = request.header("origin");
  return from !== undefined && from !== origin;
}

/** How a request is sent. */
interface Sending<Stream extends BodyStream> {
  readonly canRepeat: boolean;
  /**
   * Waits for what is sent. Resolves to false if nothing had to be waited for. Absent: nothing is
   * waited for.
   */
  readonly waits?: (() => Promise<boolean>) | undefined;
  send(headers: Map<string, string>): Promise<ApiResponse<Stream>>;
}

/**
 * Token → send → reply.
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
  const sent = await sendWithToken<ApiResponse<Stream> | IdpAuthError, Reply>({
    canRepeat,
    async token(rejected) {
      if (rejected !== undefined) return exchange.tokenAgain(rejected);
      const first = await exchange.token();
      if (typeof first !== "string" || waits === undefined) return first;
      const waited = await waits().catch(asApiError);
      if (waited instanceof IdpAuthError) return refusal(waited.code, exchange, waited);
      return waited ? exchange.tokenAgain() : first;
    },
    send(token) {
      const headers = requestHeaders(lines, api, { token, origin, client, pathPrefix });
      return exchange.observed(headers, () => send(headers)).catch(asApiError);
    },
    isRejected: (response) =>
      !(response instanceof IdpAuthError) &&
      response.status === 401 &&
      challengeOf(response.status, response.lines) === undefined,
    discard(response) {
      if (!(response instanceof IdpAuthError)) response.discard();
    },
  });
  if (!("response" in sent)) return sent;
  const { response, token } = sent;
  if (response instanceof IdpAuthError) return refusal(response.code, exchange, response);
  const challenge = challengeOf(response.status, response.lines);
  if (challenge === undefined && response.status !== 401)
    return replyOf(response, { exchange, url, token });
  response.discard();
  return challenge === undefined
    ? refusal("api_token_rejected", exchange)
    : exchange.challenged(challenge);
}

/** What a request needs for its token, and for being sent. */
interface TokenSteps<Response, Stopped> {
  /** Whether it can be sent twice. */
  readonly canRepeat: boolean;
  /**
   * Returns the user's token, or what the caller gets without one.
   * @param rejected the token that the API has rejected. The same one is returned if there can be
   *   no other
   */
  token(rejected?: string): Promise<string | Stopped>;
  send(token: string): Promise<Response>;
  /** Whether another token may help. */
  isRejected(response: Response): boolean;
  /** Reads no body of a response that nobody gets. */
  discard(response: Response): unknown;
}

interface SentWithToken<Response> {
  readonly response: Response;
  readonly token: string;
}

/**
 * Token → send → perhaps renew and send again, for the proxy and `fetchApi`. A response that
 * rejects the token is returned if there is no other one, or the request can't be repeated.
 */
export async function sendWithToken<Response, Stopped extends object = never>({
  canRepeat,
  token,
  send,
  isRejected,
  discard,
}: TokenSteps<Response, Stopped>): Promise<SentWithToken<Response> | Stopped> {
  const first = await token();
  if (typeof first !== "string") return first;
  const response = await send(first);
  if (!isRejected(response)) return { response, token: first };
  // Also if the request can't be repeated: the next one gets the new token.
  const fresh = await token(first).catch(async (error: unknown) => {
    await discard(response);
    throw error;
  });
  if (fresh === first || (!canRepeat && typeof fresh === "string"))
    return { response, token: first };
  await discard(response);
  if (typeof fresh !== "string") return fresh;
  return { response: await send(fresh), token: fresh };
}

const TRY_AGAIN = { headers: { "Retry-After": String(STREAM_RETRY_SECONDS) } };

/** A request that the API has responded to. */
interface Sent {
  readonly exchange: Exchange;
  readonly url: URL;
  readonly token: string;
}

/** Reply: what the browser gets of the API's response. */
function replyOf<Stream extends BodyStream>(
  response: ApiResponse<Stream>,
  { exchange, url, token }: Sent,
): ProxyReply<Stream> | Promise<Reply> {
  const { lines, upgraded } = response;
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
    exchange.onClose?.(leave);
  }
  if (!hasBody) {
    response.discard();
    return { status, headers };
  }
  // Otherwise some frameworks guess it, but only of a response that has arrived whole.
  headers["Content-Type"] ??= "application/octet-stream";
  // Node decodes this header if it knows the body's length, which changes its bytes.
  const isAscii = /^[\x20-\x7e]*$/.test(headers["Content-Disposition"] ?? "");
  return { status, headers, body: (isAscii && response.whole?.()) || response.body };
}

/** Reports a failure of the API, or of what is before the proxy, and returns its response. */
export function refusal(code: ErrorCode, exchange: Exchange, cause?: IdpAuthError): Promise<Reply> {
  const { status, title } = ERRORS[code];
  if (status >= 500 && cause !== LEFT && cause !== CUT)
    exchange.failed(cause ?? new IdpAuthError(code, `${title}.`));
  return exchange.refused(code);
}

/**
 * The steps of a request to an API: admit → token → send → perhaps renew and send again → reply.
 * `fetchApi` takes those in the middle. They know neither a framework nor a transport.
 */
import { ERRORS, IdpAuthError, type ErrorCode } from "../errors.js";
import { passesCsrf } from "../guard/csrf.js";
import { demandsDpopNonce, refusesDpopProof } from "../http/dpop-challenge.js";
import { isStream, shuttingDown, type BodyStream, type Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import type { AccessToken } from "../record/dpop.js";
import { lazily } from "../work/lazily.js";
import { STREAM_RETRY_SECONDS } from "../work/places-per-key.js";
import { Closing, CUT, LEFT } from "./abort-at-session-end.js";
import { noncesOf, type ApiNonces } from "./api-nonces.js";
import { proxiedUrl } from "./api-url.js";
import { challengeOf } from "./challenge.js";
import type { Exchange, ProxyReply } from "./exchange.js";
import { lengthOf, requestHeaders, valuesOf } from "./request-headers.js";
import { isEventStreamType, responseHeaders } from "./response-headers.js";
import {
  asApiError,
  BODILESS,
  type ApiResponse,
  type IncomingBody,
  type Transport,
} from "./transport.js";

/** Loaded when the application starts if a provider binds tokens to keys. */
export const loadProvenRequests = lazily(() => import("./proven-requests.js"));

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
    async token() {
      const first = await exchange.token();
      if (!("value" in first) || waits === undefined) return first;
      const waited = await waits().catch(asApiError);
      if (waited instanceof IdpAuthError) return refusal(waited.code, exchange, waited);
      return waited ? exchange.tokenAgain() : first;
    },
    tokenAgain: (rejected) => exchange.tokenAgain(rejected),
    send(token, nonce) {
      const headers = requestHeaders(lines, api, { token, origin, client, pathPrefix });
      const sendNow = () => exchange.observed(headers, () => send(headers));
      const sent =
        token.dpopKey === undefined
          ? sendNow()
          : addProof(exchange, { url, headers, token, nonce }).then(sendNow);
      return sent.catch(asApiError);
    },
    nonces: noncesOf(api, url, (response) =>
      response instanceof IdpAuthError ? undefined : valuesOf(response.lines, "dpop-nonce")[0],
    ),
    demandsNonce: (response) => !(response instanceof IdpAuthError) && demandsNonce(response),
    isRejected: (response) =>
      !(response instanceof IdpAuthError) &&
      response.status === 401 &&
      !demandsNonce(response) &&
      // Another token would have as bad a proof.
      !refusesDpopProof(valuesOf(response.lines, "www-authenticate").join(", ")) &&
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
  if (challenge !== undefined) return exchange.challenged(challenge);
  return demandsNonce(response)
    ? exchange.refused("api_nonce_demanded", SEND_AGAIN)
    : refusal("api_token_rejected", exchange);
}

/** The next request has the nonce. */
const SEND_AGAIN = { headers: { "Retry-After": "1" } };

/** Whether the API wants a nonce in the proof, and has not looked at the token. */
function demandsNonce({ status, lines }: ApiResponse<unknown>): boolean {
  return status === 401 && demandsDpopNonce(valuesOf(lines, "www-authenticate").join(", "));
}

/** A request whose token is bound to a key. */
interface BoundRequest {
  readonly url: URL;
  /** Gets the proof. */
  readonly headers: Map<string, string>;
  readonly token: AccessToken;
  readonly nonce: string | undefined;
}

async function addProof(
  { clock, request: { method } }: Exchange,
  { url, headers, token: { value, dpopKey }, nonce }: BoundRequest,
): Promise<void> {
  if (dpopKey === undefined) return;
  const { proofOf } = await loadProvenRequests();
  headers.set("dpop", await proofOf(dpopKey, { method, url, accessToken: value, nonce }, clock));
}

/** What a request needs for its token, and for being sent. */
interface TokenSteps<Response, Stopped> {
  /** Whether it can be sent twice. */
  readonly canRepeat: boolean;
  /** Returns the user's token, or what the caller gets without one. */
  token(): Promise<AccessToken | Stopped>;
  /**
   * The same after the API has responded.
   * @param rejected the token that the API has rejected. The same one is returned if there can be
   *   no other
   */
  tokenAgain(rejected?: string): Promise<AccessToken | Stopped>;
  /** @param nonce for the proof of a bound token */
  send(token: AccessToken, nonce?: string): Promise<Response>;
  readonly nonces: ApiNonces<Response>;
  /** Whether the API wants another nonce in the proof. */
  demandsNonce(response: Response): boolean;
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
export async function sendWithToken<Response, Stopped extends object = never>(
  steps: TokenSteps<Response, Stopped>,
): Promise<SentWithToken<Response> | Stopped> {
  const { canRepeat, token, tokenAgain, isRejected, discard } = steps;
  const first = await token();
  if (!("value" in first)) return first;
  const begun = await sendWithNonce(steps, first);
  if (!("token" in begun)) return begun;
  const { response, token: used } = begun;
  if (!isRejected(response)) return begun;
  // Also if the request can't be repeated: the next one gets the new token.
  const fresh = await tokenAgain(used).catch(async (error: unknown) => {
    await discard(response);
    throw error;
  });
  const isToken = "value" in fresh;
  if (isToken && (fresh.value === used || !canRepeat)) return begun;
  await discard(response);
  return isToken ? sendWithNonce(steps, fresh) : fresh;
}

/**
 * Sends a request, and once more if the API only wants a nonce in the proof. The repetition alone
 * gets that nonce, because some servers accept it only once. Each wait before a request is followed
 * by a new look at the session.
 */
async function sendWithNonce<Response, Stopped extends object>(
  { canRepeat, tokenAgain, send, nonces, demandsNonce, discard }: TokenSteps<Response, Stopped>,
  token: AccessToken,
): Promise<SentWithToken<Response> | Stopped> {
  if (token.dpopKey === undefined) return { response: await send(token), token: token.value };
  const newest = nonces.newest();
  const response = await send(token, newest);
  const nonce = nonces.of(response);
  if (!canRepeat || !demandsNonce(response) || nonce === undefined || nonce === newest) {
    nonces.share(nonce);
    return { response, token: token.value };
  }
  await discard(response);
  const again = await tokenAgain();
  if (!("value" in again)) return again;
  const repeated = await send(again, nonce);
  nonces.share(nonces.of(repeated) ?? nonce);
  return { response: repeated, token: again.value };
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

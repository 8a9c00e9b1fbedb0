/**
 * The policy of the proxy: which requests reach an API, and which responses the browser. It knows
 * no framework.
 */
import { ERRORS, IdpAuthError, type ErrorCode } from "../errors.js";
import { passesCsrf } from "../guard/csrf.js";
import type { Origin } from "../http/redirects.js";
import { isStream, shuttingDown, type BodyStream, type Reply } from "../http/reply.js";
import type { Clock } from "../clock.js";
import type { IdpRequest } from "../http/request.js";
import type { Api } from "../config/api-options.js";
import type { Open, Shutdown } from "../work/shutdown.js";
import { challengeOf, type Challenge } from "./challenge.js";
import { lengthOf, requestHeaders, type HeaderLines } from "./request-headers.js";
import { isEventStreamType, responseHeaders, type Answered } from "./response-headers.js";
import type { Failure } from "../pages/failure-reply.js";
import { proxiedUrl } from "./path-rules.js";
import {
  asApiError,
  BODILESS,
  type ApiResponse,
  type IncomingBody,
  type Transport,
} from "./transport.js";

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
  readonly shutdown: Shutdown;
  /** Breaks the connection to the browser. Absent: the end of the stream from the API does it. */
  readonly cut?: () => void;
  /**
   * Returns a signal that aborts when the session ends; its reason is a `SessionEndedError`. Called
   * only if the request takes long.
   */
  ended(): AbortSignal;
  /** Calls a function once when the response is complete, or the browser has left. */
  onClose(closed: () => void): void;
  /** Returns the user's token for this API, or the response of the guard, an outage or a step-up. */
  token(): Promise<string | Reply>;
  /**
   * The same after the request has waited: the session may have ended, so it is read anew.
   *
   * @param rejected the token to which the API has responded 401. The same one is returned if there
   *   can be no other
   */
  tokenAgain(rejected?: string): Promise<string | Reply>;
  /** Returns the response for a challenge of the API: a login that meets it. */
  stepUp(challenge: Challenge): Promise<Reply>;
  /** Returns the response for a request that isn't passed on, or whose response isn't. */
  refused(code: ErrorCode, more?: Pick<Failure, "headers" | "detail">): Promise<Reply>;
  /** Gets the failures that an operator must know: their status is 500 and above. */
  failed(error: IdpAuthError): void;
  /** The browser doesn't get the API's `Location`. */
  locationDropped(): void;
  /** Gets what a rule has thrown for an upgrade, because no framework does. */
  threw?(error: unknown): void;
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
  if (exchange.shutdown.isClosing && opensStream(request)) return shuttingDown();
  const url = admittedUrl(api, exchange, isFromOtherSite);
  if (!(url instanceof URL)) return url;
  const length = lengthOf(lines);
  if (length === "invalid") return refusal("api_framing_invalid", exchange);
  if (body?.isUsed === true) return refusal("api_body_consumed", exchange);
  let closing: Closing | undefined;
  const isKept = body === undefined || (typeof length === "number" && length <= MAX_REPEATED);
  let kept: Uint8Array<ArrayBuffer> | undefined;
  // Only later: a request that is refused watches no session.
  const opened = () => (closing ??= new Closing(exchange));
  async function keep(incoming: IncomingBody<Stream>): Promise<boolean> {
    const bytes = incoming.bytes().catch(throwLeft);
    const { hasArrived } = incoming;
    kept = await (hasArrived ? bytes : Promise.race([bytes, opened().aborted()]));
    return !hasArrived;
  }
  const reply = await answered(api, exchange, url, {
    canRepeat: isKept,
    ...(isKept && body !== undefined && { waits: () => keep(body) }),
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
        ...(request.method === "GET" && {
          endsBy(end: () => void) {
            broken.endsBy(end);
          },
        }),
      });
    },
  });
  if (!isStream(reply.body)) closing?.release();
  else closing?.sends(isEventStreamType(reply.headers["Content-Type"]));
  return reply;
}

/**
 * Whether a page opens an event stream, to which its browser connects again by itself. A stream in
 * response to a POST isn't one: a shutdown waits for its end.
 */
function opensStream(request: IdpRequest): boolean {
  return request.method === "GET" && isEventStreamType(request.header("accept"));
}

/**
 * Returns the API's URL for a request that may reach it; otherwise the response.
 * @param isForged whether a page of another site sent it
 */
export function admittedUrl(
  api: Api,
  exchange: Exchange,
  isForged: (api: Api, exchange: Exchange) => boolean,
): URL | Promise<Reply> {
  const { method, target } = exchange.request;
  const url = proxiedUrl(api, target);
  if (!(url instanceof URL)) return exchange.refused(url.code, { detail: url.detail });
  const methods = api.methods;
  if (!methods.includes(method))
    return exchange.refused("method_not_allowed", { headers: { Allow: methods.join(", ") } });
  return isForged(api, exchange) ? exchange.refused("cross_origin") : url;
}

/**
 * Also reading is refused: a page of another site could otherwise load what the user may see, and
 * measure it.
 */
function isFromOtherSite({ allowCrossSite }: Api, { request, origin }: Exchange): boolean {
  if (!passesCsrf(request, () => origin)) return true;
  if (allowCrossSite && READING.includes(request.method)) return false;
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // Over plain http, and in old browsers, only this header tells.
  const from = request.header("origin");
  return from !== undefined && from !== origin;
}

/** The methods with which other sites may link to an API, if its row allows it. */
const READING = ["GET", "HEAD"];

/** How a request is sent. */
export interface Sending<Stream extends BodyStream> {
  readonly canRepeat: boolean;
  /** Waits for what is sent. Resolves to false if nothing had to be waited for. */
  waits?(): Promise<boolean>;
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
  api: Api,
  exchange: Exchange,
  url: URL,
  { canRepeat, waits, send }: Sending<Stream>,
): Promise<ProxyReply<Stream>> {
  const { lines, origin, client, pathPrefix } = exchange;
  let token = await exchange.token();
  if (typeof token === "string" && waits !== undefined) {
    const waited = await waits().catch(asApiError);
    if (waited instanceof IdpAuthError) return refusal(waited.code, exchange, waited);
    if (waited) token = await exchange.tokenAgain();
  }
  for (let isFirst = true; typeof token === "string"; isFirst = false) {
    const about = { url, token, origin, client, pathPrefix };
    const response = await send(requestHeaders(lines, api, about)).catch(asApiError);
    if (response instanceof IdpAuthError) return refusal(response.code, exchange, response);
    const challenge = challengeOf(response.status, response.lines);
    if (challenge === undefined && response.status !== 401)
      return replyOf(api, exchange, response, about);
    response.discard();
    if (challenge !== undefined) return exchange.stepUp(challenge);
    const rejected: string = token;
    // Also if the request can't be repeated: the next one gets the new token.
    if (isFirst) token = await exchange.tokenAgain(rejected);
    if (token === rejected || (!canRepeat && typeof token === "string"))
      return refusal("api_token_rejected", exchange);
  }
  return token;
}

function replyOf<Stream extends BodyStream>(
  api: Api,
  exchange: Exchange,
  response: ApiResponse<Stream>,
  about: Omit<Answered, "status">,
): ProxyReply<Stream> | Promise<Reply> {
  const { lines, body, upgraded } = response;
  // The API speaks another protocol from here on, which nobody has asked for.
  if (upgraded === undefined && response.status === 101) {
    response.discard();
    return refusal("api_response_invalid", exchange);
  }
  // What is no status means a 5xx (RFC 9110 section 15), and some frameworks throw for it.
  const status = response.status < 100 || response.status > 599 ? 500 : response.status;
  const { headers, location } = responseHeaders(lines, api, { ...about, status });
  if (location === "refused") {
    response.discard();
    return refusal("api_redirect_refused", exchange);
  }
  if (location === "dropped") exchange.locationDropped();
  // The browser would expect a body of that length.
  if (status < 200 || status === 204 || status === 205) delete headers["Content-Length"];
  if (exchange.request.method === "HEAD" || BODILESS.includes(status)) {
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
function refusal(code: ErrorCode, exchange: Exchange, cause?: IdpAuthError): Promise<Reply> {
  const { status, title } = ERRORS[code];
  if (status >= 500 && cause !== LEFT && cause !== CUT)
    exchange.failed(cause ?? new IdpAuthError(code, `${title}.`));
  return exchange.refused(code);
}

/** Nobody gets these two, and they aren't the API's failure. */
const LEFT = new IdpAuthError("api_unreachable", "The browser has left.");
const CUT = new IdpAuthError("shutting_down", "`auth.close()` has broken the request off.");

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
export class Closing implements Open {
  readonly #exchange: Exchange;
  #reason: IdpAuthError | undefined;
  #abort: ((reason: IdpAuthError) => void) | undefined;
  #signal: AbortSignal | undefined;
  #isSent = false;
  #unwatch: () => void;
  #leave: () => void;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#unwatch = exchange.clock.timer(UNWATCHED, () => {
      this.watch();
    });
    this.#leave = exchange.shutdown.add(this);
    exchange.onClose(() => {
      this.#breakOff(LEFT);
      this.release();
    });
  }

  /** For the shutdown: its time limit has passed. */
  destroy(): void {
    this.#breakOff(CUT);
    // Before, the browser can still get a 503.
    if (this.#isSent) this.#exchange.cut?.();
  }

  /** Rejects when the request is broken off. */
  aborted(): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.onAbort(reject);
    });
  }

  /** Gets a function that breaks it off. */
  onAbort(given: (reason: IdpAuthError) => void): void {
    const before = this.#abort;
    // Also what was discarded: the API may never end its response.
    this.#abort =
      before === undefined
        ? given
        : (reason) => {
            before(reason);
            given(reason);
          };
    if (this.#reason !== undefined) given(this.#reason);
  }

  /** Watches the session from now on. */
  watch(): void {
    this.#unwatch();
    const ended = (this.#signal ??= this.#exchange.ended());
    const end = () => {
      this.#breakOff(ended.reason as IdpAuthError);
    };
    this.#unwatch = () => {
      ended.removeEventListener("abort", end);
    };
    ended.addEventListener("abort", end);
    if (ended.aborted) end();
  }

  /** The response is being sent. @param isLong whether it may take as long as it likes */
  sends(isLong: boolean): void {
    this.#isSent = true;
    if (isLong) this.watch();
  }

  /** Gets what ends the response in order when a shutdown begins. Without it, it is finite. */
  endsBy(end: () => void): void {
    const before = this.#leave;
    const destroy = () => {
      this.destroy();
    };
    this.#leave = this.#exchange.shutdown.add({ destroy, end });
    before();
  }

  /** Ends the watch: the request is complete. */
  release(): void {
    this.#unwatch();
    this.#leave();
  }

  #breakOff(reason: IdpAuthError): void {
    this.#reason ??= reason;
    this.#abort?.(this.#reason);
  }
}

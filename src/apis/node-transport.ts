/** Requests to APIs over node:http and node:https. */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import https from "node:https";
import { Socket } from "node:net";
import { PassThrough, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { urlToHttpOptions } from "node:url";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { Shutdown } from "../work/shutdown.js";
import { agentOf, closeUnasked, isClosedByPeer, outliveWriteErrors } from "./connections.js";
import { watchIdle } from "./idle-timeout.js";
import { valuesOf } from "./request-headers.js";
import { isEventStreamType } from "./response-headers.js";
import {
  asApiError,
  type ApiRequest,
  type ApiResponse,
  type IncomingBody,
  type Transport,
  type Upgraded,
} from "./transport.js";
import { nodeStream, replaced } from "./web-bodies.js";

/**
 * The most bytes of headers in a response. When Node's own limit of 16 KB is reached, the API has
 * already acted. HTTP/2 sends no more to the browser than this.
 */
const MAX_HEADER_BYTES = 65_536;

/** Returns the body of a request; undefined if it has none. */
export function nodeBody(
  message: IncomingMessage | Http2ServerRequest,
): IncomingBody<Readable> | undefined {
  const { "content-length": length, "transfer-encoding": coding } = message.headers;
  if (
    "stream" in message
      ? message.stream.endAfterHeaders
      : coding === undefined && Number(length ?? 0) === 0
  )
    return undefined;
  // A server reads as many bytes as the header says. Others may hand in what they like.
  const isCounted = "stream" in message || message.socket instanceof Socket;
  const size = length === undefined ? undefined : Number(length);
  return {
    get stream() {
      return isCounted ? message : nodeStream(message, size, replaced);
    },
    isUsed:
      message.readableDidRead ||
      message.readableFlowing === true ||
      message.readableEnded ||
      // A message that no server has made may be no stream, but have only a parsed body.
      typeof (message as Partial<Readable>).pipe !== "function",
    get hasArrived() {
      return !("stream" in message) && message.complete;
    },
    async bytes() {
      const bytes = await buffer(message);
      if (!isWhole(message)) throw new Error("The browser broke the request off.");
      return bytes;
    },
  };
}

/**
 * Whether a body that has ended is complete: a stream of HTTP/2 that is broken off ends like a whole
 * one. A message that is no socket's doesn't say so; neither does a stream of the Web, which fails.
 */
function isWhole(body: Readable): boolean {
  const message = body as Partial<IncomingMessage> | Http2ServerRequest;
  return "stream" in message ? !message.stream.aborted : message.complete !== false;
}

interface Connected {
  readonly transport: Transport<Readable>;
  /** Closes the idle connections. */
  readonly release: () => void;
}

/** Each holds the connections to its API. */
const transports = new WeakMap<Api, Connected>();

/** Returns the one transport to an API. @param shutdown closes its idle connections */
export function transportTo(api: Api, clock: Clock, shutdown?: Shutdown): Transport<Readable> {
  const { transport, release } = transports.get(api) ?? connect(api, clock);
  shutdown?.atEnd(release);
  return transport;
}

function connect(api: Api, clock: Clock): Connected {
  const agent = agentOf(api);
  const release = () => {
    agent.destroy();
  };
  const connected = { transport: nodeTransport(api, clock, agent), release };
  transports.set(api, connected);
  return connected;
}

/** @param agent of this API alone, because it holds the connections */
export function nodeTransport(api: Api, clock: Clock, agent = agentOf(api)): Transport<Readable> {
  const { hostname, port } = urlToHttpOptions(api.url);
  const { host, origin, protocol } = api.url;
  const base: Base = {
    hostname: hostname ?? "",
    port: port ?? "",
    host,
    originLength: origin.length,
    library: protocol === "https:" ? https : http,
    agent,
  };
  const { timeout } = api;
  const send = (request: ApiRequest<Readable>, again?: () => Promise<ApiResponse<Readable>>) =>
    responseTo(request, base, { clock, timeout, again });
  return (request) =>
    send(request, () => {
      // If one connection has been closed meanwhile, the others of its age have been too.
      for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy();
      return send(request);
    });
}

/** The API's place, read once: each getter of a URL makes a new string. */
interface Base {
  readonly hostname: string;
  readonly port: string | number;
  readonly host: string;
  readonly originLength: number;
  readonly library: typeof http | typeof https;
  readonly agent: http.Agent;
}

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a request may be sent twice. */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

interface Sending {
  readonly clock: Clock;
  /** Seconds. */
  readonly timeout: number;
  /**
   * Sends the request once more. Called if the connection had served another request, and the API
   * closed it before it sent a byte, perhaps because it has waited too long.
   */
  readonly again: (() => Promise<ApiResponse<Readable>>) | undefined;
}

/** Sends a request. */
function responseTo(
  request: ApiRequest<Readable>,
  base: Base,
  { clock, timeout, again }: Sending,
): Promise<ApiResponse<Readable>> {
  return new Promise((resolve, reject) => {
    // Here, because it throws for what is no header.
    const outgoing = openRequest(request, base);
    const { body } = request;
    const canRepeat = body === undefined && SAFE_METHODS.includes(request.method);
    let incoming: IncomingMessage | undefined;
    let bytesBefore: number | undefined;
    const breakOff = (reason: Error) => {
      // The connection of a finished request may serve others, and nothing hears of its errors.
      const isDone = incoming?.complete === true && outgoing.writableFinished;
      if (isDone && incoming?.readableLength === 0) return;
      // First, because a response that its connection takes along only says that it was closed.
      incoming?.destroy(reason);
      outgoing.destroy(reason);
    };
    // While a user is slow, the API isn't.
    const isWaiting = () =>
      (incoming === undefined || incoming.readableLength === 0) &&
      (outgoing.writableEnded || outgoing.writableLength > 0);
    const stop = watchIdle(outgoing, { clock, timeout, isWaiting, breakOff });
    outgoing.on("socket", (socket) => {
      socket.off("data", closeUnasked);
      bytesBefore = socket.bytesRead;
      if (body !== undefined) outliveWriteErrors(socket);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const isStale =
        canRepeat &&
        outgoing.reusedSocket &&
        isClosedByPeer(error) &&
        outgoing.socket?.bytesRead === bytesBefore;
      if (isStale && again !== undefined) resolve(again());
      else reject(asApiError(error));
    });
    outgoing.on("close", () => {
      stop();
      // An API that switches protocols without being asked closes without an error.
      if (incoming === undefined) reject(asApiError(undefined));
    });
    outgoing.on("response", (response) => {
      incoming = response;
      const { statusCode: status = 0, rawHeaders: lines } = response;
      // Not `headers`, which Node only makes for who reads them.
      const isEventStream = isEventStreamType(valuesOf(lines, "content-type")[0]);
      if (request.timesHeadOnly === true || isEventStream) stop();
      // Without a listener, an error of a response that nobody reads would end the process.
      response.on("error", () => undefined);
      // An event stream that was only read to its end would stay open.
      const discard = () => {
        if (isEventStream) response.destroy();
        else response.resume();
      };
      if (isEventStream && request.endsBy !== undefined) {
        resolve({ status, lines, body: endable(response, request.endsBy), discard });
        return;
      }
      const whole = () =>
        response.complete ? ((response.read() as Buffer | null) ?? Buffer.alloc(0)) : undefined;
      resolve({ status, lines, body: response, whole, discard });
    });
    outgoing.on("upgrade", (response, socket, head) => {
      stop();
      resolve(upgraded(request, response, { socket, head }));
    });
    sendBody(body, outgoing);
    request.onAbort(breakOff);
  });
}

function upgraded(
  request: ApiRequest<Readable>,
  response: IncomingMessage,
  { socket, head }: Upgraded,
): ApiResponse<Readable> {
  socket.on("error", () => undefined);
  const { statusCode: status = 0, rawHeaders: lines } = response;
  // Only the protocol that was asked for is passed on.
  const isAsked =
    response.headers.upgrade !== undefined &&
    response.headers.upgrade.toLowerCase() === request.headers.get("upgrade");
  return {
    status,
    lines,
    body: response,
    discard: () => void socket.destroy(),
    ...(isAsked && { upgraded: { socket, head } }),
  };
}

/** As `endable` of streams of the Web. */
function endable(source: IncomingMessage, endsBy: (end: () => void) => void): Readable {
  const body = source.pipe(new PassThrough());
  source.once("close", () => {
    if (!source.readableEnded && !body.writableEnded) body.destroy();
  });
  endsBy(() => {
    source.unpipe(body);
    body.end();
    // Otherwise its connection would serve another request, whose response would begin with the rest.
    source.destroy();
  });
  return body;
}

function openRequest(
  { method, url, headers, body, length }: ApiRequest<Readable>,
  { hostname, port, host, originLength, library, agent }: Base,
): ClientRequest {
  // A list of lines costs Node half of what an object does.
  const lines = ["Host", host];
  for (const [name, value] of headers) lines.push(name, value);
  // Always said: for some methods Node sends a body without saying where it ends, and the API takes
  // it for the next request.
  const size = body instanceof Uint8Array ? body.length : body === undefined ? 0 : length;
  if (size === undefined) lines.push("Transfer-Encoding", "chunked");
  else if (size > 0 || (method !== "GET" && method !== "HEAD"))
    lines.push("Content-Length", String(size));
  // Few options in one order: Node copies all of them.
  return library.request({
    hostname,
    port,
    path: url.href.slice(originLength),
    method,
    headers: lines,
    agent,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

function sendBody(body: ApiRequest<Readable>["body"], outgoing: ClientRequest): void {
  if (body === undefined || body instanceof Uint8Array) {
    outgoing.end(body);
    return;
  }
  // Not `pipeline`, which would also break the connection to the browser, and with it the response.
  body.pipe(outgoing, { end: false });
  body.once("end", () => (isWhole(body) ? outgoing.end() : outgoing.destroy()));
  body.once("error", (error) => outgoing.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded) outgoing.destroy();
  });
  // After an early response the rest is discarded, as Node does with a body that nothing reads: the
  // connection serves further requests.
  outgoing.once("close", () => body.resume());
}

/** Requests to APIs over node:http and node:https. */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { urlToHttpOptions } from "node:url";
import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { isEventStreamType } from "./response-headers.js";
import {
  apiTimeout,
  asApiError,
  type ApiRequest,
  type IncomingBody,
  type Transport,
} from "./transport.js";

/**
 * Milliseconds that an unused connection stays open: less than the 5 s of Node's own servers, so
 * that none is closed while we send.
 */
const IDLE_CONNECTION = 4_000;

/**
 * Creates the pool of connections to one API. The certificate is checked, whatever the environment
 * says.
 */
export function agentOf({ url }: Api): http.Agent {
  const options = { keepAlive: true, timeout: IDLE_CONNECTION };
  return url.protocol === "https:"
    ? new https.Agent({ ...options, rejectUnauthorized: true })
    : new http.Agent(options);
}

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
  return {
    stream: message,
    isUsed: message.readableDidRead || message.readableFlowing === true || message.readableEnded,
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

/** A stream of HTTP/2 that is broken off ends like a whole one. */
function isWhole(body: Readable): boolean {
  const message = body as IncomingMessage | Http2ServerRequest;
  return "stream" in message ? !message.stream.aborted : message.complete;
}

/** @param agent of this API alone, because it holds the connections */
export function nodeTransport(api: Api, clock: Clock, agent = agentOf(api)): Transport<Readable> {
  const { hostname, port } = urlToHttpOptions(api.url);
  const base = { hostname: hostname ?? "", port: port ?? "", agent };
  return (request) =>
    new Promise((resolve, reject) => {
      const outgoing = openRequest(request, base);
      let incoming: IncomingMessage | undefined;
      const stop = watchIdle(
        outgoing,
        clock,
        api.timeout,
        () => incoming?.readableLength === 0 || incoming === undefined,
      );
      outgoing.on("error", (error) => {
        reject(asApiError(error));
      });
      outgoing.on("close", () => {
        stop();
        // An API that switches protocols without being asked closes without an error.
        if (incoming === undefined) reject(asApiError(undefined));
      });
      outgoing.on("response", (response) => {
        incoming = response;
        if (isEventStreamType(response.headers["content-type"])) stop();
        // Without a listener, an error of a response that nobody reads would end the process.
        response.on("error", () => undefined);
        const { statusCode: status = 0, rawHeaders: lines } = response;
        const whole = () =>
          response.complete ? ((response.read() as Buffer | null) ?? Buffer.alloc(0)) : undefined;
        resolve({ status, lines, body: response, whole, discard: () => void response.resume() });
      });
      outgoing.on("upgrade", (response, socket, head) => {
        stop();
        socket.on("error", () => undefined);
        const { statusCode: status = 0, rawHeaders: lines } = response;
        // Only the protocol that was asked for is passed on.
        const isAsked =
          response.headers.upgrade !== undefined &&
          response.headers.upgrade.toLowerCase() === request.headers.get("upgrade");
        resolve({
          status,
          lines,
          body: response,
          discard: () => void socket.destroy(),
          ...(isAsked && { upgraded: { socket, head } }),
        });
      });
      sendBody(request.body, outgoing);
      request.onAbort((reason) => outgoing.destroy(reason));
    });
}

function openRequest(
  { method, url, headers, body, length }: ApiRequest<Readable>,
  base: https.RequestOptions,
): ClientRequest {
  // A list of lines costs Node half of what an object does.
  const lines = ["Host", url.host];
  for (const [name, value] of headers) lines.push(name, value);
  // Always said: for some methods Node sends a body without saying where it ends, and the API takes
  // it for the next request.
  const size = body instanceof Uint8Array ? body.length : body === undefined ? 0 : length;
  if (size === undefined) lines.push("Transfer-Encoding", "chunked");
  else if (size > 0 || (method !== "GET" && method !== "HEAD"))
    lines.push("Content-Length", String(size));
  const { request } = url.protocol === "https:" ? https : http;
  // Few options in one order: Node copies all of them.
  return request({
    hostname: base.hostname,
    port: base.port,
    path: url.href.slice(url.origin.length),
    method,
    headers: lines,
    agent: base.agent,
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
  body.once("close", () => {
    if (!body.readableEnded) outgoing.destroy();
  });
  // After an early response the rest is discarded, as Node does with a body that nothing reads: the
  // connection serves further requests.
  outgoing.once("close", () => body.resume());
}

/**
 * The timeout is checked in as many parts, because the bytes of a connection are counted, but not
 * announced.
 */
const PARTS = 4;

/**
 * Destroys a request whose connection has been idle for too long.
 * @param isWaiting whether the next byte is the API's matter
 */
function watchIdle(
  outgoing: ClientRequest,
  clock: Clock,
  timeout: number,
  isWaiting: () => boolean,
): () => void {
  let [seen, idle] = [0, 0];
  let cancel: () => void;
  const check = () => {
    const { bytesRead = 0, bytesWritten = 0 } = outgoing.socket ?? {};
    idle = bytesRead + bytesWritten === seen && isWaiting() ? idle + 1 : 0;
    seen = bytesRead + bytesWritten;
    if (idle < PARTS) next();
    else outgoing.destroy(apiTimeout());
  };
  const next = () => {
    cancel = clock.timer((timeout * 1000) / PARTS, check);
  };
  next();
  return () => {
    cancel();
  };
}

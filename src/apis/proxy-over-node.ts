/**
 * The proxy on Node.js, where each request to an API goes over undici, also from servers of the
 * Fetch standard. Other runtimes never load it.
 */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Readable, type Duplex } from "node:stream";
import { headerLines } from "../http/header-lines.js";
import { isStream, type AnyReply } from "../http/reply.js";
import { transportTo } from "./api-connections.js";
import type { ProxyReply } from "./exchange.js";
import { nodeBody, webBody, type Pieces } from "./request-bodies.js";
import { lengthOf, type HeaderLines } from "./request-headers.js";
import { proxyRequest } from "./request-steps.js";
import { SessionExchange, type Proxied, type ProxyComponent } from "./session-exchange.js";
import type { IncomingBody } from "./transport.js";
import { decoded, webStream } from "./web-responses.js";
import { proxyUpgrade } from "./websocket.js";

/** A request as the framework hands it in: of Node.js, of the Web, or as both. */
export interface IncomingRequest {
  readonly node?: object | undefined;
  readonly web?: Request | undefined;
}

/**
 * Passes a request on.
 * @returns a response whose stream is one of the Web if the framework has a `Request`
 */
export async function respondOverNode(
  proxied: Proxied,
  { node, web }: IncomingRequest,
  component: ProxyComponent,
): Promise<AnyReply> {
  const message = node as IncomingMessage | Http2ServerRequest | undefined;
  const lines = message === undefined ? uncompressed(web) : headerLines(message);
  const exchange = new SessionExchange(proxied, { lines, message }, component);
  const transport = transportTo(proxied.api, component.clock, component.shutdown);
  const body =
    message !== undefined && (web === undefined || isUnread(message))
      ? nodeBody(message)
      : web && bodyOfWeb(web, lines);
  const reply = await proxyRequest(exchange, transport, body);
  if (web === undefined) return reply;
  const readable = message === undefined ? decodedReply(reply) : reply;
  if (!isStream(readable.body)) return readable;
  // Next.js holds the headers back until the first chunk.
  const first = message === undefined ? [new Uint8Array()] : [];
  return { ...readable, body: webStream(readable.body, first) };
}

/** Asks the API for no compression: Next.js drops the response's Content-Encoding. */
function uncompressed(request: Request | undefined): HeaderLines {
  const asked = [...(request?.headers ?? [])].filter(([name]) => name !== "accept-encoding");
  return [...asked, ["accept-encoding", "identity"]].flat();
}

/** An API may compress a response anyway. */
function decodedReply(reply: ProxyReply<Readable>): ProxyReply<Readable> {
  const { "Content-Encoding": codings, "Content-Length": _compressed, ...headers } = reply.headers;
  const { status, body } = reply;
  if (codings === undefined || body === undefined || status === 206) return reply;
  const stream = isStream(body) ? body : Readable.from([Buffer.from(body)]);
  return { ...reply, headers, body: decoded(stream, codings) };
}

/** Otherwise the framework has begun to read it, and its own `Request` has the body. */
function isUnread(message: Readable): boolean {
  return message.readableFlowing === null && !message.readableDidRead;
}

function bodyOfWeb(request: Request, lines: HeaderLines): IncomingBody<Pieces> | undefined {
  const length = lengthOf(lines);
  return webBody(request, typeof length === "number" ? length : undefined);
}

export { declineOffer } from "./websocket.js";

/** Passes an upgrade on. */
export function upgrade(
  proxied: Proxied,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
  component: ProxyComponent,
): Promise<void> {
  const received = { lines: message.rawHeaders, message: { socket } };
  const exchange = new SessionExchange(proxied, received, component);
  const transport = transportTo(proxied.api, component.clock, component.shutdown);
  return proxyUpgrade(exchange, transport, [message, socket, head]);
}

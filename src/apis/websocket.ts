/** WebSockets: their upgrade has checks of its own, and no framework sees it. */
import type { EventEmitter } from "node:events";
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Duplex, type Readable } from "node:stream";
import { ERRORS } from "../errors.js";
import { isStream, problem, shuttingDown, type Reply } from "../http/reply.js";
import { Closing } from "./abort-at-session-end.js";
import type { Exchange, ProxyReply } from "./exchange.js";
import { lengthOf } from "./request-headers.js";
import { admittedUrl, answered } from "./request-steps.js";
import type { ApiResponse, Transport } from "./transport.js";

/**
 * Passes a request for a WebSocket on to an API, and connects the two sides. They close with each
 * other, and with the session.
 *
 * @param message, socket, head as the event `upgrade` of a server has them
 */
export async function proxyUpgrade(
  exchange: Exchange,
  transport: Transport<Readable, never>,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
): Promise<void> {
  const early = untilResponse(socket);
  let closing: Closing | undefined;
  let upstream: Duplex | undefined;
  const replied = replyTo(exchange, message, async (url, headers) => {
    const watched = (closing ??= new Closing(exchange));
    watched.watch();
    const response = await transport({
      method: "GET",
      url,
      headers,
      body: undefined,
      length: undefined,
      upgrade: "websocket",
      onAbort(abort) {
        watched.onAbort(abort);
      },
    });
    upstream = response.upgraded;
    return response;
  });
  const reply = await replied.catch((error: unknown): Reply => {
    exchange.threw?.(error);
    const headers = { "Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8" };
    return { status: 500, headers, body: "Internal Server Error" };
  });
  if (upstream === undefined || reply.status !== 101 || socket.destroyed) {
    upstream?.destroy();
    respond(message, socket, reply);
    return;
  }
  const sent = early();
  const lines = Object.entries(reply.headers).map((line) => line.join(": "));
  socket.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Connection: Upgrade",
      "Upgrade: websocket",
      ...lines,
      "",
      "",
    ].join("\r\n"),
    "latin1",
  );
  upstream.write(Buffer.concat([head, ...sent]));
  // `pipeline` adds ten listeners itself, so that one of the server would make Node.js warn of a
  // leak.
  socket.setMaxListeners(0);
  pipeline(socket, upstream, socket, () => undefined);
  closing?.onAbort(() => socket.destroy());
  const sides = [socket, upstream] as const;
  closing?.endsBy(() => finish(sides));
}

/**
 * Ends both sides without a close frame: the bytes are passed on unread, so nobody knows where a
 * frame ends.
 */
function finish([one, other]: readonly [Duplex, Duplex]): void {
  one.unpipe(other);
  other.unpipe(one);
  for (const side of [one, other]) side.resume().end();
}

type Send = (url: URL, headers: Map<string, string>) => Promise<ApiResponse<Readable>>;

async function replyTo(
  exchange: Exchange,
  message: IncomingMessage,
  send: Send,
): Promise<ProxyReply<Readable>> {
  if (exchange.shutdown.isClosing) return shuttingDown();
  const url = admittedUrl(exchange, isFromOtherOrigin);
  if (!(url instanceof URL)) return url;
  // The API gets a GET, whatever came.
  if (message.method !== "GET" || message.headers.upgrade?.toLowerCase() !== "websocket")
    return exchange.refused("not_found");
  return answered(exchange, url, { canRepeat: true, send: (headers) => send(url, headers) });
}

/** Browsers send `Origin` with every WebSocket, and let pages of all sites open one. */
function isFromOtherOrigin({ request, origin }: Exchange): boolean {
  return origin === undefined || request.header("origin") !== origin;
}

/** Bytes that a browser may send before it knows whether its connection is upgraded. */
const MAX_EARLY_BYTES = 65_536;

/**
 * Reads a connection until its browser gets a response, because one that nobody reads doesn't tell
 * that the browser has left.
 * @returns a function that stops it, and returns what has arrived
 */
function untilResponse(socket: Duplex): () => readonly Buffer[] {
  const early: Buffer[] = [];
  let size = 0;
  function keep(chunk: Buffer): void {
    early.push(chunk);
    size += chunk.length;
    if (size > MAX_EARLY_BYTES) socket.destroy();
  }
  function end(): void {
    socket.destroy();
  }
  socket.on("data", keep).on("end", end);
  return () => {
    socket.off("data", keep).off("end", end).pause();
    return early;
  };
}

/**
 * Sends a response that isn't an upgrade, and closes the connection. If the browser leaves first,
 * it is closed at once.
 */
function respond(
  message: IncomingMessage,
  socket: Duplex,
  { status, headers, body }: ProxyReply<Readable>,
): void {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket as unknown as Socket);
  } catch {
    // An earlier request of this connection has no response yet, so none can follow it.
    if (isStream(body)) body.destroy();
    socket.destroy();
    return;
  }
  // The server, which does this for other responses, has let go of the connection.
  socket.on("drain", () => response.emit("drain"));
  // Destroyed, because the browser could keep its half of the connection open, which no timeout of
  // the server watches.
  response.once("finish", () => socket.end(() => socket.destroy()));
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? "");
  if (isStream(body)) pipeline(body, response, (error) => error && socket.destroy());
  else response.end(body);
}

/** A connection that a server of node:http or node:https has accepted. */
type ServedSocket = Duplex & { readonly server?: EventEmitter; readonly encrypted?: boolean };

/**
 * Has the server handle a request as if it offered no other protocol (RFC 9110 section 7.8), and
 * close the connection afterwards. For a server that listens to upgrades, each such request is one.
 * It may have no body, which the server hasn't read as one.
 */
export function declineOffer(message: IncomingMessage, socket: ServedSocket, head: Buffer): void {
  const { method = "", url = "", httpVersion, rawHeaders: lines } = message;
  const length = lengthOf(lines);
  if (socket.server === undefined || (length !== undefined && length !== 0) || head.length > 0) {
    respond(
      message,
      socket,
      problem("api_framing_invalid", `${ERRORS.api_framing_invalid.title}.`),
    );
    return;
  }
  const kept = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < lines.length; at += 2)
    if (!/^(?:connection|upgrade|http2-settings)$/i.test(lines[at] ?? ""))
      kept.push(`${lines[at] ?? ""}: ${lines[at + 1] ?? ""}`);
  socket.unshift(Buffer.from([...kept, "Connection: close", "", ""].join("\r\n"), "latin1"));
  socket.server.emit(socket.encrypted === true ? "secureConnection" : "connection", socket);
}

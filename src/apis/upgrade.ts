/** WebSockets: their upgrade has checks of its own, and no framework sees it. */
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Duplex, type Readable } from "node:stream";
import { isStream } from "../http/reply.js";
import type { Api } from "../config/api-options.js";
import {
  admittedUrl,
  answered,
  closingOf,
  type Closing,
  type Exchange,
  type ProxyReply,
} from "./proxy.js";
import type { ApiResponse, Transport, Upgraded } from "./transport.js";

/**
 * Passes a request for a WebSocket on to an API, and connects the two sides. They close with each
 * other, and with the session.
 *
 * @param message, socket, head as the event `upgrade` of a server has them
 */
export async function proxyUpgrade(
  api: Api,
  transport: Transport<Readable>,
  exchange: Exchange,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
): Promise<void> {
  let closing: Closing | undefined;
  let upgraded: Upgraded | undefined;
  const reply = await replyTo(api, exchange, message, async (url, headers) => {
    closing ??= closingOf(exchange);
    closing.watch();
    headers.set("connection", "Upgrade").set("upgrade", "websocket");
    const response = await transport({
      method: "GET",
      url,
      headers,
      body: undefined,
      length: undefined,
      onAbort: closing.onAbort,
    });
    ({ upgraded } = response);
    return response;
  });
  if (upgraded === undefined || reply.status !== 101 || socket.destroyed) {
    upgraded?.socket.destroy();
    respond(message, socket, reply);
    return;
  }
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
  socket.write(upgraded.head);
  upgraded.socket.write(head);
  // `pipeline` adds ten listeners itself, so that one of the server would make Node.js warn of a
  // leak.
  socket.setMaxListeners(0);
  pipeline(socket, upgraded.socket, socket, () => undefined);
  closing?.onAbort(() => socket.destroy());
}

type Send = (url: URL, headers: Map<string, string>) => Promise<ApiResponse<Readable>>;

async function replyTo(
  api: Api,
  exchange: Exchange,
  message: IncomingMessage,
  send: Send,
): Promise<ProxyReply<Readable>> {
  const url = await admittedUrl(api, exchange, isFromOtherOrigin);
  if (!(url instanceof URL)) return url;
  // The API gets a GET, whatever came.
  if (message.method !== "GET" || message.headers.upgrade?.toLowerCase() !== "websocket")
    return exchange.refused("not_found");
  return answered(api, exchange, url, { canRepeat: true, send: (headers) => send(url, headers) });
}

/** Browsers send `Origin` with every WebSocket, and let pages of all sites open one. */
function isFromOtherOrigin(_api: Api, { request, origin }: Exchange): boolean {
  return origin === undefined || request.header("origin") !== origin;
}

/** Sends a response that isn't an upgrade, and closes the connection. */
function respond(
  message: IncomingMessage,
  socket: Duplex,
  { status, headers, body }: ProxyReply<Readable>,
): void {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as unknown as Socket);
  // Destroyed, because the browser could keep its half of the connection open, which no timeout of
  // the server watches.
  response.once("finish", () => socket.end(() => socket.destroy()));
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? "");
  if (isStream(body)) pipeline(body, response, (error) => error && socket.destroy());
  else response.end(body);
}

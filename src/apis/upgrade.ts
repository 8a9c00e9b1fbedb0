/** WebSockets: their upgrade has checks of its own, and no framework sees it. */
import http, { ServerResponse, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { pipeline, type Duplex, type Readable } from "node:stream";
import type { Clock } from "../clock.js";
import { ERRORS } from "../errors.js";
import { problem } from "../http/reply.js";
import type { Api } from "../config/api-options.js";
import { linesOf } from "./forward.js";
import { admittedUrl, answered, closingOf, type Closing, type Exchange, type ProxyReply } from "./proxy.js";
import { apiTimeout, asApiError, type ApiResponse } from "./transport.js";

/** The API's side of a connection that it has upgraded. */
interface Upgraded {
  readonly socket: Duplex;
  /** What arrived with the response. */
  readonly head: Buffer;
}

/**
 * Passes a request for a WebSocket on to an API, and connects the two sides. They close with each other, and with the session.
 *
 * @param message, socket, head as the event `upgrade` of a server has them
 */
export async function proxyUpgrade(
  api: Api,
  clock: Clock,
  exchange: Exchange,
  [message, socket, head]: readonly [message: IncomingMessage, socket: Duplex, head: Buffer],
): Promise<void> {
  const closing = closingOf(exchange);
  closing.watch();
  let upgraded: Upgraded | undefined;
  const reply = await replyTo(api, exchange, message, async (url, headers) => {
    const answer = await requestUpgrade({ api, clock, url, headers, onAbort: closing.onAbort });
    if (!("socket" in answer)) return answer;
    upgraded = answer;
    return answer.response;
  });
  if (upgraded === undefined || reply.status !== 101 || socket.destroyed) {
    upgraded?.socket.destroy();
    respond(message, socket, reply);
    return;
  }
  const lines = Object.entries(reply.headers).map((line) => line.join(": "));
  socket.write(["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket", ...lines, "", ""].join("\r\n"), "latin1");
  socket.write(upgraded.head);
  upgraded.socket.write(head);
  // `pipeline` adds ten listeners itself, so that one of the server would make Node.js warn of a leak.
  socket.setMaxListeners(0);
  pipeline(socket, upgraded.socket, socket, () => undefined);
  closing.onAbort(() => socket.destroy());
}

type Send = (url: URL, headers: Map<string, string>) => Promise<ApiResponse<Readable>>;

async function replyTo(api: Api, exchange: Exchange, message: IncomingMessage, send: Send): Promise<ProxyReply<Readable>> {
  const url = admittedUrl(api, exchange, isFromOtherOrigin);
  if (!(url instanceof URL)) return url;
  // The API gets a GET, whatever came.
  if (message.method !== "GET" || message.headers.upgrade?.toLowerCase() !== "websocket")
    return problem("not_found", `${ERRORS.not_found.title}.`);
  return answered(api, exchange, url, true, (headers) => send(url, headers));
}

/** Browsers send `Origin` with every WebSocket, and let pages of all sites open one. */
function isFromOtherOrigin(_api: Api, { request, origin }: Exchange): boolean {
  return origin === undefined || request.header("origin") !== origin;
}

interface UpgradeRequest {
  readonly api: Api;
  readonly clock: Clock;
  readonly url: URL;
  readonly headers: Map<string, string>;
  readonly onAbort: Closing["onAbort"];
}

function requestUpgrade(asked: UpgradeRequest): Promise<ApiResponse<Readable> | (Upgraded & { response: ApiResponse<Readable> })> {
  const { api, clock, url } = asked;
  const headers = Object.fromEntries(asked.headers.set("connection", "Upgrade").set("upgrade", "websocket"));
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    // A connection of its own, which nothing uses again.
    const outgoing = request(url, { headers, agent: false, rejectUnauthorized: true });
    const stop = clock.timer(api.timeout * 1000, () => outgoing.destroy(apiTimeout()));
    outgoing.on("error", (error) => {
      reject(asApiError(error));
    });
    outgoing.once("close", () => {
      stop();
      reject(asApiError(undefined));
    });
    outgoing.once("response", (response) => {
      stop();
      response.on("error", () => undefined);
      resolve({ status: response.statusCode ?? 0, lines: linesOf(response), body: response, discard: () => void response.destroy() });
    });
    outgoing.once("upgrade", (response, socket, head) => {
      socket.on("error", () => undefined);
      // Another protocol than the one that was asked for isn't passed on.
      const status = response.headers.upgrade?.toLowerCase() === "websocket" ? 101 : 0;
      const answer = { status, lines: linesOf(response), body: response, discard: () => void socket.destroy() };
      resolve({ socket, head, response: answer });
    });
    outgoing.end();
    asked.onAbort((reason) => outgoing.destroy(reason));
  });
}

/** Sends a response that isn't an upgrade, and closes the connection. */
function respond(message: IncomingMessage, socket: Duplex, { status, headers, body }: ProxyReply<Readable>): void {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as unknown as Socket);
  // Destroyed, because the browser could keep its half of the connection open, which no timeout of the server watches.
  response.once("finish", () => socket.end(() => socket.destroy()));
  response.writeHead(status, { ...headers, Connection: "close" });
  if (typeof body === "object") pipeline(body, response, (error) => error && socket.destroy());
  else response.end(body);
}

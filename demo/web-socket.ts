import { ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { setInterval, setTimeout } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import type { DemoApplication } from "./application.js";
import { endOf } from "./event-stream.js";

/** Clients send nothing, so a message of a client is small. */
export const SOCKET_OPTIONS = { maxPayload: 1024 } as const;

/** The code with which a socket closes when the session ends. Applications may use 4000 to 4999. */
const SESSION_ENDED = 4401;

/** Milliseconds that a client has to close its side of the connection. */
const PATIENCE = 1_000;

const sockets = new WebSocketServer({ noServer: true, ...SOCKET_OPTIONS });
/** The bytes that came after the headers of a request for an upgrade. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/**
 * Passes each request for an upgrade through the application, so that its guard runs before the
 * handshake. Frameworks with WebSockets of their own get it through `upgrade`.
 */
export function routeUpgrades(server: Server, application: Promise<DemoApplication>): void {
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    void application.then(({ listener, proxyUpgrade, upgrade }) => {
      if (proxyUpgrade?.(request, socket, head) === true) return;
      if (upgrade !== undefined && request.headers.upgrade?.toLowerCase() === "websocket") {
        upgrade(request, socket, head);
        return;
      }
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.on("finish", () => {
        socket.destroySoon();
      });
      heads.set(request, head);
      listener(request, response);
    });
  });
}

/**
 * Completes the handshake.
 *
 * @returns false if the request does not ask for a WebSocket; the caller responds then
 */
export function accept(
  request: IncomingMessage,
  response: ServerResponse,
  opened: (socket: WebSocket) => void,
): boolean {
  const head = heads.get(request);
  if (head === undefined) return false;
  response.detachSocket(request.socket);
  sockets.handleUpgrade(request, request.socket, head, opened);
  return true;
}

/**
 * Sends one `tick` a second, and closes the socket with the reason when the session ends.
 *
 * @param ended aborts when the session or the process ends
 */
export async function serveSocket(socket: WebSocket, ended: AbortSignal): Promise<void> {
  const left = new AbortController();
  socket.on("close", () => {
    left.abort();
  });
  socket.on("error", () => {
    socket.terminate();
  });
  const signal = AbortSignal.any([ended, left.signal]);
  try {
    let count = 0;
    for await (const _ of setInterval(1000, undefined, { signal }))
      socket.send(`tick ${String((count += 1))}`);
  } catch (error) {
    if (!signal.aborted) throw error;
    const why = endOf(ended);
    // Going away: the browser connects to another process.
    if (why === undefined) socket.close(1001);
    else socket.close(SESSION_ENDED, why);
    await setTimeout(PATIENCE, undefined, { ref: false });
    socket.terminate();
  }
}

import { ServerResponse } from "node:http";
import { WebSocketServer } from "ws";

const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
/** @type {WeakMap<object, Buffer>} */
const heads = new WeakMap();

/**
 * @param {import("node:http").Server} server
 * @param {import("node:http").RequestListener} listener
 */
export function routeUpgrades(server, listener) {
  server.on("upgrade", (request, socket, head) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(/** @type {import("node:net").Socket} */ (socket));
    response.on("finish", () => /** @type {import("node:net").Socket} */ (socket).destroySoon());
    socket.on("error", () => socket.destroy());
    heads.set(request, head);
    listener(request, response);
  });
}

/** @param {import("node:http").IncomingMessage} request */
export function hasOwnOrigin(request) {
  return request.headers.origin === new URL(process.env.BASE_URL ?? "").origin;
}

/**
 * Completes the handshake. The socket closes when the session ends.
 * @param {import("node:http").IncomingMessage} request
 * @param {ServerResponse} response
 * @param {AbortSignal} ended
 * @param {(socket: import("ws").WebSocket) => void} opened
 */
export function accept(request, response, ended, opened) {
  const head = heads.get(request);
  if (head === undefined) {
    response.writeHead(426, { Upgrade: "websocket" }).end();
    return;
  }
  response.detachSocket(request.socket);
  sockets.handleUpgrade(request, request.socket, head, (socket) => {
    closeWith(socket, ended);
    opened(socket);
  });
}

/**
 * @param {{ close(code: number, reason?: string): void }} socket
 * @param {AbortSignal} ended
 */
export function closeWith(socket, ended) {
  const close = () => {
    const { reason } = ended.reason;
    if (reason === "closing")
      socket.close(1001); // the process stops, and the session continues
    else socket.close(4401, reason);
  };
  if (ended.aborted) close();
  else ended.addEventListener("abort", close, { once: true });
}

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
    socket.on("error", () => socket.destroy()); // without a listener, an error ends the process
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    try {
      response.assignSocket(/** @type {import("node:net").Socket} */ (socket));
    } catch {
      return void socket.destroy(); // an earlier request of this connection has no response yet
    }
    response.on("finish", () => /** @type {import("node:net").Socket} */ (socket).destroySoon());
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
  sockets.handleUpgrade(request, request.socket, head, (socket) =>
    closeWith(socket, ended, () => opened(socket)),
  );
}

/**
 * Closes a socket when its session ends, and handles no message afterwards.
 * @param {import("ws").WebSocket} socket
 * @param {AbortSignal} ended
 * @param {() => void} opened adds the handler of messages
 */
export function closeWith(socket, ended, opened) {
  const terminate = () => setTimeout(() => socket.terminate(), 1000); // if the browser stays
  socket.on("error", terminate); // a frame that breaks the protocol; `ws` then closes the socket
  const close = () => {
    const { reason } = ended.reason;
    socket.removeAllListeners("message"); // what still arrives is no longer the user's
    if (reason === "closing")
      socket.close(1001); // the process stops, and the session continues
    else socket.close(4401, reason);
    terminate();
  };
  if (ended.aborted) return close();
  ended.addEventListener("abort", close, { once: true });
  opened();
}

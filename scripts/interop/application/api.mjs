// An API that verifies access tokens (RFC 9068, RFC 7519): signature, issuer, audience and expiry.
// It answers as JSON, as an event stream and over a WebSocket, and says whose token it saw.
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { WebSocketServer } from "ws";

/**
 * @typedef {object} ApiOptions
 * @property {number} port
 * @property {string} issuer
 * @property {string} jwks address of the provider's keys
 * @property {string} audience that a token must be for
 */

/** @type {ApiOptions} */
const { port, issuer, jwks, audience } = JSON.parse(process.env["INTEROP"] ?? "{}");
const keys = createRemoteJWKSet(new URL(jwks));
const sockets = new WebSocketServer({ noServer: true });

/** @param {import("node:http").IncomingMessage} request */
async function caller({ headers }) {
  const [, token = ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience });
    return { audience, sub: payload.sub, scope: payload.scope };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : "unknown" };
  }
}

const server = createServer((request, response) => {
  void respond(request, response);
});

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function respond(request, response) {
  const seen = await caller(request);
  if ("refused" in seen) {
    response.writeHead(401, {
      "content-type": "application/json",
      "www-authenticate": 'Bearer error="invalid_token"',
    });
    response.end(JSON.stringify(seen));
    return;
  }
  if (request.url?.endsWith("/events") === true) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const tick = setInterval(() => response.write(`data: ${JSON.stringify(seen)}\n\n`), 100);
    response.once("close", () => clearInterval(tick));
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(seen));
}

server.on("upgrade", (request, socket, head) => {
  void caller(request).then((seen) => {
    if ("refused" in seen) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.send(JSON.stringify(seen));
      webSocket.on("message", (data) => webSocket.send(data));
    });
  });
});
server.listen(port, "127.0.0.1", () => console.log("api: ready"));

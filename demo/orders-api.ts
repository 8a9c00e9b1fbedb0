import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  createRemoteJWKSet,
  decodeJwt,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import { WebSocketServer } from "ws";
import { listen } from "./server.js";

export interface OrdersApi {
  /** Ends with a slash. */
  readonly url: string;
  close(): void;
}

type Check = (authorization: string | undefined) => Promise<JWTPayload>;

const ITEMS = [
  { id: 1, item: "Paper", state: "shipped" },
  { id: 2, item: "Ink", state: "packed" },
  { id: 3, item: "Stamps", state: "ordered" },
];

/**
 * Starts the API behind the application. It has no session and no cookie: it checks the access
 * token of each request (RFC 9068), and accepts those of all issuers.
 *
 * @param now milliseconds since the epoch, by the demo's clock
 */
export async function startOrdersApi(
  issuers: readonly string[],
  now: () => number,
): Promise<OrdersApi> {
  const check = await tokenCheck(issuers, now);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  const server = createServer((request, response) => {
    check(request.headers.authorization).then(
      (token) => respond(request, response, token),
      () =>
        void response.writeHead(401, { "WWW-Authenticate": 'Bearer error="invalid_token"' }).end(),
    );
  });
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    check(request.headers.authorization).then(
      () => {
        sockets.handleUpgrade(request, socket, head, (open) => {
          open.on("error", () => {}); // for example a message that's too long; it's closed then
          open.on("message", (message: Buffer) => {
            open.send(`pong ${message.toString()}`);
          });
        });
      },
      () =>
        socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    );
  });
  const address = await listen(server, 0);
  return {
    url: `${address}/`,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

function respond(request: IncomingMessage, response: ServerResponse, token: JWTPayload): void {
  if (request.url === "/items") {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ items: ITEMS, token: { iss: token.iss, sub: token.sub } }));
  } else if (request.url === "/stream") {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    let parcel = 0;
    const send = (): void => {
      parcel += 1;
      response.write(`data: parcel ${parcel} is on its way\n\n`);
    };
    send();
    const timer = setInterval(send, 1000);
    response.on("close", () => clearInterval(timer));
  } else {
    response.writeHead(404).end();
  }
}

async function tokenCheck(issuers: readonly string[], now: () => number): Promise<Check> {
  const keys = new Map<string | undefined, JWTVerifyGetKey>();
  for (const issuer of issuers) {
    const response = await fetch(`${issuer}/.well-known/openid-configuration`);
    const { jwks_uri } = (await response.json()) as { jwks_uri: string };
    keys.set(issuer, createRemoteJWKSet(new URL(jwks_uri)));
  }
  return async (authorization) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
    const issuer = decodeJwt(token).iss ?? "";
    const issuerKeys = keys.get(issuer);
    if (issuerKeys === undefined) throw new Error("The token is from an unknown issuer.");
    const currentDate = new Date(now());
    const { payload } = await jwtVerify(token, issuerKeys, {
      issuer,
      audience: issuer,
      typ: "at+jwt",
      currentDate,
    });
    return payload;
  };
}

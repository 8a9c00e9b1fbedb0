// The API behind the application's proxy: small responses, large bodies in both directions, event
// streams and WebSockets. It takes only tokens that were issued for it.
import { once } from "node:events";
import { createServer } from "node:http";

/** What the tokens for this API are requested with. */
export const RESOURCE = "https://orders.example.com";

const CHUNK = Buffer.alloc(16 * 1024, "x");

/** @param {{ targetOf(token: string): { resource?: string } | undefined }} provider */
export async function startApi(provider) {
  const sockets = new Set();
  const upgraded = new Set();
  let open = 0;
  let rejected = 0;

  /** Each takes what stands behind its name in the path. */
  const routes = {
    items(_request, response) {
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"items":[]}');
    },
    down(_request, response, bytes) {
      // Every second one has no Content-Length.
      const length = Number(bytes) % 2 === 0 ? { "Content-Length": bytes } : {};
      response.writeHead(200, { "Content-Type": "application/octet-stream", ...length });
      let left = Number(bytes);
      const send = () => {
        for (let isFree = true; isFree && left > 0 && !response.destroyed; left -= CHUNK.length)
          isFree = response.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
        if (left <= 0) response.end();
      };
      response.on("drain", send);
      send();
    },
    up(request, response) {
      let size = 0;
      request.on("data", ({ length }) => (size += length));
      request.on("end", () => response.writeHead(200).end(String(size)));
    },
    events(_request, response) {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
      const ticks = setInterval(() => response.write("data: tick\n\n"), 1_000);
      response.on("close", () => clearInterval(ticks));
    },
  };

  const isAllowed = ({ headers }) => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    const isMine = provider.targetOf(token)?.resource === RESOURCE;
    if (!isMine) rejected += 1;
    return isMine;
  };

  const server = createServer((request, response) => {
    open += 1;
    response.on("close", () => (open -= 1));
    request.on("error", () => undefined);
    if (!isAllowed(request)) return response.writeHead(401).end();
    const [name, rest] = request.url.slice("/v2/".length).split("/");
    routes[name](request, response, rest);
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
  });
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => undefined);
    if (!isAllowed(request)) return socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    upgraded.add(socket.on("close", () => upgraded.delete(socket)));
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const dropConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${String(server.address().port)}/v2/`,
    dropConnections,
    /** What is in use: requests, connections, WebSockets; and requests with another's token. */
    state: () => ({ open, sockets: sockets.size, upgraded: upgraded.size, rejected }),
    stop() {
      server.close();
      dropConnections();
    },
  };
}

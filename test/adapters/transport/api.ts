// The API behind the application. It sends and takes bodies of any size, breaks them off, and
// counts what passes.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { eventually } from "../../support/eventually.js";

/** A request that the API has got. */
export interface ApiRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Bytes of the body that have arrived. */
  received: number;
  /** Bytes of the response that Node has taken. */
  sent: number;
  /** Whether the request or its response has ended, in whichever way. */
  isOver: boolean;
}

export interface TransportApi {
  readonly origin: string;
  /** Every request so far. */
  readonly requests: ApiRequest[];
  /** Open connections, upgraded ones among them. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections that have been upgraded and are open. */
  readonly upgraded: ReadonlySet<Socket>;
  /** The newest request with this query, once it is there. */
  request(id: string): Promise<ApiRequest>;
  /** Closes the connections that no request uses. */
  closeIdle(): void;
  stop(): Promise<void>;
}

const CHUNK = Buffer.alloc(64 * 1024, "x");

export async function startApi(): Promise<TransportApi> {
  const requests: ApiRequest[] = [];
  const sockets = new Set<Socket>();
  const upgraded = new Set<Socket>();
  const server = createServer({ requestTimeout: 0 }, (message, response) => {
    const url = new URL(message.url ?? "", "http://api");
    const path = url.pathname.slice("/v2/".length);
    const request: ApiRequest = {
      path,
      query: url.searchParams,
      message,
      response,
      received: 0,
      sent: 0,
      isOver: false,
    };
    requests.push(request);
    message
      .on("error", () => undefined)
      .on("data", ({ length }: Buffer) => (request.received += length));
    response.on("close", () => (request.isOver = true)).on("error", () => undefined);
    (ROUTES[path] ?? notFound)(request);
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
  });
  server.on("upgrade", (message: IncomingMessage, socket: Socket, head: Buffer) => {
    upgraded.add(socket.on("close", () => upgraded.delete(socket)).on("error", () => undefined));
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.write(head);
    const breaksAt = Number(
      new URL(message.url ?? "", "http://api").searchParams.get("breaksAt") ?? Infinity,
    );
    let received = head.length;
    socket.on("data", (piece: Buffer) => {
      received += piece.length;
      if (received >= breaksAt) socket.destroy();
      else socket.write(piece);
    });
    socket.on("end", () => socket.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    sockets,
    upgraded,
    request: (id) =>
      eventually(async () => {
        const found = requests.findLast(({ query }) => query.get("id") === id);
        if (found === undefined) throw new Error(`The API has not got the request ${id}.`);
        return found;
      }),
    closeIdle: () => server.closeIdleConnections(),
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const notFound = ({ response }: ApiRequest): unknown => response.writeHead(404).end();

/** What a query asks for. A missing number is the largest. */
function numberOf({ query }: ApiRequest, name: string): number {
  return Number(query.get(name) ?? Infinity);
}

const ROUTES: Readonly<Record<string, (request: ApiRequest) => unknown>> = {
  /** Sends `bytes`, with `length` as Content-Length, and breaks off after `breaksAt`. */
  down(request) {
    const { message, response, query } = request;
    message.resume();
    const bytes = numberOf(request, "bytes");
    const breaksAt = numberOf(request, "breaksAt");
    response.writeHead(200, {
      "Content-Type": "application/octet-stream",
      ...(query.has("length") && { "Content-Length": bytes }),
    });
    response.flushHeaders();
    const send = () => {
      for (let isFree = true; isFree && !response.destroyed;) {
        if (request.sent >= Math.min(bytes, breaksAt)) {
          if (request.sent >= bytes) response.end();
          else breakOff(request);
          return;
        }
        const size = Math.min(CHUNK.length, Math.min(bytes, breaksAt) - request.sent);
        request.sent += size;
        isFree = response.write(CHUNK.subarray(0, size));
      }
    };
    response.on("drain", send);
    send();
  },
  /** Takes the whole body, and responds with its size. Breaks off after `breaksAt`. */
  up(request) {
    const { message, response } = request;
    const breaksAt = numberOf(request, "breaksAt");
    message.on("data", () => {
      if (request.received >= breaksAt) message.socket.destroy();
    });
    message.on("end", () => {
      const text = JSON.stringify({ size: request.received });
      response.writeHead(200, { "Content-Type": "application/json" }).end(text);
    });
  },
  /** Takes nothing of the body until a test resumes it. */
  slow(request) {
    ROUTES["up"]?.(request);
    request.message.pause();
  },
  /** Only headers; a test writes the events. */
  events({ message, response }) {
    message.resume();
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
  },
  /** Breaks off before any byte of a response, once the request is whole. */
  silent({ message }) {
    message.resume().on("end", () => message.socket.destroy());
  },
  /** Compressed, if the request or the query allows it. */
  packed({ message, response, query }) {
    message.resume();
    const isPacked =
      query.has("always") || String(message.headers["accept-encoding"]).includes("gzip");
    response.writeHead(200, {
      "Content-Type": "text/plain",
      ...(isPacked && { "Content-Encoding": "gzip" }),
    });
    response.end(isPacked ? gzipSync("unpacked") : "unpacked");
  },
  /** Two interim responses that nobody has asked for. */
  interim({ message, response }) {
    message.resume();
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
    setTimeout(() => response.writeHead(200, { "Content-Type": "text/plain" }).end("whole"), 50);
  },
};

/** Breaks a response off, once what has been written is on its way. */
function breakOff({ response }: ApiRequest): void {
  const { socket } = response;
  // An empty chunk would end a chunked response.
  setTimeout(() => socket?.destroy(), 20);
}

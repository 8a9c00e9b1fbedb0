import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { idpAuth, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { bundleOf, POLICY } from "./client-application.js";

const PAGE =
  '<!doctype html><title>Application</title><script type="module" src="/page.js"></script>';

/** `open` opens one of the page's connections, and `live` has what became of it. */
const SCRIPT = `import { createClient, openSocket, openStream } from "/client.js";
self.auth = createClient({ events: location.search === "?events" });
self.states = [];
auth.subscribe(({ status }) => states.push(status));
self.live = {};
self.open = (kind, url) => {
  const connection = kind === "stream" ? openStream(url) : openSocket(url);
  const seen = (live[url] = { opened: 0, messages: [], reason: null });
  connection.addEventListener("open", () => (seen.opened += 1));
  connection.addEventListener("message", ({ data }) => seen.messages.push(data));
  void connection.ended.then(({ reason }) => (seen.reason = reason));
};
self.isReady = true;`;

/** What became of a connection of the page. */
export interface Live {
  readonly opened: number;
  readonly messages: readonly string[];
  /** Why it has ended. */
  readonly reason: string | null;
}

/** The application's own stream and socket, and those of its API behind the proxy. */
export const CONNECTIONS = {
  "/api/stream": "stream",
  "/ws": "socket",
  "/api/orders/stream": "stream",
  "/api/orders/ws": "socket",
} as const;

export interface LiveApplication {
  readonly origin: string;
  readonly auth: NodeIdpAuth;
  readonly provider: TestProvider;
  /** The targets of all requests. */
  readonly requests: string[];
  /** The `Last-Event-ID` of each request for a stream. */
  readonly ids: (string | undefined)[];
  /** Whether the application can't be reached. Its connections break off. */
  isDown(down: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Sends its number as the only event. */
function respondWithStream(request: IncomingMessage, response: ServerResponse): void {
  const id = Number(request.headers["last-event-id"] ?? 0) + 1;
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(`id: ${id}\ndata: ${id}\n\n`);
}

export async function startLiveApplication(options: IdpAuthOptions = {}): Promise<LiveApplication> {
  const script = await bundleOf("idpauth/client/browser");
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  const api = createServer(respondWithStream);
  new WebSocketServer({ server: api }).on("connection", (socket) => socket.send("hello"));
  const auth = idpAuth({
    env: provider.env,
    log: false,
    events: true,
    apis: { orders: { url: `http://127.0.0.1:${await listen(api)}/`, path: "/api/orders/" } },
    ...options,
  });
  const requests: string[] = [];
  const ids: (string | undefined)[] = [];

  const stream = auth.idpRequired((request: IncomingMessage, response: ServerResponse) => {
    ids.push(request.headers["last-event-id"] as string | undefined);
    respondWithStream(request, response);
    const ended = auth.whenEnded(request);
    ended.addEventListener("abort", () => {
      const { reason } = ended.reason as { reason: string };
      response.end(`event: ended\ndata: ${JSON.stringify({ reason })}\n\n`);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const session = await auth.getSession(request);
    if (request.url !== "/ws" || session === null) {
      socket.destroy();
      return;
    }
    const ended = auth.whenEnded(request);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.send("hello");
      ended.addEventListener("abort", () => {
        opened.close(4401, (ended.reason as { reason: string }).reason);
      });
    });
  };
  const pages = auth.proxyApi("orders")((request, response) => {
    const isScript = request.url === "/client.js" || request.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.setHeader("Content-Security-Policy", POLICY);
    response.end({ "/client.js": script, "/page.js": SCRIPT }[String(request.url)] ?? PAGE);
  });
  const listener = auth.listener((request, response) => {
    return request.url === "/api/stream" ? stream(request, response) : pages(request, response);
  });

  let server: Server;
  let port = 0;
  const start = async () => {
    server = createServer((request, response) => {
      requests.push(String(request.url));
      listener(request, response);
    });
    server.on("upgrade", (request, socket, head) => {
      requests.push(String(request.url));
      if (!auth.proxyUpgrade(request, socket, head)) void upgrade(request, socket, head);
    });
    port = await listen(server, port);
  };
  await start();
  return {
    origin: `http://127.0.0.1:${port}`,
    auth,
    provider,
    requests,
    ids,
    isDown: (down) => (down ? close(server) : start()),
    async stop() {
      await close(server);
      await close(api);
      await provider.stop();
    },
  };
}

async function listen(server: Server, port = 0): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  server.on("close", () => sockets.clear());
  destroys.set(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server doesn't close the sockets of its upgrades. */
const destroys = new WeakMap<Server, () => void>();

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    destroys.get(server)?.();
  });
}

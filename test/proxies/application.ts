import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import express from "express";
import { WebSocketServer } from "ws";
import { idpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";

export interface Upstream {
  readonly port: number;
  readonly provider: TestProvider;
  /** Resolves with the first bytes of the next upload, before the others arrive. */
  uploadBegins(): Promise<void>;
  /** How many requests have reached the application. */
  requests(): number;
  /** Replaces the application. */
  use(options?: ApplicationOptions): void;
  stop(): Promise<void>;
}

export interface ApplicationOptions extends IdpAuthOptions {
  /** Before the application's own routes. */
  readonly below?: string;
  /** Express's setting. */
  readonly trustedProxies?: number;
}

/** An application with an API, whose settings can change while a proxy in front keeps running. */
export async function startUpstream(): Promise<Upstream> {
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  let begins: () => void = () => undefined;
  const api = await listen((request, response) => {
    void respond(request, response, () => begins());
  });
  new WebSocketServer({ server: api.server, path: "/v2/ws" }).on("connection", (socket) => {
    socket.on("message", (data: Buffer) => socket.send(`echo ${data.toString()}`));
    socket.send("hello");
  });
  let application = createApplication(provider, api.port, {});
  let requests = 0;
  const front = await listen((request, response) => {
    requests += 1;
    application.app(request, response);
  });
  front.server.on(
    "upgrade",
    (...upgrade) => application.auth.proxyUpgrade(...upgrade) || upgrade[1].destroy(),
  );
  return {
    port: front.port,
    provider,
    requests: () => requests,
    uploadBegins: () => new Promise((resolve) => (begins = resolve)),
    use(options = {}) {
      application = createApplication(provider, api.port, options);
    },
    async stop() {
      front.stop();
      api.stop();
      await provider.stop();
    },
  };
}

function createApplication(
  provider: TestProvider,
  apiPort: number,
  { below = "", trustedProxies = 0, ...options }: ApplicationOptions,
) {
  const app = express();
  app.set("trust proxy", trustedProxies);
  const auth = idpAuth({
    env: provider.env,
    log: false,
    secretKey: "a secret key of at least 32 bytes",
    apis: {
      orders: { url: `http://127.0.0.1:${String(apiPort)}/v2/`, path: `${below}/api/orders/` },
    },
    ...options,
  });
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  app.get(`${below}/reports`, auth.idpRequired, async (request, response) => {
    const { claims } = await auth.requireSession(request);
    response.send(`reports of ${claims.sub}`);
  });
  app.get(`${below}/seen{/*rest}`, (request, response) => {
    response.json({ target: request.originalUrl, host: request.get("Host") });
  });
  return { app, auth };
}

/** The API. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  begins: () => void,
): Promise<void> {
  const { url, headers } = request;
  if (url === "/v2/events") {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: first\n\n");
    return;
  }
  if (url === "/v2/small") {
    // The rest of the body is still on its way, and is discarded.
    response.writeHead(413, { "Content-Type": "text/plain" }).end("too large");
    return;
  }
  if (url === "/v2/broken") {
    response.write("a part", () => response.destroy());
    return;
  }
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (bytes === 0) begins();
    bytes += chunk.length;
    hash.update(chunk);
  }
  const body = { url, headers, bytes, hash: hash.digest("hex") };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function listen(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: ReturnType<typeof createServer>; port: number; stop(): void }> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    server,
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

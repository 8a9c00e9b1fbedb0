import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createServer as createVite, type ViteDevServer } from "vite";
import { WebSocket, WebSocketServer } from "ws";
import { afterEach, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { signIn, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { freePort } from "../support/free-port.js";
// What docs/start/single-page-application.md shows.
import config from "../../examples/spa-react/vite.config.mjs";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, "localhost");
  await once(server, "listening");
  stops.push(() => (server.closeAllConnections(), server.close()));
  return `localhost:${String((server.address() as AddressInfo).port)}`;
}

/** An API that sends back what a WebSocket sends, with the token of its upgrade. */
async function startApi(): Promise<string> {
  const server = createHttpServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, { headers }) =>
    socket.on("message", (data: Buffer) =>
      socket.send(`${data.toString()}, ${String(headers.authorization?.split(" ")[0])}`),
    ),
  );
  stops.push(() => sockets.clients.forEach((socket) => socket.terminate()));
  return `http://${await listen(server)}/`;
}

async function startApp(provider: TestProvider, origin: string): Promise<string> {
  const app = express();
  const auth = idpAuth({
    env: { ...provider.env, BASE_URL: origin },
    clock: provider.clock,
    log: false,
    apis: { orders: { url: await startApi(), path: "/api/orders/" } },
  });
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  const server = createHttpServer(app);
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
  return `http://${await listen(server)}`;
}

it("a WebSocket passes Vite's development server and the proxy, as the sample configures them", async () => {
  const provider = await startTestProvider();
  stops.push(() => provider.stop());
  const port = await freePort();
  const origin = `http://localhost:${String(port)}`;
  const target = await startApp(provider, origin);
  const entries = Object.entries(config.server?.proxy ?? {}).map(([path, entry]) => {
    expect(entry).toEqual({ target: "http://localhost:3001", changeOrigin: false, ws: true });
    return [path, { ...(entry as object), target }];
  });
  const vite: ViteDevServer = await createVite({
    configFile: false,
    logLevel: "silent",
    server: { port, strictPort: true, host: "localhost", proxy: Object.fromEntries(entries) },
  });
  stops.push(() => vite.close());
  await vite.listen();

  const user = await signIn(origin, { email: "ada@example.com" });
  const socket = new WebSocket(`ws://localhost:${String(port)}/api/orders/live`, {
    origin,
    headers: { cookie: user.cookies.header(new URL(origin)) ?? "" },
  });
  stops.push(() => socket.terminate());
  await once(socket, "open");
  socket.send("hello");
  const [data] = (await once(socket, "message")) as [Buffer];
  expect(data.toString()).toBe("hello, Bearer");
});

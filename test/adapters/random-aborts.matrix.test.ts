// Browsers that leave at random moments end nothing but their own requests.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, CookieBrowser } from "../../src/testing/index.js";
import { LISTENERS } from "./stand-ins.js";

const running: (() => unknown)[] = [];
const uncaught: unknown[] = [];
const take = (error: unknown) => void uncaught.push(error);
process.on("uncaughtException", take).on("unhandledRejection", take).on("warning", take);
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
  expect(uncaught.splice(0)).toEqual([]);
});

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function listen(server: { listen(...all: unknown[]): unknown; address(): unknown }) {
  server.listen(0, "127.0.0.1");
  await once(server as never, "listening");
  return String((server.address() as AddressInfo).port);
}

/** An API that is slow in each of its parts. */
async function startApi(random: () => number): Promise<{ url: string; open: () => number }> {
  let open = 0;
  const server: Server = createServer((message, response) => {
    open += 1;
    response.on("close", () => (open -= 1)).on("error", () => undefined);
    message.on("error", () => undefined).resume();
    void (async () => {
      await sleep(random() * 10);
      response.writeHead(200, { "Content-Type": "application/zip" }).flushHeaders();
      for (let part = 0; part < 4 && !response.destroyed; part += 1) {
        await sleep(random() * 10);
        response.write("x".repeat(50_000));
      }
      response.end();
    })();
  });
  const port = await listen(server);
  running.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/v2/`, open: () => open };
}

async function open(listenerOf: (options: IdpAuthOptions) => Promise<RequestListener>) {
  const random = randomFrom(30);
  const provider = await startTestProvider();
  running.push(() => provider.stop());
  const api = await startApi(random);
  const { issuer, clientId, clientSecret } = provider;
  const listener = await listenerOf({
    env: {},
    issuer,
    clientId,
    clientSecret,
    secretKey: "a secret key of at least 32 bytes!",
    events: true,
    apis: { orders: { url: api.url, path: "/api/orders/" } },
    log: false,
  });
  const server = createServer(listener);
  const port = await listen(server);
  running.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const browser = new CookieBrowser({ origin: `http://127.0.0.1:${port}` });
  await browser.follow("/idpauth/login/");
  const cookie = browser.cookies.header(new URL(`http://127.0.0.1:${port}`)) ?? "";
  return { random, api, listener, port, browser, cookie };
}

const TARGETS = [
  "GET /reports",
  "GET /idpauth/session",
  "GET /idpauth/events",
  "GET /idpauth/login/",
  "GET /idpauth/login-callback?code=x&state=y",
  "GET /api/orders/items",
  "POST /api/orders/items",
];

it.each(Object.entries(LISTENERS))("%s over HTTP/1.1", async (_name, listenerOf) => {
  const { random, api, port, browser, cookie } = await open(listenerOf);
  await Promise.all(
    Array.from({ length: 140 }, async (_, number) => {
      const line = TARGETS[number % TARGETS.length] ?? "";
      await sleep(random() * 200);
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      const body = line.startsWith("POST") ? "Content-Length: 100000\r\n" : "";
      const head = `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n${body}\r\n`;
      socket.write(random() < 0.1 ? head.slice(0, random() * head.length) : head);
      if (body !== "") socket.write("x".repeat(random() * 100_000));
      await sleep(random() * 60);
      if (random() < 0.5) socket.destroy();
      else socket.resetAndDestroy();
    }),
  );
  await expect.poll(api.open, { timeout: 4_000 }).toBe(0);
  expect((await browser.get("/reports")).status).toBe(200);
  expect((await browser.get("/api/orders/items")).status).toBe(200);
});

it.each(Object.entries(LISTENERS).filter(([name]) => name === "Koa" || name === "node:http"))(
  "%s over HTTP/2",
  async (_name, listenerOf) => {
    const { random, api, listener, browser, cookie } = await open(listenerOf);
    const server = createHttp2Server(listener as never);
    const port = await listen(server);
    running.push(() => server.close());
    const client = connectHttp2(`http://127.0.0.1:${port}`);
    client.on("error", () => undefined);
    running.push(() => client.destroy());
    await Promise.all(
      Array.from({ length: 140 }, async (_, number) => {
        const [method = "", path = ""] = (TARGETS[number % TARGETS.length] ?? "").split(" ");
        await sleep(random() * 200);
        const stream = client.request(
          { ":method": method, ":path": path, cookie },
          { endStream: method === "GET" },
        );
        stream.on("error", () => undefined).resume();
        if (method === "POST") stream.write("x".repeat(random() * 100_000));
        await sleep(random() * 60);
        stream.close(random() < 0.5 ? 8 : 2);
      }),
    );
    await expect.poll(api.open, { timeout: 4_000 }).toBe(0);
    expect((await browser.get("/reports")).status).toBe(200);
    expect((await browser.get("/api/orders/items")).status).toBe(200);
  },
);

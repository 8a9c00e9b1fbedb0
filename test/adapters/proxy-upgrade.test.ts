import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth, type ProxyUpgrade } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser, startTestProvider } from "../../src/testing/index.js";

interface Started {
  readonly server: Server;
  readonly proxyUpgrade: ProxyUpgrade;
}

const STARTS: Readonly<Record<string, (options: IdpAuthOptions) => Promise<Started>>> = {
  Express(options) {
    const [app, auth] = [express(), expressAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return Promise.resolve({ server: createServer(app), proxyUpgrade: auth.proxyUpgrade });
  },
  async Fastify(options) {
    const [app, auth] = [fastify(), fastifyAuth(options)];
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    await app.ready();
    return {
      server: createServer((request, response) => app.routing(request, response)),
      proxyUpgrade: auth.proxyUpgrade,
    };
  },
  Hono(options) {
    const [app, auth] = [new Hono(), honoAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    // With WebSockets of its own, the server also asks the application about each upgrade.
    const websocket = { server: new WebSocketServer({ noServer: true }) as never };
    return Promise.resolve({
      server: createAdaptorServer({ fetch: app.fetch, websocket }) as Server,
      proxyUpgrade: auth.proxyUpgrade,
    });
  },
  Koa(options) {
    const [app, auth] = [new Koa(), koaAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    const listener = app.callback();
    return Promise.resolve({
      server: createServer((...both) => void listener(...both)),
      proxyUpgrade: auth.proxyUpgrade,
    });
  },
  "node:http"(options) {
    const auth = nodeAuth(options);
    const listener = auth.listener(
      auth.proxyApi("orders")((_request, response) => response.writeHead(404).end()),
    );
    return Promise.resolve({ server: createServer(listener), proxyUpgrade: auth.proxyUpgrade });
  },
};

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  running.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

it.each(Object.entries(STARTS))(
  "%s: a WebSocket reaches the API with the user's token, and closes with the session",
  async (_name, start) => {
    const warned = vi.spyOn(process, "emitWarning");
    const provider = await startTestProvider();
    running.push(() => provider.stop());
    let plain = 0;
    const upstream = createServer((_request, response) => void response.end(String((plain += 1))));
    new WebSocketServer({ server: upstream }).on("connection", (socket, request) =>
      socket.send(request.headers.authorization ?? ""),
    );
    const { issuer, clientId, clientSecret } = provider;
    const apis = {
      orders: { url: `http://127.0.0.1:${await listen(upstream)}/v2/`, path: "/api/orders/" },
    };
    const secretKey = "a secret key of at least 32 bytes!";
    const { server, proxyUpgrade } = await start({
      env: {},
      issuer,
      clientId,
      clientSecret,
      secretKey,
      apis,
      log: false,
    });
    server.on("upgrade", (...upgrade) => proxyUpgrade(...upgrade) || upgrade[1].destroy());
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const browser = new CookieBrowser({ origin });
    await browser.follow("/idpauth/login/");
    const cookie = browser.cookies.header(new URL(origin)) ?? "";
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/orders/socket`, {
      origin,
      headers: { cookie },
    });
    const [data] = (await once(socket, "message")) as [Buffer];
    expect(data.toString()).toBe(
      `Bearer ${provider.issued.findLast(({ kind }) => kind === "access_token")?.value}`,
    );
    const closed = once(socket, "close");
    await browser.get("/idpauth/logout/?response=json");
    await closed;
    expect([plain, warned.mock.calls]).toEqual([0, []]);
  },
);

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect } from "node:net";
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
import { idpAuth as nodeAuth, type UpgradeProxy } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import {
  CookieBrowser,
  signedInAs,
  startTestProvider,
  type TestProvider,
} from "../../src/testing/index.js";
import { closeAll, listen, optionsFor } from "../apis/parties.js";
import { closed } from "../support/closed.js";

interface Started {
  readonly server: Server;
  readonly auth: Parameters<typeof signedInAs>[0];
  readonly proxyUpgrade: UpgradeProxy["proxyUpgrade"];
}

const STARTS: Readonly<Record<string, (options: IdpAuthOptions) => Promise<Started>>> = {
  Express(options) {
    const [app, auth] = [express(), expressAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return Promise.resolve({ server: createServer(app), auth, proxyUpgrade: auth.proxyUpgrade });
  },
  async Fastify(options) {
    const [app, auth] = [fastify(), fastifyAuth(options)];
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    await app.ready();
    return {
      server: createServer((request, response) => app.routing(request, response)),
      auth,
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
      auth,
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
      auth,
      proxyUpgrade: auth.proxyUpgrade,
    });
  },
  "node:http"(options) {
    const auth = nodeAuth(options);
    const listener = auth.listener(
      auth.proxyApi("orders")((_request, response) => response.writeHead(404).end()),
    );
    return Promise.resolve({
      server: createServer(listener),
      auth,
      proxyUpgrade: auth.proxyUpgrade,
    });
  },
};

let running: TestProvider | undefined;
afterEach(async () => {
  await closeAll();
  await running?.stop();
  running = undefined;
});

it.each(Object.entries(STARTS))(
  "%s: a WebSocket reaches the API with the user's token, and closes with the session",
  async (_name, start) => {
    const warned = vi.spyOn(process, "emitWarning");
    const provider = (running = await startTestProvider());
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
    const ended = closed(socket);
    await browser.get("/idpauth/logout/?response=json");
    await ended;
    expect([plain, warned.mock.calls]).toEqual([0, []]);
  },
);

const OFFERS = {
  h2c: "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
  "another protocol": "Connection: upgrade\r\nUpgrade: foo/2\r\n",
};

async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  socket.write(text);
  let received = "";
  socket.on("data", (chunk: string) => (received += chunk));
  await closed(socket);
  return received;
}

it.each(Object.entries(STARTS))(
  "%s: a request that offers another protocol gets its response in HTTP/1.1, on the application's and on the API's paths",
  async (_name, start) => {
    const seen: IncomingMessage[] = [];
    const upstream = createServer((message, response) => {
      seen.push(message);
      response.end("from the API");
    });
    const { server, auth, proxyUpgrade } = await start({
      ...optionsFor(`http://127.0.0.1:${await listen(upstream)}/v2/`),
      env: { ...optionsFor("").env, BASE_URL: "http://app.example" },
    });
    const handled: boolean[] = [];
    server.on("upgrade", (...upgrade) => {
      handled.push(proxyUpgrade(...upgrade));
      if (handled.at(-1) === false) upgrade[1].destroy();
    });
    const port = await listen(server);
    const cookie = await signedInAs(auth);
    const head = (target: string, method = "GET") =>
      `${method} ${target} HTTP/1.1\r\nHost: app.example\r\nX-Idpauth: 1\r\nCookie: ${cookie}\r\n`;
    const framings = [
      "Content-Length: 5\r\n\r\nGET /",
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ];
    for (const offer of Object.values(OFFERS)) {
      const probe = await exchange(port, `${head("/idpauth/session")}${offer}\r\n`);
      expect(probe).toMatch(
        /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*"authenticated":true/i,
      );
      const proxied = await exchange(port, `${head("/api/orders/items?x=1")}${offer}\r\n`);
      expect(proxied).toMatch(/^HTTP\/1\.1 200 [^]*from the API/);
      expect(await exchange(port, `${head("/nowhere")}${offer}\r\n`)).toMatch(/^HTTP\/1\.1 404 /);
      for (const framing of framings)
        expect(await exchange(port, `${head("/api/orders/", "POST")}${offer}${framing}`)).toMatch(
          /^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*api_framing_invalid/,
        );
    }
    // The first request has no response yet when the second one is refused.
    const pipelined = `${head("/api/orders/slow")}\r\n${head("/api/orders/", "POST")}${OFFERS.h2c}${framings[0]}`;
    expect(await exchange(port, pipelined)).toBe("");
    expect(await exchange(port, `${head("/nowhere")}${OFFERS.h2c}\r\n`)).toMatch(
      /^HTTP\/1\.1 404 /,
    );
    expect(seen.map(({ url, headers }) => [url, headers.upgrade])).toEqual(
      Object.keys(OFFERS).map(() => ["/v2/items?x=1", undefined]),
    );
    expect(handled).toEqual(Array(12).fill(true));
    const toWebSocket = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(await exchange(port, `${head("/nowhere")}${toWebSocket}`)).toBe("");
    expect(handled.at(-1)).toBe(false);
  },
);

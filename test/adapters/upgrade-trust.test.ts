// What a WebSocket tells an API about its user's address is what an HTTP request tells: as the
// framework's setting about trusted proxies says.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, listen } from "../apis/parties.js";
import { EXPRESS } from "./applications/express.js";

interface Started {
  readonly server: Server;
  readonly auth: Parameters<typeof signedInAs>[0] & {
    proxyUpgrade(...upgrade: never[]): boolean;
  };
}

function onExpress(library: typeof express, trust: unknown, mountsRouter = false) {
  return async (options: IdpAuthOptions): Promise<Started> => {
    const [app, auth] = [library(), expressAuth(options)];
    app.set("trust proxy", trust);
    const router = mountsRouter ? library.Router() : app;
    auth.mount(router);
    if (mountsRouter) app.use(router);
    app.use(auth.proxyApi("orders"));
    return { server: createServer(app), auth };
  };
}

function onFastify(trustProxy: boolean | string, isNested = false) {
  return async (options: IdpAuthOptions): Promise<Started> => {
    const [app, auth] = [fastify({ trustProxy }), fastifyAuth(options)];
    await app.register(async (scope) => {
      const inner = isNested ? scope : app;
      inner.decorateRequest("own", null);
      await inner.register(auth.plugin);
      inner.addHook("onRequest", auth.proxyApi("orders"));
      inner.all("/api/*", async (_request, reply) => reply.callNotFound());
    });
    await app.ready();
    return { server: app.server, auth };
  };
}

function onKoa(proxy: boolean, more: object = {}) {
  return async (options: IdpAuthOptions): Promise<Started> => {
    const [app, auth] = [new Koa({ proxy, ...more }), koaAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    const listener = app.callback();
    return { server: createServer((...both) => void listener(...both)), auth };
  };
}

function onNode(trustProxy: boolean) {
  return async (options: IdpAuthOptions): Promise<Started> => {
    const auth = nodeAuth({ ...options, trustProxy });
    const listener = auth.listener(
      auth.proxyApi("orders")((_request, response) => response.writeHead(404).end()),
    );
    return { server: createServer(listener), auth };
  };
}

function onHono(trustProxy: boolean) {
  return async (options: IdpAuthOptions): Promise<Started> => {
    const [app, auth] = [new Hono(), honoAuth({ ...options, trustProxy })];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return { server: createAdaptorServer({ fetch: app.fetch }) as Server, auth };
  };
}

const [OWN, LAST, FIRST, REAL] = ["127.0.0.1", "203.0.113.2", "203.0.113.1", "198.51.100.9"];
const [PLAIN, FORWARDED] = ["http://127.0.0.1", "https://app.example"];

/** What the API learns. */
const CASES: readonly [
  name: string,
  start: (options: IdpAuthOptions) => Promise<Started>,
  client: string,
  origin: string,
][] = [
  ["Express 5 without trust", onExpress(express, false), OWN, PLAIN],
  ["Express 5 that trusts one proxy", onExpress(express, 1), LAST, FORWARDED],
  ["Express 5 that trusts every proxy", onExpress(express, true), FIRST, FORWARDED],
  ["Express 5 that trusts by address", onExpress(express, "loopback"), LAST, FORWARDED],
  ["Express 5, mounted on a router", onExpress(express, 1, true), LAST, FORWARDED],
  ["Express 4 that trusts one proxy", onExpress(EXPRESS[4], 1), LAST, FORWARDED],
  ["Fastify without trust", onFastify(false), OWN, PLAIN],
  ["Fastify that trusts one proxy", onFastify("loopback"), LAST, FORWARDED],
  ["Fastify that trusts every proxy", onFastify(true), FIRST, FORWARDED],
  ["Fastify, in a scope of its own", onFastify("loopback", true), LAST, FORWARDED],
  ["Koa without trust", onKoa(false), OWN, PLAIN],
  ["Koa that trusts every proxy", onKoa(true), FIRST, FORWARDED],
  ["Koa with maxIpsCount", onKoa(true, { maxIpsCount: 1 }), LAST, FORWARDED],
  ["Koa with proxyIpHeader", onKoa(true, { proxyIpHeader: "X-Real-IP" }), REAL, FORWARDED],
  ["node:http without trust", onNode(false), OWN, PLAIN],
  ["node:http with trustProxy", onNode(true), LAST, FORWARDED],
  ["Hono without trust", onHono(false), OWN, PLAIN],
  ["Hono with trustProxy", onHono(true), LAST, FORWARDED],
];

afterEach(closeAll);

const told = ({ "x-forwarded-for": client, "x-forwarded-proto": scheme }: IncomingHttpHeaders) => [
  client,
  scheme,
];

it.each(CASES)(
  "%s: a WebSocket passes on the same address as a request",
  async (_name, start, client, origin) => {
    const upstream = createServer(({ headers }, response) => {
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(told(headers)));
    });
    new WebSocketServer({ server: upstream }).on("connection", (socket, { headers }) =>
      socket.send(JSON.stringify(told(headers))),
    );
    const apis = {
      orders: {
        url: `http://127.0.0.1:${String(await listen(upstream))}/v2/`,
        path: "/api/orders/",
      },
    };
    const { server, auth } = await start({
      env: {},
      issuer: "https://idp.example",
      clientId: "app",
      clientSecret: "secret",
      secretKey: "a secret key of at least 32 bytes!",
      apis,
      log: false,
    });
    server.on("upgrade", (...upgrade) => {
      if (!auth.proxyUpgrade(...(upgrade as unknown as never[]))) upgrade[1].destroy();
    });
    const address = `127.0.0.1:${String(await listen(server))}`;
    const own = origin === PLAIN ? `http://${address}` : origin;
    const cookie = await signedInAs(
      auth,
      { email: "ada@example.com" },
      { tokens: { token: "the user's access token" } },
    );
    const value = cookie.slice(cookie.indexOf("=") + 1);
    const headers = {
      // Over https, the cookie has another name.
      cookie: `idpauth=${value}; __Host-Http-idpauth=${value}`,
      "x-forwarded-for": `${FIRST}, ${LAST}`,
      "x-forwarded-proto": "https",
      "x-forwarded-host": "app.example",
      "x-real-ip": REAL,
      origin: own,
    };
    const expected = [client, own.split(":", 1)[0]];
    const response = await fetch(`http://${address}/api/orders/items`, { headers });
    expect([response.status, await response.json()]).toEqual([200, expected]);
    const socket = new WebSocket(`ws://${address}/api/orders/socket`, { headers });
    const [data] = (await once(socket, "message")) as [Buffer];
    expect(JSON.parse(data.toString())).toEqual(expected);
    const foreign = new WebSocket(`ws://${address}/api/orders/socket`, {
      headers: { ...headers, origin: "https://evil.example" },
    });
    foreign.on("error", () => undefined);
    const [, { statusCode }] = (await once(foreign, "unexpected-response")) as [
      unknown,
      { statusCode: number },
    ];
    expect(statusCode).toBe(403);
  },
);

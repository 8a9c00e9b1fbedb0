import * as events from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import websocket from "@fastify/websocket";
import * as honoServer from "@hono/node-server";
import Router from "@koa/router";
import express from "express";
import Fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import { Server } from "socket.io";
import { io, type Socket } from "socket.io-client";
import { WebSocket, WebSocketServer } from "ws";
import * as expressEntry from "../../src/adapters/express/express.js";
import * as fastifyEntry from "../../src/adapters/fastify/fastify.js";
import * as fetchEntry from "../../src/adapters/fetch/fetch.js";
import * as honoEntry from "../../src/adapters/hono/hono.js";
import * as koaEntry from "../../src/adapters/koa/koa.js";
import * as nodeEntry from "../../src/adapters/node/node.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";

// The files of docs/snippets/live-connections/, of which docs/how-to/live-connections.md shows
// parts.

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const PAGE = readFileSync(path.join(DOCS, "how-to/live-connections.md"), "utf8");
const ORIGIN = "https://app.example";

/** The application's events in the sample that runs. */
let notices: events.EventEmitter;

type Module = Record<string, unknown>;

interface Running {
  readonly auth: SignsInForTests;
  readonly port: number;
}

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

function sample(name: string): string {
  return readFileSync(path.join(DOCS, `snippets/live-connections/${name}.js`), "utf8");
}

/** Runs a sample as a module. @returns what it declares of these names */
async function evaluate(
  code: string,
  modules: Readonly<Record<string, Module>>,
  names: readonly string[],
): Promise<Module> {
  const body = code
    .replace(/^import (\w+) from "(.+)";$/gm, 'const { default: $1 } = modules["$2"];')
    .replace(/^import (\{.+\}) from "(.+)";$/gm, 'const $1 = modules["$2"];')
    .replace(
      /^import (\w+), (\{.+\}) from "(.+)";$/gm,
      'const { default: $1 } = modules["$3"]; const $2 = modules["$3"];',
    )
    .replace(/^export /gm, "");
  const results = names.map(
    (name) => `${name}: typeof ${name} === "undefined" ? undefined : ${name}`,
  );

  const run = new Function(
    "modules",
    "process",
    `return (async () => { ${body}\nreturn { ${results.join(", ")} }; })();`,
  ) as (modules: object, process: object) => Promise<Module>;
  return run(modules, { env: { BASE_URL: ORIGIN } });
}

async function start(name: string): Promise<Running> {
  let auth: SignsInForTests | undefined;
  const entry = ({ idpAuth }: { readonly idpAuth: (options: object) => unknown }): Module => ({
    idpAuth() {
      const made = idpAuth({
        env: {
          BASE_URL: ORIGIN,
          IDP_ISSUER: "https://login.example.com",
          IDP_CLIENT_ID: "client",
          IDP_CLIENT_SECRET: "a client's secret",
        },
        secretKey: "a secret key of at least 32 bytes",
        log: false,
      });
      auth = made as SignsInForTests;
      return made;
    },
  });
  const packages: Record<string, Module> = {
    "node:events": { ...events },
    "node:http": { ...http },
    "@fastify/websocket": { default: websocket },
    "@hono/node-server": {
      upgradeWebSocket: honoServer.upgradeWebSocket,
      serve: (options: Parameters<typeof honoServer.serve>[0]) =>
        honoServer.serve({ ...options, hostname: "127.0.0.1", port: 0 }),
    },
    "@koa/router": { default: Router },
    express: { default: express },
    fastify: { default: Fastify },
    hono: { Hono },
    koa: { default: Koa },
    "socket.io": { Server },
    ws: { WebSocketServer },
    "idpauth/express": entry(expressEntry),
    "idpauth/fastify": entry(fastifyEntry),
    "idpauth/fetch": entry(fetchEntry),
    "idpauth/hono": entry(honoEntry),
    "idpauth/koa": entry(koaEntry),
    "idpauth/node": entry(nodeEntry),
  };
  packages["./upgrades.js"] = await evaluate(sample("upgrades"), packages, [
    "routeUpgrades",
    "hasOwnOrigin",
    "accept",
    "closeWith",
  ]);
  packages["./notices.js"] = await evaluate(sample("notices"), packages, [
    "notices",
    "sendNotices",
  ]);
  notices = packages["./notices.js"]["notices"] as events.EventEmitter;
  const { server, app, serve } = await evaluate(sample(name), packages, ["server", "app", "serve"]);
  const listening = (server as http.Server | undefined) ?? (await serverOf(app ?? serve));
  servers.push(listening);
  if (!listening.listening) {
    await new Promise<void>((resolve) => {
      if (server === undefined || name === "websocket-hono") listening.once("listening", resolve);
      if (name !== "websocket-hono") listening.listen(0, "127.0.0.1", resolve);
    });
  }
  if (auth === undefined) throw new Error("The sample made no `auth`.");
  return { auth, port: (listening.address() as AddressInfo).port };
}

async function serverOf(app: unknown): Promise<http.Server> {
  if (app instanceof Koa)
    return http.createServer((request, response) => void app.callback()(request, response));
  if (app instanceof Hono)
    return http.createServer(
      (request, response) => void honoServer.getRequestListener(app.fetch)(request, response),
    );
  if (isFastify(app)) {
    await app.ready();
    return app.server;
  }
  const serve = app as (request: Request) => Promise<Response>;
  if (serve.length === 1)
    return http.createServer(
      (request, response) => void honoServer.getRequestListener(serve)(request, response),
    );
  return http.createServer(app as http.RequestListener);
}

function isFastify(app: unknown): app is FastifyInstance {
  return typeof app === "object" && app !== null && "ready" in app && "server" in app;
}

const streams = ["express", "fastify", "koa", "hono", "node", "fetch"].map(
  (framework) => `stream-${framework}`,
);
const sockets = ["express", "koa", "node", "fastify", "hono"].map(
  (framework) => `websocket-${framework}`,
);

it("Next.js runs the samples of the page in its own tests", () => {
  const file = (name: string) =>
    readFileSync(path.resolve(import.meta.dirname, "../adapters/next-application", name), "utf8");
  expect(file("lib/notices.js")).toBe(sample("notices"));
  const handler = /export (const GET = auth\.idpRequired\(async .*\n(?: {2}.*\n)+)/.exec(PAGE)?.[1];
  expect(handler).toContain("auth.eventStream(request)");
  const route = file("app/api/stream/route.ts").replace(/^ {2}/gm, "");
  expect(route).toContain(handler?.replace("const GET = ", ""));
});

it("the page shows each of the files", () => {
  for (const name of [...streams, ...sockets])
    expect(PAGE).toContain(`<!-- snippet: docs/snippets/live-connections/${name}.js`);
});

describe.each(streams)("%s.js", (name) => {
  async function open() {
    const { auth, port } = await start(name);
    const address = `http://127.0.0.1:${port}`;
    expect((await fetch(`${address}/api/stream`)).status).toBe(401);
    const cookie = await signedInAs(auth);
    const leaving = new AbortController();
    const response = await fetch(`${address}/api/stream`, {
      headers: { cookie },
      signal: leaving.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toMatch(/^retry: \d+\n: open\n\n$/);
    const signOut = () =>
      fetch(`${address}/idpauth/logout/?response=json`, { headers: { cookie } });
    return { leaving, reader, signOut };
  }

  it("sends each notice to signed-in users, and ends with the reason when the session ends", async () => {
    const { reader, signOut } = await open();
    notices.emit("notice", { id: 1 });
    expect((await reader.read()).value).toBe('event: notice\ndata: {"id":1}\n\n');
    await signOut();
    expect((await reader.read()).value).toBe('event: ended\ndata: {"reason":"logout"}\n\n');
    expect((await reader.read()).done).toBe(true);
    await expect.poll(() => notices.listenerCount("notice")).toBe(0);
  });

  it("stops listening when the browser disconnects", async () => {
    const { leaving } = await open();
    expect(notices.listenerCount("notice")).toBe(1);
    leaving.abort();
    await expect.poll(() => notices.listenerCount("notice"), { timeout: 60_000 }).toBe(0);
  });
});

describe.each(sockets)("%s.js", (name) => {
  it("opens for signed-in users of the own origin, and closes with the reason when the session ends", async () => {
    const { auth, port } = await start(name);
    const cookie = await signedInAs(auth);
    const connect = (headers: Record<string, string>) =>
      new WebSocket(`ws://127.0.0.1:${port}/api/ws`, { headers });
    const refused = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const socket = connect(headers);
        socket.on("unexpected-response", (_request, response) => {
          resolve(response.statusCode);
          response.destroy();
        });
        socket.on("open", () => {
          reject(new Error("The socket opened."));
        });
        socket.on("error", () => undefined);
      });
    expect(await refused({ origin: ORIGIN })).toBe(401);
    expect(await refused({ cookie })).toBe(403);
    expect(await refused({ cookie, origin: "https://evil.app.example" })).toBe(403);

    const socket = connect({ cookie, origin: ORIGIN });
    const hello = await new Promise((resolve, reject) => {
      socket.once("message", (data: Buffer) => {
        resolve(data.toString());
      });
      socket.once("error", reject);
    });
    const closed = new Promise((resolve) =>
      socket.once("close", (code, reason) => {
        resolve([code, reason.toString()]);
      }),
    );
    await fetch(`http://127.0.0.1:${port}/idpauth/logout/?response=json`, { headers: { cookie } });
    expect([hello, await closed]).toEqual(["hello", [4401, "logout"]]);
  });
});

describe("Socket.IO", () => {
  async function open() {
    const { auth, port } = await start("socket-io");
    const address = `http://127.0.0.1:${port}`;
    const cookie = await signedInAs(auth);
    const connect = (headers: Record<string, string>, options: object = {}): Socket => {
      const socket = io(address, {
        transports: ["websocket"],
        reconnection: false,
        forceNew: true,
        extraHeaders: headers,
        ...options,
      });
      clients.push(socket);
      return socket;
    };
    const signOut = () =>
      fetch(`${address}/idpauth/logout/?response=json`, { headers: { cookie } });
    const stop = () => (auth as unknown as { close: () => Promise<void> }).close();
    return { cookie, connect, signOut, stop };
  }

  const clients: Socket[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  const heard = (socket: Socket, event: string): Promise<unknown> =>
    new Promise((resolve) => socket.once(event, resolve));

  it("connects signed-in users of the own origin, and disconnects them when the session ends", async () => {
    const { cookie, connect, signOut } = await open();
    for (const headers of [
      { origin: ORIGIN },
      { cookie },
      { cookie, origin: "https://evil.app.example" },
    ])
      expect(await heard(connect(headers), "connect_error")).toBeInstanceOf(Error);
    const polling = { cookie, origin: ORIGIN };
    expect(
      await heard(connect(polling, { transports: ["polling"] }), "connect_error"),
    ).toBeInstanceOf(Error);

    const socket = connect({ cookie, origin: ORIGIN });
    expect(await heard(socket, "hello")).toBe("Ada Lovelace");
    const disconnected = heard(socket, "disconnect");
    await signOut();
    expect(await disconnected).toBe("io server disconnect");
  });

  it("the browser's sample checks the session when the server disconnects, and stops trying when the user is signed out", async () => {
    const { cookie, connect, signOut } = await open();
    let refreshes = 0;
    let isSignedIn = true;
    const createClient = () => ({
      refresh: () => {
        refreshes += 1;
        return Promise.resolve({ status: isSignedIn ? "signed-in" : "signed-out" });
      },
    });
    const run = async (headers: Record<string, string>): Promise<Socket> => {
      const options = { reconnection: true, reconnectionDelay: 10 };
      const modules = {
        "idpauth/client": { createClient },
        "socket.io-client": { io: (given: object) => connect(headers, { ...given, ...options }) },
      };
      const code = sample("socket-io-browser").replace("console.log(name)", "undefined");
      return (await evaluate(code, modules, ["socket"]))["socket"] as Socket;
    };
    const socket = await run({ cookie, origin: ORIGIN });
    await heard(socket, "hello");
    const disconnected = heard(socket, "disconnect");
    isSignedIn = false;
    await signOut();
    await disconnected;
    expect(refreshes).toBe(1);
    expect(socket.active).toBe(false);

    isSignedIn = true;
    const again = await run({ cookie, origin: ORIGIN });
    await expect.poll(() => refreshes).toBeGreaterThan(2);
    isSignedIn = false;
    await expect.poll(() => again.active).toBe(false);
  });

  it("the browser's sample connects again when only the process has stopped", async () => {
    const { cookie, connect, stop } = await open();
    const createClient = () => ({ refresh: () => Promise.resolve({ status: "signed-in" }) });
    const modules = {
      "idpauth/client": { createClient },
      "socket.io-client": { io: (given: object) => connect({ cookie, origin: ORIGIN }, given) },
    };
    const code = sample("socket-io-browser").replace("console.log(name)", "undefined");
    const socket = (await evaluate(code, modules, ["socket"]))["socket"] as Socket;
    await heard(socket, "hello");
    const connected = heard(socket, "connect");
    await stop();
    await connected;
  });
});

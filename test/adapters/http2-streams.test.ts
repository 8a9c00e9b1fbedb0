// Streams over HTTP/2, where a response that is broken off could pass for a whole one. Express has
// no HTTP/2.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  connect,
  constants,
  createSecureServer,
  createServer as createHttp2Server,
  type ClientHttp2Stream,
  type Http2Server,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { EventStream, IdpAuthOptions } from "../../src/index.js";
import { signedInAs, startTestProvider, TestClock } from "../../src/testing/index.js";
import { stoppedAfterEach } from "../support/stopped-after-each.js";

interface Started {
  readonly server: Http2Server;
  readonly auth: Parameters<typeof signedInAs>[0];
}

type Tls = ReturnType<typeof createCertificate> | undefined;

const serverOf = (tls: Tls, listener: (request: never, response: never) => unknown): Http2Server =>
  tls === undefined
    ? createHttp2Server(listener as never)
    : createSecureServer(tls, listener as never);

const hooks: string[] = [];
/** The streams of `auth.eventStream`. */
const notices: EventStream[] = [];

const STARTS: Readonly<Record<string, (options: IdpAuthOptions, tls: Tls) => Promise<Started>>> = {
  "node:http2"(options, tls) {
    const auth = nodeAuth(options);
    const guarded = auth.idpRequired(async (request, response) => {
      notices.push(await auth.eventStream(request, response));
    });
    const listener = auth.listener(
      auth.proxyApi("orders")((request, response) =>
        request.url === "/notices"
          ? guarded(request, response)
          : void response.writeHead(404).end(),
      ),
    );
    return Promise.resolve({ server: serverOf(tls, listener), auth });
  },
  Koa(options, tls) {
    const [app, auth] = [new Koa(), koaAuth(options)];
    // It would log each response that is broken off.
    app.silent = true;
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    app.use(auth.idpRequired);
    app.use(async (ctx) => {
      notices.push(await auth.eventStream(ctx));
    });
    return Promise.resolve({ server: serverOf(tls, app.callback()), auth });
  },
  async Fastify(options, tls) {
    const serving: object = { http2: true, ...(tls && { https: tls }) };
    const app: FastifyInstance = fastify(serving);
    const auth = fastifyAuth(options);
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    app.addHook("onSend", async (_request, reply) => {
      reply.header("x-hook", "onSend");
    });
    app.addHook("onResponse", async () => void hooks.push("onResponse"));
    app.get("/notices", { preHandler: auth.idpRequired }, async (request, reply) => {
      notices.push(await auth.eventStream(request, reply));
    });
    app.all("/api/*", async (_request, reply) => reply.callNotFound());
    await app.ready();
    return { server: app.server as unknown as Http2Server, auth };
  },
  Hono(options, tls) {
    const [app, auth] = [new Hono(), honoAuth(options)];
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    app.get("/notices", auth.idpRequired, async (c) => {
      const stream = await auth.eventStream(c);
      notices.push(stream);
      return stream.response;
    });
    const server = createAdaptorServer({
      fetch: app.fetch,
      createServer: (tls === undefined ? createHttp2Server : createSecureServer) as never,
      ...(tls && { serverOptions: tls as never }),
    });
    return Promise.resolve({ server: server as unknown as Http2Server, auth });
  },
};

const running = stoppedAfterEach();
afterEach(() => {
  hooks.length = notices.length = 0;
});

/** The responses of the API that have begun, and do not end by themselves. */
const open = new Map<string, ServerResponse>();

function respond({ url = "" }: IncomingMessage, response: ServerResponse): void {
  open.set(url, response);
  if (url === "/v2/silent") {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
  } else if (url === "/v2/download") {
    response.writeHead(200, { "Content-Type": "application/zip" }).write("a part");
  } else {
    const head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    response.socket?.end(url === "/v2/malformed" ? `${head}no chunk\r\n` : head);
  }
}

describe.each(
  Object.keys(STARTS).flatMap((name) => [
    [name, "cleartext"],
    [name, "TLS"],
  ]),
)("%s over HTTP/2, %s", (name = "", kind) => {
  async function start() {
    const clock = new TestClock();
    const provider = await startTestProvider({ clock });
    running.push(() => provider.stop());
    const upstream = createServer(respond);
    await once(upstream.listen(0, "127.0.0.1"), "listening");
    running.push(
      () => upstream.closeAllConnections(),
      () => upstream.close(),
    );
    const url = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}/v2/`;
    const { issuer, clientId, clientSecret } = provider;
    const tls = kind === "TLS" ? createCertificate({ name: "localhost" }) : undefined;
    const options: IdpAuthOptions = {
      env: {},
      issuer,
      clientId,
      clientSecret,
      baseUrl: tls ? "https://app.example" : "http://app.example",
      secretKey: "a secret key of at least 32 bytes!",
      events: true,
      apis: { orders: { url, path: "/api/orders/" } },
      clock,
      log: false,
    };
    const { server, auth } = await STARTS[name]!(options, tls);
    await once(server.listen(0, "127.0.0.1"), "listening");
    running.push(() => server.close());
    const port = String((server.address() as AddressInfo).port);
    const client = connect(`${tls ? "https" : "http"}://localhost:${port}`, {
      rejectUnauthorized: false,
    });
    client.on("error", () => undefined);
    running.push(() => client.destroy());
    const cookie = await signedInAs(
      auth,
      { email: "ada@example.com" },
      { tokens: { token: "at" } },
    );
    const send = (path: string): ClientHttp2Stream => {
      const stream = client.request({
        ":path": path,
        ":authority": "app.example",
        cookie,
        "sec-fetch-site": "same-origin",
      });
      stream.on("error", () => undefined);
      return stream;
    };
    return { send, clock };
  }

  const closed = (stream: ClientHttp2Stream) =>
    new Promise<number | undefined>((resolve) => {
      if (stream.destroyed) resolve(stream.rstCode);
      stream.resume().on("close", () => resolve(stream.rstCode));
    });
  const headOf = (stream: ClientHttp2Stream) =>
    new Promise<Record<string, unknown>>((resolve) => stream.on("response", resolve));

  it("an API's event stream and ours begin before their first event, and end with the session", async () => {
    const { send } = await start();
    const proxied = send("/api/orders/silent");
    const own = send("/idpauth/events");
    for (const head of await Promise.all([proxied, own].map(headOf)))
      expect(head).toMatchObject({
        ":status": 200,
        "content-type": expect.stringMatching(/^text\/event-stream/) as unknown,
        ...(name === "Fastify" && { "x-hook": "onSend" }),
      });
    await headOf(send("/idpauth/logout/?response=json"));
    expect(await closed(own)).toBe(constants.NGHTTP2_NO_ERROR);
    expect(await closed(proxied)).not.toBe(constants.NGHTTP2_NO_ERROR);
    // As of Fastify's own streams, not of one that is broken off.
    if (name === "Fastify") expect(hooks).toEqual(["onResponse", "onResponse"]);
  });

  it("a stream of auth.eventStream begins before its first event, and hears of a reset and of the session's end", async () => {
    const { send } = await start();
    const [left, stays] = [send("/notices"), send("/notices")];
    for (const head of await Promise.all([left, stays].map(headOf)))
      expect(head).toMatchObject({
        ":status": 200,
        "content-type": "text/event-stream",
        ...(name === "Fastify" && { "x-hook": "onSend" }),
      });
    left.close(constants.NGHTTP2_CANCEL);
    const aborted = () => notices.map(({ signal }) => signal.aborted).sort();
    await expect.poll(aborted).toEqual([false, true]);
    await headOf(send("/idpauth/logout/?response=json"));
    expect(await closed(stays)).toBe(constants.NGHTTP2_NO_ERROR);
    await expect.poll(aborted).toEqual([true, true]);
  });

  it("a download that the API breaks off, or a logout cuts, is reset with an error", async () => {
    const { send, clock } = await start();
    const [first, second] = [send("/api/orders/download?1"), send("/api/orders/download")];
    first.close();
    expect(await headOf(second)).toMatchObject({ ":status": 200 });
    await once(second, "data");
    open.get("/v2/download")?.destroy();
    expect(await closed(second)).not.toBe(constants.NGHTTP2_NO_ERROR);
    const third = send("/api/orders/download");
    await headOf(third);
    await once(third, "data");
    // The proxy watches the session of a request that takes long.
    clock.advance(1_000);
    await headOf(send("/idpauth/logout/?response=json"));
    expect(await closed(third)).not.toBe(constants.NGHTTP2_NO_ERROR);
  });

  it.each(["malformed", "empty"])("a response whose body is %s is no whole one", async (path) => {
    const { send } = await start();
    const stream = send(`/api/orders/${path}`);
    const head = await Promise.race([headOf(stream), closed(stream)]);
    const status = typeof head === "object" ? head[":status"] : undefined;
    expect([200, 502, undefined]).toContain(status);
    if (status !== 502) expect(await closed(stream)).not.toBe(constants.NGHTTP2_NO_ERROR);
  });
});

// A header that passes has the bytes that the API has sent, on every framework of Node.js.
import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";
import { optionsFor, rawApi, rawBrowser } from "./parties.js";
import { closedAfterEach } from "./closed-after-each.js";

const servers = closedAfterEach();

type Wired = [SignsInForTests, RequestListener];

const WIRINGS: Readonly<
  Record<string, (options: ReturnType<typeof optionsFor>) => Promise<Wired>>
> = {
  async "node:http"(options) {
    const auth = nodeAuth(options);
    return [auth, auth.listener(auth.proxyApi("orders")(() => undefined))];
  },
  async Express(options) {
    const auth = expressAuth(options);
    return [auth, express().use(auth.proxyApi("orders")) as RequestListener];
  },
  async Koa(options) {
    const auth = koaAuth(options);
    const callback = new Koa().use(auth.proxyApi("orders")).callback();
    return [auth, (request, response) => void callback(request, response)];
  },
  async Fastify(options) {
    const auth = fastifyAuth(options);
    const app = fastify();
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    app.all("/api/orders/*", (_request, reply) => reply.code(404).send());
    await app.ready();
    return [auth, (request, response) => app.routing(request, response)];
  },
};

/** The bytes of UTF-8, and some that are none, as a string of latin1. */
const RAW = `attachment; filename="${Buffer.from("Übersicht 東京").toString("latin1")}\u00ff\u0080.pdf"`;
const LONG = "\u00e9,".repeat(3_000);
const HEAD = `Content-Type: text/plain\r\nContent-Disposition: ${RAW}\r\nX-Note: ${RAW}\r\nX-Long: ${LONG}\r\nX-Empty:\r\n`;
const EXPECTED = [`Content-Disposition: ${RAW}`, `X-Note: ${RAW}`, `X-Long: ${LONG}`, "X-Empty: "];

/** What the API sends at once, and later. */
const RESPONSES = {
  "with a length": ["GET", `200 OK\r\nContent-Length: 4\r\n${HEAD}\r\nfile`, ""],
  "with a length after the others": ["GET", `200 OK\r\n${HEAD}Content-Length: 4\r\n\r\nfile`, ""],
  "with a length and a late body": ["GET", `200 OK\r\nContent-Length: 4\r\n${HEAD}\r\n`, "file"],
  "in chunks": ["GET", `200 OK\r\nTransfer-Encoding: chunked\r\n${HEAD}\r\n4\r\nfile\r\n0\r\n\r\n`, ""], // prettier-ignore
  "in late chunks": ["GET", `200 OK\r\nTransfer-Encoding: chunked\r\n${HEAD}\r\n`, "4\r\nfile\r\n0\r\n\r\n"], // prettier-ignore
  "to HEAD": ["HEAD", `200 OK\r\nContent-Length: 4\r\n${HEAD}\r\n`, ""],
  "without a body": ["GET", `200 OK\r\nContent-Length: 0\r\n${HEAD}\r\n`, ""],
  "with 304": ["GET", `304 Not Modified\r\n${HEAD}\r\n`, ""],
  "with 204": ["GET", `204 No Content\r\n${HEAD}\r\n`, ""],
} as const;

describe.each(Object.entries(WIRINGS))("with %s, the headers of a response", (_name, wire) => {
  it.each(Object.entries(RESPONSES))("%s keep their bytes", async (_how, [method, now, later]) => {
    const { url } = await rawApi((socket) => {
      socket.write(`HTTP/1.1 ${now}`, "latin1");
      if (later !== "") setTimeout(() => socket.write(later), 60);
    });
    const [auth, listener] = await wire(optionsFor(url.href));
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const server = http.createServer(listener);
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { socket, received } = await rawBrowser((server.address() as AddressInfo).port);
    socket.write(
      `${method} /api/orders/a HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`,
    );
    await expect.poll(() => received.isClosed).toBe(true);
    const [head = "", body] = received.text.split("\r\n\r\n");
    const lines = head.split("\r\n").slice(1);
    const values = new Map(lines.map((line) => [line.split(":", 1)[0]!.toLowerCase(), line]));
    for (const line of EXPECTED) {
      const [name = ""] = line.split(":", 1);
      expect(values.get(name.toLowerCase())?.slice(name.length)).toBe(line.slice(name.length));
    }
    expect(received.text.slice(9, 12)).toBe(now.slice(0, 3));
    const hasBody = method !== "HEAD" && now.startsWith("200") && !now.includes("Length: 0");
    expect(body?.includes("file")).toBe(hasBody);
    if (method === "HEAD") expect(values.get("content-length")).toMatch(/: 4$/);
  });
});

describe("over HTTP/2, the headers of a response", () => {
  it.each(Object.entries(RESPONSES))("%s keep their bytes", async (_how, [method, now, later]) => {
    const { url } = await rawApi((socket) => {
      socket.write(`HTTP/1.1 ${now}`, "latin1");
      if (later !== "") setTimeout(() => socket.write(later), 60);
    });
    const auth = nodeAuth(optionsFor(url.href));
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const listener = auth.listener(auth.proxyApi("orders")(() => undefined));
    const server = http2.createServer((...of) =>
      listener(...(of as unknown as Parameters<RequestListener>)),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = client.request({ ":method": method, ":path": "/api/orders/a", cookie });
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    await once(stream.resume(), "end");
    client.close();
    server.close();
    for (const line of EXPECTED) {
      const name = line.split(":", 1)[0]!.toLowerCase();
      expect(headers[name]).toBe(line.slice(name.length + 2));
    }
  });
});

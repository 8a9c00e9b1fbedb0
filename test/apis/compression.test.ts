import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import compression from "compression";
import express from "express";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";

// Middleware that compresses responses holds what it gets until its buffer is full.

const FIRST = `${"a".repeat(2_000)}\n`;

/** An API that sends a part of its response, and the rest when the test says so. */
let api: Server;
let finish: () => void;
let apiUrl: string;
beforeAll(async () => {
  api = createServer((request, response) => {
    response.writeHead(200, { "Content-Type": request.headers["x-type"] ?? "text/plain" });
    response.write(FIRST);
    finish = () => void response.end();
  });
  apiUrl = await listening(api);
});
afterAll(() => void api.close());

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const optionsWith = (): IdpAuthOptions => ({
  env: {
    BASE_URL: "http://localhost:3000",
    IDP_ISSUER: "https://login.example.com",
    IDP_CLIENT_ID: "client",
    IDP_CLIENT_SECRET: "a client's secret",
  },
  secretKey: "a secret key of at least 32 bytes",
  log: false,
  events: true,
  apis: {
    plain: { url: `${apiUrl}/`, path: "/plain/", requestHeaders: { "X-Type": true } },
    streamed: {
      url: `${apiUrl}/`,
      path: "/streamed/",
      requestHeaders: { "X-Type": true },
      responseHeaders: { "Cache-Control": "private, no-store, no-transform" },
    },
  },
});

const APPLICATIONS: Readonly<Record<string, () => [SignsInForTests, Server]>> = {
  "Express with compression"() {
    const [app, auth] = [express(), expressAuth(optionsWith())];
    app.use(compression());
    auth.mount(app);
    app.use(auth.proxyApi("plain"), auth.proxyApi("streamed"));
    app.get("/notices", auth.idpRequired, async (request, response) => {
      await auth.eventStream(request, response);
    });
    return [auth, createServer(app)];
  },
  "Hono with compress"() {
    const [app, auth] = [new Hono(), honoAuth(optionsWith())];
    app.use(compress());
    auth.mount(app);
    app.use(auth.proxyApi("plain"), auth.proxyApi("streamed"));
    app.get("/notices", auth.idpRequired, async (c) => (await auth.eventStream(c)).response);
    const listener = getRequestListener(app.fetch);
    return [auth, createServer((request, response) => void listener(request, response))];
  },
};

describe.each(Object.entries(APPLICATIONS))("%s", (_name, make) => {
  let server: Server;
  let auth: SignsInForTests;
  let address: string;
  beforeAll(async () => {
    [auth, server] = make();
    address = await listening(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Returns the encoding, and whether the first part arrives before the rest is sent. */
  async function arrival(path: string, type: string): Promise<[string | undefined, boolean]> {
    const cookie = await signedInAs(auth);
    return new Promise((resolve, reject) => {
      const headers = {
        cookie,
        accept: type,
        "x-type": type,
        "accept-encoding": "gzip",
        "sec-fetch-site": "same-origin",
      };
      const asked = httpRequest(`${address}${path}`, { headers });
      asked.once("error", reject).once("response", (response) => {
        let length = 0;
        let isWhole = false;
        const settle = (): void => {
          resolve([response.headers["content-encoding"], length > 1_000]);
          isWhole = true;
          finish();
          asked.destroy();
        };
        const timer = setTimeout(settle, 300);
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length <= 1_000 || isWhole) return;
          clearTimeout(timer);
          settle();
        });
      });
      asked.end();
    });
  }

  it.each(["text/event-stream", "application/x-ndjson", "application/jsonl"])(
    "a proxied stream of type %s arrives piece by piece",
    async (type) => {
      expect(await arrival("/plain/", type)).toEqual([undefined, true]);
    },
  );

  it("proxied text that the API sends piece by piece is held, unless the table says no-transform", async () => {
    expect(await arrival("/plain/", "text/plain")).toEqual(["gzip", false]);
    expect(await arrival("/streamed/", "text/plain")).toEqual([undefined, true]);
  });

  it.each([
    ["idpauth's own event stream", "/idpauth/events"],
    ["a stream of auth.eventStream", "/notices"],
  ])("%s isn't compressed", async (_title, path) => {
    const cookie = await signedInAs(auth);
    const response = await fetch(`${address}${path}`, {
      headers: { cookie, accept: "text/event-stream", "sec-fetch-site": "same-origin" },
    });
    const { value } = await response.body!.getReader().read();
    expect([
      response.status,
      response.headers.get("content-encoding"),
      value !== undefined,
    ]).toEqual([200, null, true]);
  });
});

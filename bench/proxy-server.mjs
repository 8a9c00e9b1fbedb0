// One proxy per process: idpauth's, which checks a session, of this build or another one, or a
// library's, which checks none.
import { Agent, createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { childOptions, idpauthEntry, serveCalls } from "./children.mjs";

const { kind, packages, upstream, provider, folder } = childOptions();

const idpauth = (name) => idpauthEntry(name, folder);

/** The libraries are installed for bench/peers/proxies. */
const library = (name) => createRequire(`${packages}/`)(name);

const PATH = "/api/orders/";
const url = `http://127.0.0.1:${upstream}/v2/`;

const options = {
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  ...provider,
  backchannelLogout: true,
  baseUrl: "http://app.example",
  apis: { orders: { url, path: PATH, methods: ["GET", "POST"] } },
};

/** What the plain proxies send to the API. */
function passedOn({ url: target, headers: { accept = "*/*", "user-agent": userAgent = "" } }) {
  const path = `/v2/${target.slice(PATH.length)}`;
  const authorization = "Bearer a token of the benchmark";
  return { path, headers: { accept, "user-agent": userAgent, authorization } };
}

/** Each returns a server that listens, and `auth` if there is one. */
const kinds = {
  async "node-idpauth"() {
    const { idpAuth } = await idpauth("node");
    const auth = idpAuth(options);
    const proxy = auth.proxyApi("orders")((request, response) => response.writeHead(404).end());
    return { auth, server: createServer(auth.listener(proxy)).listen(0, "127.0.0.1") };
  },

  /** The least that a proxy over node:http costs: no session, no rules, no time limits. */
  async "node-plain"() {
    const agent = new Agent({ keepAlive: true });
    const server = createServer((request, response) => {
      const { path, headers } = passedOn(request);
      const outgoing = httpRequest({
        host: "127.0.0.1",
        port: upstream,
        agent,
        method: request.method,
        path,
        headers,
      });
      outgoing.on("error", () => response.destroy());
      outgoing.on("response", (incoming) => {
        response.writeHead(incoming.statusCode, incoming.headers);
        incoming.pipe(response);
      });
      outgoing.end();
    });
    return { server: server.listen(0, "127.0.0.1") };
  },

  /** As `node-plain`, over undici's lowest interface. */
  async "node-undici-dispatch"() {
    const { Pool } = library("undici");
    const pool = new Pool(`http://127.0.0.1:${upstream}`, { bodyTimeout: 0, headersTimeout: 0 });
    const server = createServer((request, response) => {
      const { path, headers } = passedOn(request);
      pool.dispatch(
        { method: request.method, path, headers },
        {
          onRequestStart(controller) {
            response.on("drain", () => controller.resume());
          },
          onResponseStart(controller, status, incoming) {
            response.writeHead(status, incoming);
          },
          onResponseData(controller, chunk) {
            if (!response.write(chunk)) controller.pause();
          },
          onResponseEnd() {
            response.end();
          },
          onResponseError() {
            response.destroy();
          },
        },
      );
    });
    return { server: server.listen(0, "127.0.0.1") };
  },

  async "node-undici-request"() {
    const { Pool } = library("undici");
    const pool = new Pool(`http://127.0.0.1:${upstream}`, { bodyTimeout: 0, headersTimeout: 0 });
    const server = createServer((request, response) => {
      const { path, headers } = passedOn(request);
      pool.request({ method: request.method, path, headers }).then(
        ({ statusCode, headers: incoming, body }) => {
          response.writeHead(statusCode, incoming);
          body.pipe(response);
        },
        () => response.destroy(),
      );
    });
    return { server: server.listen(0, "127.0.0.1") };
  },

  async "node-http-proxy-3"() {
    const { createProxyServer } = library("http-proxy-3");
    // Without an agent, it opens a connection for each request.
    const proxy = createProxyServer({
      target: url,
      agent: new Agent({ keepAlive: true }),
      xfwd: true,
    });
    proxy.on("error", (error, request, response) => response.destroy());
    const server = createServer((request, response) => {
      if (!request.url.startsWith(PATH)) return response.writeHead(404).end();
      request.url = request.url.slice(PATH.length - 1);
      proxy.web(request, response);
    });
    return { server: server.listen(0, "127.0.0.1") };
  },

  async "fastify-idpauth"() {
    const { default: fastify } = await import("fastify");
    const { idpAuth } = await idpauth("fastify");
    const app = fastify();
    const auth = idpAuth(options);
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { auth, server: app.server };
  },

  async "express-idpauth"() {
    const { default: express } = await import("express");
    const { idpAuth } = await idpauth("express");
    const app = express();
    const auth = idpAuth(options);
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return { auth, server: app.listen(0, "127.0.0.1") };
  },

  async "koa-idpauth"() {
    const { default: Koa } = await import("koa");
    const { idpAuth } = await idpauth("koa");
    const app = new Koa();
    const auth = idpAuth(options);
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return { auth, server: app.listen(0, "127.0.0.1") };
  },

  async "hono-idpauth"() {
    const { serve } = await import("@hono/node-server");
    const { Hono } = await import("hono");
    const { idpAuth } = await idpauth("hono");
    const app = new Hono();
    const auth = idpAuth(options);
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    return { auth, server: serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) };
  },

  async "fastify-http-proxy"() {
    const { default: fastify } = await import("fastify");
    const app = fastify();
    await app.register(library("@fastify/http-proxy"), {
      upstream: new URL(url).origin,
      prefix: PATH,
      rewritePrefix: "/v2/",
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { server: app.server };
  },
};

const { server, auth } = await kinds[kind]();
if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));

/** The largest size of the process since `watchSize`. */
let peak = 0;
let watching;

serveCalls({
  port: () => server.address().port,

  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },

  /** Signs in that many sessions of one user. Returns their cookies. */
  async signIn({ count, sub }) {
    const { signedInAs } = await idpauth("testing");
    const exp = Math.floor(Date.now() / 1000) + 86_400;
    const cookies = [];
    while (cookies.length < count) cookies.push(await signedInAs(auth, { sub, exp }));
    return cookies;
  },

  /**
   * Bytes that are in use after a garbage collection: of the heap and the buffers, and of the
   * process.
   */
  memory() {
    for (let round = 0; round < 4; round += 1) globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { used: heapUsed + external, rss };
  },

  watchSize() {
    peak = 0;
    watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
  },

  peak() {
    clearInterval(watching);
    return peak;
  },

  /** The share of the time in which the event loop works. */
  async utilization({ milliseconds }) {
    const before = performance.eventLoopUtilization();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return performance.eventLoopUtilization(before).utilization;
  },
});

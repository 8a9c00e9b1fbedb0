// One framework per process, with idpauth of this build or another one. Four applications send the
// same small JSON: alone, behind a middleware that sets the two headers of a guarded response, behind
// one that also waits for a promise, as any that asks a store does, and behind the guard. Each has
// one route, since a later one costs a router more.
import { createServer } from "node:http";
import { childOptions, idpauthEntry, pin, serveCalls } from "./children.mjs";

const { host, provider, folder, redis } = childOptions();

const { idpAuth } = await idpauthEntry(host, folder);
const REPORT = () => ({ ok: true });
const CACHE_CONTROL = "private, no-store";

const auth = idpAuth({
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  ...provider,
  ...(redis && { store: await redisStoreAt(redis) }),
});

/** What a middleware waits for at least. */
async function resolved() {}

async function redisStoreAt(url) {
  const { createClient } = await import("redis");
  const { redisStore } = await idpauthEntry("redis", folder);
  const client = createClient({ url, disableOfflineQueue: true });
  client.on("error", () => {});
  await client.connect();
  return redisStore(client);
}

const KINDS = ["open", "headers", "awaiting", "guarded"];

/** Each returns a function that makes the application of one kind, and returns its server. */
const hosts = {
  async express() {
    const { default: express } = await import("express");
    const before = {
      open: [],
      headers: [
        (request, response, next) => {
          response.set("Cache-Control", CACHE_CONTROL);
          response.vary("Cookie");
          next();
        },
      ],
      awaiting: [
        async (request, response, next) => {
          await resolved();
          response.set("Cache-Control", CACHE_CONTROL);
          response.vary("Cookie");
          next();
        },
      ],
      guarded: [auth.idpRequired],
    };
    return (kind) => {
      const app = express();
      auth.mount(app);
      app.get("/report", ...before[kind], (request, response) => void response.json(REPORT()));
      return createServer(app);
    };
  },

  async fastify() {
    const { default: fastify } = await import("fastify");
    const before = {
      open: [],
      headers: (request, reply, done) => {
        reply.header("cache-control", CACHE_CONTROL);
        reply.header("vary", "Cookie");
        done();
      },
      awaiting: async (request, reply) => {
        await resolved();
        reply.header("cache-control", CACHE_CONTROL);
        reply.header("vary", "Cookie");
      },
      guarded: auth.idpRequired,
    };
    return async (kind) => {
      const app = fastify();
      await app.register(auth.plugin);
      app.get("/report", { preHandler: before[kind] }, async () => REPORT());
      await app.ready();
      return app.server;
    };
  },

  async koa() {
    const { default: Koa } = await import("koa");
    const { default: Router } = await import("@koa/router");
    const before = {
      open: [],
      headers: [
        (ctx, next) => {
          ctx.set("Cache-Control", CACHE_CONTROL);
          ctx.vary("Cookie");
          return next();
        },
      ],
      awaiting: [
        async (ctx, next) => {
          await resolved();
          ctx.set("Cache-Control", CACHE_CONTROL);
          ctx.vary("Cookie");
          await next();
        },
      ],
      guarded: [auth.idpRequired],
    };
    return (kind) => {
      const app = new Koa();
      auth.mount(app);
      const handler = (ctx) => void (ctx.body = REPORT());
      app.use(new Router().get("/report", ...before[kind], handler).routes());
      return createServer(app.callback());
    };
  },

  async hono() {
    const { Hono } = await import("hono");
    const { createAdaptorServer } = await import("@hono/node-server");
    const before = {
      open: [],
      headers: [
        async (c, next) => {
          await next();
          c.res.headers.set("Cache-Control", CACHE_CONTROL);
          c.res.headers.set("Vary", "Cookie");
        },
      ],
      awaiting: [
        async (c, next) => {
          await resolved();
          await next();
          c.res.headers.set("Cache-Control", CACHE_CONTROL);
          c.res.headers.set("Vary", "Cookie");
        },
      ],
      guarded: [auth.idpRequired],
    };
    return (kind) => {
      const app = new Hono();
      auth.mount(app);
      app.get("/report", ...before[kind], (c) => c.json(REPORT()));
      return createAdaptorServer({ fetch: app.fetch });
    };
  },

  async node() {
    const open = (request, response) => {
      const text = JSON.stringify(REPORT());
      response
        .writeHead(200, {
          "Content-Type": "application/json; charset=utf-8",
          "Content-Length": Buffer.byteLength(text),
        })
        .end(text);
    };
    const headers = (request, response) => {
      response.setHeader("Cache-Control", CACHE_CONTROL);
      response.setHeader("Vary", "Cookie");
      open(request, response);
    };
    const awaiting = async (request, response) => {
      await resolved();
      headers(request, response);
    };
    const routes = { open, headers, awaiting, guarded: auth.idpRequired(open) };
    return (kind) => createServer(auth.listener(routes[kind]));
  },

  async fetch() {
    const { createAdaptorServer } = await import("@hono/node-server");
    auth.start();
    const open = () => Response.json(REPORT());
    const headers = () => {
      const response = open();
      response.headers.set("Cache-Control", CACHE_CONTROL);
      response.headers.set("Vary", "Cookie");
      return response;
    };
    const awaiting = async () => {
      await resolved();
      return headers();
    };
    const routes = { open, headers, awaiting, guarded: auth.idpRequired(open) };
    return (kind) =>
      createAdaptorServer({ fetch: (request) => auth.fetch(request) ?? routes[kind](request) });
  },
};

const serverOf = await hosts[host]();
const ports = {};
for (const kind of KINDS) {
  const server = await serverOf(kind);
  // The connections stay open while other targets have their turn.
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports[kind] = server.address().port;
}

serveCalls({
  ports: () => ports,
  pin,
  /** Microseconds of processor time so far, garbage collection included. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
});

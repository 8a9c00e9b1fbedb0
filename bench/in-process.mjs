// One framework per process, without sockets: the processor time of the guard, and of a mounted
// component for an unguarded route.
import { IncomingMessage, ServerResponse } from "node:http";
import { signedInAs } from "idpauth/testing";
import { serveCalls, childOptions } from "./children.mjs";

const { host } = childOptions();

const options = {
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  clientId: "client",
  clientSecret: "secret",
  issuer: "https://login.example.com",
};

const socket = {
  encrypted: false,
  remoteAddress: "127.0.0.1",
  destroyed: false,
  on: () => socket,
  once: () => socket,
};

/** A call of a node:http listener, which ends when the route calls `request.done`. */
const overNode = (listener) => (path, cookie) =>
  new Promise((done) => {
    const request = new IncomingMessage(socket);
    request.method = "GET";
    request.url = path;
    request.rawHeaders = ["Host", "app.example", "Accept", "text/html", "Cookie", cookie];
    request.headers = { host: "app.example", accept: "text/html", cookie };
    request.done = done;
    listener(request, new ServerResponse(request));
  });

const overFetch = (fetch) => (path, cookie) =>
  fetch(new Request(`http://app.example${path}`, { headers: { accept: "text/html", cookie } }));

/**
 * Each gives `call` for the bare application, which has /open, and for the mounted one, which has
 * /open and /guarded.
 */
const hosts = {
  async node() {
    const { idpAuth } = await import("idpauth/node");
    const auth = idpAuth(options);
    const open = (request) => request.done();
    const guarded = auth.idpRequired(open);
    const routed = (request, response) =>
      request.url === "/guarded" ? guarded(request, response) : open(request);
    return { auth, bare: overNode(routed), mounted: overNode(auth.listener(routed)) };
  },

  async express() {
    const { default: express } = await import("express");
    const { idpAuth } = await import("idpauth/express");
    const auth = idpAuth(options);
    const open = (request) => request.done();
    const bare = express().get("/open", open);
    const app = express();
    auth.mount(app);
    app.get("/open", open).get("/guarded", auth.idpRequired, open);
    return { auth, bare: overNode(bare), mounted: overNode(app) };
  },

  async fastify() {
    const { default: fastify } = await import("fastify");
    const { idpAuth } = await import("idpauth/fastify");
    const auth = idpAuth(options);
    const open = (request, reply) => {
      reply.hijack();
      request.raw.done();
    };
    const bare = fastify();
    bare.get("/open", open);
    const app = fastify();
    await app.register(auth.plugin);
    app.get("/open", open);
    app.get("/guarded", { preHandler: auth.idpRequired }, open);
    await Promise.all([bare.ready(), app.ready()]);
    return { auth, bare: overNode(bare.routing), mounted: overNode(app.routing) };
  },

  async koa() {
    const { default: Koa } = await import("koa");
    const { default: Router } = await import("@koa/router");
    const { idpAuth } = await import("idpauth/koa");
    const auth = idpAuth(options);
    const open = (ctx) => {
      ctx.respond = false;
      ctx.req.done();
    };
    const bare = new Koa().use(new Router().get("/open", open).routes());
    const app = new Koa();
    auth.mount(app);
    app.use(new Router().get("/open", open).get("/guarded", auth.idpRequired, open).routes());
    return { auth, bare: overNode(bare.callback()), mounted: overNode(app.callback()) };
  },

  async hono() {
    const { Hono } = await import("hono");
    const { idpAuth } = await import("idpauth/hono");
    const auth = idpAuth(options);
    const open = (c) => c.body("open");
    const bare = new Hono().get("/open", open);
    const app = new Hono();
    auth.mount(app);
    app.get("/open", open).get("/guarded", auth.idpRequired, open);
    return { auth, bare: overFetch(bare.fetch), mounted: overFetch(app.fetch) };
  },

  async fetch() {
    const { idpAuth } = await import("idpauth/fetch");
    const auth = idpAuth(options);
    auth.start();
    const open = async () => new Response("open");
    const guarded = auth.idpRequired(open);
    const routed = (request) =>
      request.url.endsWith("/guarded") ? guarded(request) : open(request);
    return {
      auth,
      bare: overFetch(routed),
      mounted: overFetch((request) => auth.fetch(request) ?? routed(request)),
    };
  },
};

const { auth, bare, mounted } = await hosts[host]();
const cookie = await signedInAs(auth, undefined, { secure: false });

const KINDS = {
  bare: () => bare("/open", cookie),
  open: () => mounted("/open", cookie),
  guarded: () => mounted("/guarded", cookie),
};

// A blocked request would be measured otherwise.
const response = await Promise.race([
  KINDS.guarded(),
  new Promise((resolve) => setTimeout(resolve, 5_000, "blocked")),
]);
if (response === "blocked" || response?.status >= 300)
  throw new Error(`${host}: the guard blocks the signed-in request`);

serveCalls({
  /** Nanoseconds of processor time for each call, over a batch of calls one after the other. */
  async batch({ kind, calls }) {
    const call = KINDS[kind];
    const before = process.cpuUsage();
    for (let index = 0; index < calls; index += 1) await call();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1_000) / calls;
  },
});

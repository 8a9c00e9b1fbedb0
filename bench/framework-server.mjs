// One framework per process: the bare framework, and the framework with idpauth mounted, each on
// its own port.
import { createServer } from "node:http";
import { serveCalls, childOptions } from "./children.mjs";

const { host, provider } = childOptions();

const USER = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
const SESSION = () => ({ authenticated: true, user: USER });
const REPORTS = () => ({ authenticated: true });

const options = {
  env: {},
  log: false,
  secretKey: "a secret key of the benchmark, longer than it must be",
  ...provider,
};

function served(listener) {
  const server = createServer(listener);
  return listening(server);
}

async function listening(server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
}

/**
 * Each returns the ports of both applications. `bare` has /session; `mounted` has idpauth, /open
 * and /guarded.
 */
const hosts = {
  async express() {
    const { default: express } = await import("express");
    const { idpAuth } = await import("idpauth/express");
    const bare = express();
    bare.get("/session", (request, response) => void response.json(SESSION()));
    const app = express();
    const auth = idpAuth(options);
    auth.mount(app);
    app.get("/open", (request, response) => void response.json(REPORTS()));
    app.get("/guarded", auth.idpRequired, (request, response) => void response.json(REPORTS()));
    return { bare: await served(bare), mounted: await served(app) };
  },

  async fastify() {
    const { default: fastify } = await import("fastify");
    const { idpAuth } = await import("idpauth/fastify");
    const bare = fastify();
    bare.get("/session", async () => SESSION());
    const app = fastify();
    const auth = idpAuth(options);
    await app.register(auth.plugin);
    app.get("/open", async () => REPORTS());
    app.get("/guarded", { preHandler: auth.idpRequired }, async () => REPORTS());
    const port = async (instance) =>
      Number(new URL(await instance.listen({ port: 0, host: "127.0.0.1" })).port);
    return { bare: await port(bare), mounted: await port(app) };
  },

  async hono() {
    const { Hono } = await import("hono");
    const { getRequestListener } = await import("@hono/node-server");
    const { idpAuth } = await import("idpauth/hono");
    const bare = new Hono().get("/session", (c) => c.json(SESSION()));
    const auth = idpAuth(options);
    const app = new Hono();
    auth.mount(app);
    app.get("/open", (c) => c.json(REPORTS()));
    app.get("/guarded", auth.idpRequired, (c) => c.json(REPORTS()));
    return {
      bare: await served(getRequestListener(bare.fetch)),
      mounted: await served(getRequestListener(app.fetch)),
    };
  },

  async koa() {
    const { default: Koa } = await import("koa");
    const { default: Router } = await import("@koa/router");
    const { idpAuth } = await import("idpauth/koa");
    const bareRouter = new Router().get("/session", (ctx) => void (ctx.body = SESSION()));
    const bare = new Koa().use(bareRouter.routes());
    const auth = idpAuth(options);
    const router = new Router()
      .get("/open", (ctx) => void (ctx.body = REPORTS()))
      .get("/guarded", auth.idpRequired, (ctx) => void (ctx.body = REPORTS()));
    const app = new Koa();
    auth.mount(app);
    app.use(router.routes());
    return { bare: await served(bare.callback()), mounted: await served(app.callback()) };
  },

  async node() {
    const { idpAuth } = await import("idpauth/node");
    const send = (response, body) => {
      const text = JSON.stringify(body);
      response
        .writeHead(200, {
          "Content-Type": "application/json; charset=utf-8",
          "Content-Length": Buffer.byteLength(text),
        })
        .end(text);
    };
    const bare = (request, response) => {
      if (request.url === "/session") send(response, SESSION());
      else response.writeHead(404).end();
    };
    const auth = idpAuth(options);
    const guarded = auth.idpRequired((request, response) => send(response, REPORTS()));
    const app = auth.listener((request, response) => {
      if (request.url === "/open") send(response, REPORTS());
      else if (request.url === "/guarded") return guarded(request, response);
      else response.writeHead(404).end();
    });
    return { bare: await served(bare), mounted: await served(app) };
  },

  async fetch() {
    const { getRequestListener } = await import("@hono/node-server");
    const { idpAuth } = await import("idpauth/fetch");
    const path = ({ url }) => url.slice(url.indexOf("/", 8));
    const bare = (request) =>
      path(request) === "/session" ? Response.json(SESSION()) : new Response(null, { status: 404 });
    const auth = idpAuth(options);
    const guarded = auth.idpRequired(() => Response.json(REPORTS()));
    const app = (request) => {
      const response = auth.fetch(request);
      if (response !== undefined) return response;
      if (path(request) === "/open") return Response.json(REPORTS());
      return path(request) === "/guarded" ? guarded(request) : new Response(null, { status: 404 });
    };
    return {
      bare: await served(getRequestListener(bare)),
      mounted: await served(getRequestListener(app)),
    };
  },
};

const ports = await hosts[host]();

serveCalls({
  ports: () => ports,
  /** Microseconds of processor time so far, garbage collection included. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
});

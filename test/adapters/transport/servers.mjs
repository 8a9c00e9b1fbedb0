// One application per framework, written as its guide says. Each function listens, and returns the
// port.
import { createServer } from "node:http";
import { createSecureServer, createServer as createHttp2Server } from "node:http2";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** @typedef {import("./hosts.js").ApplicationOptions} Options */
/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {import("node:http").Server} Server */

/** @type {(options: Options) => import("idpauth").IdpAuthOptions} */
const settings = ({ provider, api }) => ({
  env: {},
  log: false,
  secretKey: "a secret key of the tests, longer than it must be",
  ...provider,
  scope: ["openid", "email", "offline_access"],
  apis: {
    orders: { url: `${api}/v2/`, path: "/api/orders/" },
    // Of an API that may take one second.
    hasty: { url: `${api}/v2/`, path: "/api/hasty/", timeout: 1 },
  },
});

/**
 * @param {Options} options
 * @param {any} listener
 * @returns {Server}
 */
function serverOf({ protocol, key, cert }, listener) {
  if (protocol === "h2") return /** @type {any} */ (createSecureServer({ key, cert }, listener));
  return protocol === "h2c"
    ? /** @type {any} */ (createHttp2Server(listener))
    : createServer(listener);
}

/** @param {import("node:net").Server} server */
export function portOf(server) {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/**
 * @param {Server} server
 * @returns {Promise<number>}
 */
export function listening(server) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      resolve(portOf(server));
    });
  });
}

/**
 * As docs/how-to/proxy.md has it.
 *
 * @param {Server} server
 * @param {{ proxyUpgrade(message: IncomingMessage, socket: any, head: Buffer): boolean }} auth
 */
function connectUpgrades(server, auth) {
  server.on("upgrade", (message, socket, head) => {
    if (!auth.proxyUpgrade(message, socket, head)) socket.destroy();
  });
  return server;
}

const VIA = "/via/";

/**
 * What `fetchApi` is asked for a request to a path below `/via/`.
 *
 * @param {string} url
 * @param {string | undefined} method
 * @param {ReadableStream<any> | null} body
 * @returns {[api: string, path: string, init: RequestInit]}
 */
function viaFetchApi(url, method = "GET", body) {
  const path = url.slice(url.indexOf(VIA) + VIA.length);
  return ["orders", path, method === "POST" ? { method, body } : {}];
}

/** @param {AsyncIterable<any>} stream pulled from one piece at a time */
const streamOf = (stream) => ReadableStream.from(stream);

/**
 * @param {(...call: ReturnType<typeof viaFetchApi>) => Promise<Response>} fetchApi
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function passOn(fetchApi, request, response) {
  const body = request.method === "POST" ? streamOf(request) : null;
  const fetched = await fetchApi(...viaFetchApi(request.url ?? "", request.method, body));
  response.statusCode = fetched.status;
  if (fetched.body === null) return void response.end();
  // The browser or the API may leave; `pipeline` then destroys the response.
  await pipeline(Readable.fromWeb(/** @type {any} */ (fetched.body)), response).catch(() => {});
}

/** @param {AsyncIterable<Uint8Array>} stream */
async function sizeOf(stream) {
  let size = 0;
  for await (const piece of stream) size += piece.length;
  return size;
}

/**
 * @param {import("idpauth/express").ExpressIdpAuth} auth
 * @returns {import("express").RequestHandler}
 */
const viaExpress = (auth) => (request, response, next) => {
  request.url = request.originalUrl;
  passOn((...call) => auth.fetchApi(request, ...call), request, response).catch(next);
};

/** @param {any} express */
const startExpress = (express) => async (/** @type {Options} */ options) => {
  const { idpAuth } = await import("idpauth/express");
  const app = express();
  const auth = idpAuth(settings(options));
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  app.use(auth.proxyApi("hasty"));
  app.use(VIA, viaExpress(auth));
  app.use(quietly);
  return listening(connectUpgrades(createServer(app), auth));
};

/**
 * Responds to an error as Express does, but prints nothing.
 *
 * @param {unknown} _error
 * @param {IncomingMessage} _request
 * @param {ServerResponse} response
 * @param {unknown} _next tells Express that this is an error handler
 */
function quietly(_error, _request, response, _next) {
  if (response.headersSent) response.destroy();
  else response.writeHead(500).end();
}

/** @type {Record<string, (options: Options) => Promise<number>>} */
export const servers = {
  async node(options) {
    const { idpAuth } = await import("idpauth/node");
    const auth = idpAuth(settings(options));
    const app = auth.proxyApi("orders")(
      auth.proxyApi("hasty")(
        async (/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) => {
          if (!request.url?.startsWith(VIA)) return void response.writeHead(404).end();
          await passOn((...call) => auth.fetchApi(request, ...call), request, response);
        },
      ),
    );
    const listener = auth.listener(/** @type {any} */ (app));
    return listening(connectUpgrades(serverOf(options, listener), auth));
  },

  express4: startExpress(createRequire(import.meta.url)("express4")),
  express5: async (options) => startExpress((await import("express")).default)(options),

  async nestjs(options) {
    await import("reflect-metadata");
    const { Module } = await import("@nestjs/common");
    const { NestFactory } = await import("@nestjs/core");
    const { idpAuth } = await import("idpauth/express");
    const Application = function () {};
    Module({})(Application);
    const app = await NestFactory.create(
      /** @type {any} */ (Application),
      /** @type {any} */ ({ logger: false }),
    );
    const auth = idpAuth(settings(options));
    auth.mount(app.getHttpAdapter().getInstance());
    app.use(auth.proxyApi("orders"), auth.proxyApi("hasty"));
    app.use(VIA, viaExpress(auth));
    await app.listen(0, "127.0.0.1");
    const server = /** @type {Server} */ (app.getHttpServer());
    connectUpgrades(server, auth);
    return Number(new URL(await app.getUrl()).port);
  },

  async fastify(options) {
    const { default: fastify } = await import("fastify");
    const { idpAuth } = await import("idpauth/fastify");
    const { protocol, key, cert } = options;
    const app = fastify(
      /** @type {{}} */ ({
        http2: protocol !== "http/1.1",
        ...(protocol === "h2" && { https: { key, cert } }),
      }),
    );
    const auth = idpAuth(settings(options));
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    app.addHook("onRequest", auth.proxyApi("hasty"));
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    app.all(`${VIA}*`, async (request, reply) => {
      const { method, url } = request;
      const body = method === "POST" ? streamOf(request.raw) : null;
      const { status, body: fetched } = await auth.fetchApi(
        request,
        ...viaFetchApi(url, method, body),
      );
      return reply.code(status).send(fetched && Readable.fromWeb(/** @type {any} */ (fetched)));
    });
    connectUpgrades(app.server, auth);
    await app.listen({ port: 0, host: "127.0.0.1" });
    return portOf(app.server);
  },

  async koa(options) {
    const { default: Koa } = await import("koa");
    const { idpAuth } = await import("idpauth/koa");
    const app = new Koa();
    app.silent = true;
    const auth = idpAuth(settings(options));
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    app.use(auth.proxyApi("hasty"));
    app.use(async (ctx, next) => {
      if (!ctx.path.startsWith(VIA)) return next();
      const body = ctx.method === "POST" ? streamOf(ctx.req) : null;
      const fetched = await auth.fetchApi(ctx, ...viaFetchApi(ctx.url, ctx.method, body));
      ctx.status = fetched.status;
      ctx.body = fetched.body && Readable.fromWeb(/** @type {any} */ (fetched.body));
    });
    return listening(connectUpgrades(serverOf(options, app.callback()), auth));
  },

  async hono(options) {
    const { serve } = await import("@hono/node-server");
    const { Hono } = await import("hono");
    const { idpAuth } = await import("idpauth/hono");
    const app = new Hono();
    const auth = idpAuth(settings(options));
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    app.use(auth.proxyApi("hasty"));
    app.all(`${VIA}*`, async (c) => {
      const { method, url, body } = c.req.raw;
      const fetched = await auth.fetchApi(c, ...viaFetchApi(url, method, body));
      return new Response(fetched.body, { status: fetched.status });
    });
    const { protocol, key, cert } = options;
    const secure = { createServer: createSecureServer, serverOptions: { key, cert } };
    const how = { "http/1.1": {}, h2c: { createServer: createHttp2Server }, h2: secure }[protocol];
    return new Promise((resolve) => {
      const server = serve(
        /** @type {any} */ ({ fetch: app.fetch, port: 0, hostname: "127.0.0.1", ...how }),
        ({ port }) => resolve(port),
      );
      connectUpgrades(/** @type {Server} */ (server), /** @type {any} */ (auth));
    });
  },

  async fetch(options) {
    const { getRequestListener } = await import("@hono/node-server");
    const { idpAuth } = await import("idpauth/fetch");
    const auth = idpAuth(settings(options));
    auth.start();
    const app = auth.proxyApi("orders")(
      auth.proxyApi("hasty")(async (/** @type {Request} */ request) => {
        const { method, url, body } = request;
        if (!url.includes(VIA)) return new Response(null, { status: 404 });
        const fetched = await auth.fetchApi(request, ...viaFetchApi(url, method, body));
        return new Response(fetched.body, { status: fetched.status });
      }),
    );
    const listener = getRequestListener(
      async (request) => (await auth.fetch(request)) ?? app(request),
      { errorHandler: () => undefined },
    );
    return listening(serverOf(options, listener));
  },

  async next(options) {
    const { startNext } = await import("./next-server.mjs");
    return startNext(options, settings(options), async (auth, raw) => {
      const { url, method, body } = raw;
      const fetched = await auth.fetchApi(raw, ...viaFetchApi(url, method, body));
      return method === "POST" ? fetched.json() : { size: await sizeOf(fetched.body) };
    });
  },
};

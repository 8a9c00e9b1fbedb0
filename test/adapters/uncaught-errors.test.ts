// What an error of ours becomes that neither the handler nor the application's error handler
// catches.
import { once } from "node:events";
import { createRequire } from "node:module";
import http, { type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify, { type FastifyReply, type RouteShorthandOptions } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import {
  ApiTokenError,
  GuardMissingError,
  IdpAuthError,
  ProviderUnavailableError,
  type LogEntry,
} from "../../src/index.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";

const express4 = createRequire(import.meta.url)("express4") as typeof express;
const servers: Server[] = [];
const log: LogEntry[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  log.length = 0;
  vi.restoreAllMocks();
});

const OPTIONS = {
  env: {
    BASE_URL: "http://app.example",
    IDP_ISSUER: "https://login.example",
    IDP_CLIENT_ID: "client",
    IDP_CLIENT_SECRET: "a client's secret",
  },
  debug: true,
  secretKey: "a secret key of at least 32 bytes",
  log: (entry: LogEntry) => void log.push(entry),
};

/** Builds an application whose guarded and unguarded route throw an error. */
type Build = (
  error: Error,
  handled?: (error: unknown) => number,
) => Promise<{ auth: SignsInForTests; listener: RequestListener }>;

const expressWith =
  (framework: typeof express): Build =>
  async (error, handled) => {
    const auth = expressAuth(OPTIONS);
    const app = framework();
    auth.mount(app);
    app.set("env", "test");
    const fail = (
      _request: express.Request,
      _response: express.Response,
      next: express.NextFunction,
    ) => next(error);
    app.get("/guarded", auth.idpRequired, fail);
    app.get("/open", fail);
    if (handled !== undefined)
      app.use(((thrown, _request, response, _next) => {
        response.status(handled(thrown)).json({ handled: true });
      }) as express.ErrorRequestHandler);
    app.use(auth.errorHandler);
    return { auth, listener: app };
  };

const BUILDS: Readonly<Record<string, Build>> = {
  "Express 5": expressWith(express),
  "Express 4": expressWith(express4),
  async Fastify(error, handled) {
    const auth = fastifyAuth(OPTIONS);
    const app = fastify();
    await app.register(auth.plugin);
    if (handled !== undefined)
      app.setErrorHandler((thrown, _request, reply) =>
        reply.code(handled(thrown)).send({ handled: true }),
      );
    app.get("/guarded", { preHandler: auth.idpRequired }, () => Promise.reject(error));
    app.get("/open", () => Promise.reject(error));
    await app.ready();
    return { auth, listener: app.routing };
  },
  async Koa(error, handled) {
    const auth = koaAuth(OPTIONS);
    const app = new Koa();
    app.silent = true;
    if (handled !== undefined)
      app.use(async (ctx, next) => {
        try {
          await next();
        } catch (thrown) {
          ctx.status = handled(thrown);
          ctx.body = { handled: true };
        }
      });
    auth.mount(app);
    app.use((ctx, next) => {
      if (ctx.path !== "/guarded") throw error;
      return auth.idpRequired(ctx, () => Promise.reject(error).then(next));
    });
    const listener = app.callback();
    return { auth, listener: (request, response) => void listener(request, response) };
  },
  async Hono(error, handled) {
    const auth = honoAuth(OPTIONS);
    const app = new Hono();
    auth.mount(app);
    if (handled !== undefined)
      app.onError((thrown, c) => c.json({ handled: true }, handled(thrown) as 418));
    app.get("/guarded", auth.idpRequired, () => {
      throw error;
    });
    app.get("/open", () => {
      throw error;
    });
    const listener = getRequestListener(app.fetch);
    return { auth, listener: (request, response) => void listener(request, response) };
  },
  async "node:http"(error, handled) {
    const auth = nodeAuth(OPTIONS);
    const guarded = auth.idpRequired(() => Promise.reject(error));
    const onError =
      handled === undefined
        ? undefined
        : (thrown: unknown, _request: unknown, response: http.ServerResponse) =>
            response
              .writeHead(handled(thrown), { "Content-Type": "application/json" })
              .end('{"handled":true}');
    return {
      auth,
      listener: auth.listener((request, response) => {
        if (request.url === "/guarded") return guarded(request as http.IncomingMessage, response);
        throw error;
      }, onError && { onError }),
    };
  },
};

async function serve(name: string, error: Error, handled?: (error: unknown) => number) {
  return serveBuilt(await BUILDS[name]!(error, handled));
}

async function serveBuilt({ auth, listener }: Awaited<ReturnType<Build>>) {
  const server = http.createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const cookie = await signedInAs(auth, { email: "ada@example.com" });
  return (path: string, accept: string) =>
    fetch(`http://127.0.0.1:${String(port)}${path}`, {
      redirect: "manual",
      headers: { cookie, accept, host: "app.example" },
    });
}

const SECRET = "at_secret";
const ERRORS: readonly (readonly [status: number, error: IdpAuthError])[] = [
  [502, new IdpAuthError("api_unreachable", `unreachable ${SECRET}`, { cause: new Error(SECRET) })],
  [
    401,
    new ApiTokenError(
      "api_sign_in_required",
      "orders",
      "consent_required",
      "/idpauth/login/?api=orders",
    ),
  ],
  [403, new ApiTokenError("api_token_missing", "orders", "no_refresh_token")],
  [401, new IdpAuthError("login_required", "Sign-in is required.")],
  [503, new ProviderUnavailableError("timeout", { retryAfter: 7 })],
];

describe.each(Object.keys(BUILDS))("on %s, an error of idpauth that nobody catches", (name) => {
  it.each(ERRORS)("becomes its own status, %i", async (status, error) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const get = await serve(name, error);
    for (const path of ["/guarded", "/open"])
      for (const accept of ["application/json", "text/html"]) {
        const response = await get(path, accept);
        const text = await response.text();
        expect([path, response.status]).toEqual([path, status]);
        expect(text).not.toContain(SECRET);
        const isPage = accept === "text/html" && (name !== "Hono" || path === "/guarded");
        expect(response.headers.get("content-type")).toContain(
          isPage ? "text/html" : "application/problem+json",
        );
        if (!isPage) expect(JSON.parse(text)).toMatchObject({ status, code: error.code });
        if (status === 503) expect(response.headers.get("retry-after")).toBe("7");
      }
  });

  it("goes to the application's own error handler, as the same object, and nowhere else", async () => {
    for (const [, error] of ERRORS) {
      const seen: unknown[] = [];
      const get = await serve(name, error, (thrown) => {
        seen.push(thrown);
        return 418;
      });
      for (const path of ["/guarded", "/open"]) {
        const response = await get(path, "text/html");
        expect([response.status, await response.json()]).toEqual([418, { handled: true }]);
      }
      expect(seen).toEqual([error, error]);
      expect(seen.every((one) => one === error)).toBe(true);
    }
  });

  it("is 500, and reported by the framework, if the application's code is wrong", async () => {
    const written = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const get = await serve(name, new GuardMissingError());
    const response = await get("/guarded", "text/html");
    expect(response.status).toBe(500);
    if (name === "Hono" || name === "node:http")
      expect(written.mock.calls.length + printed.mock.calls.length).toBeGreaterThan(0);
    // The form of the framework.
    expect(response.headers.get("content-type")).not.toContain("problem");
  });
});

it("the log has a line for what is neither an outage nor the user's", async () => {
  const get = await serve("node:http", ERRORS[0]![1]);
  await get("/guarded", "text/html");
  expect(log.filter(({ code }) => code === "api_unreachable").length).toBe(1);
});

it("the log's line for an API's missing token names the API and the reason", async () => {
  const error = new ApiTokenError("api_token_refused", "orders", "api_token_audience");
  const get = await serve("node:http", error);
  await get("/guarded", "text/html");
  const lines = log.filter(({ code }) => code === "api_token_refused");
  expect(lines.map(({ details }) => details)).toEqual([
    { reason: "api_token_audience", api: "orders" },
  ]);
});

const [, UNREACHABLE] = ERRORS[0]!;

describe("on Express", () => {
  it.each([
    ["5", express],
    ["4", express4],
  ] as const)(
    "on %s, an error of the application and an error after the head was sent go on to the next handler",
    async (_version, framework) => {
      const seen: unknown[] = [];
      const auth = expressAuth(OPTIONS);
      const app = framework();
      auth.mount(app);
      const bug = new Error("a bug");
      app.get("/bug", (_request, _response, next) => next(bug));
      app.get("/late", (_request, response, next) => {
        response.write("begun");
        next(UNREACHABLE);
      });
      app.use(auth.errorHandler);
      app.use(((thrown, _request, response, _next) => {
        seen.push(thrown);
        response.end("!");
      }) as express.ErrorRequestHandler);
      const get = await serveBuilt({ auth, listener: app });
      expect(await (await get("/bug", "text/html")).text()).toBe("!");
      expect(await (await get("/late", "text/html")).text()).toBe("begun!");
      expect(seen).toEqual([bug, UNREACHABLE]);
    },
  );

  it("headers of middleware stay, such as those of CORS, and those of the unsent body do not", async () => {
    const auth = expressAuth(OPTIONS);
    const app = express();
    app.use((_request, response, next) => {
      response.set({ "Access-Control-Allow-Origin": "https://spa.example", "Set-Cookie": "a=b" });
      next();
    });
    auth.mount(app);
    app.get("/", (_request, response, next) => {
      response.set({ "Content-Encoding": "gzip", ETag: '"1"', "Content-Length": "3" });
      next(UNREACHABLE);
    });
    app.use(auth.errorHandler);
    const response = await (await serveBuilt({ auth, listener: app }))("/", "application/json");
    expect(response.status).toBe(502);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://spa.example");
    expect(response.headers.getSetCookie()).toEqual(["a=b"]);
    expect([response.headers.get("content-encoding"), response.headers.get("etag")]).toEqual([
      null,
      null,
    ]);
    expect(await response.json()).toMatchObject({ code: "api_unreachable" });
  });
});

describe("on Fastify", () => {
  async function get(
    route: RouteShorthandOptions,
    handler?: (error: unknown, reply: FastifyReply) => unknown,
  ) {
    const auth = fastifyAuth(OPTIONS);
    const app = fastify();
    await app.register(auth.plugin);
    if (handler !== undefined)
      app.setErrorHandler((error, _request, reply) => handler(error, reply));
    app.get("/", route, () => Promise.reject(UNREACHABLE));
    await app.ready();
    return (await serveBuilt({ auth, listener: app.routing }))("/", "text/html");
  }

  it("an error handler that sends the error on leaves the response to idpauth", async () => {
    const response = await get({}, (error, reply) => reply.send(error));
    expect([response.status, response.headers.get("content-type")]).toEqual([
      502,
      expect.stringContaining("text/html"),
    ]);
  });

  it("an error handler that sends the error with a status of its own wins", async () => {
    const plain = await get({}, (error, reply) => {
      reply.code(418).send({ message: (error as Error).message });
    });
    expect(plain.status).toBe(418);
    expect(await plain.json()).toEqual({ message: UNREACHABLE.message });
  });

  it("a route's own error handler and its response schema win", async () => {
    const own = await get({
      errorHandler(_error, _request, reply) {
        reply.code(418).send("own");
      },
    });
    expect([own.status, await own.text()]).toEqual([418, "own"]);
    const schema = {
      response: { 502: { type: "object", properties: { statusCode: { type: "number" } } } },
    };
    expect(await (await get({ schema })).json()).toEqual({ statusCode: 502 });
  });
});

describe("on Koa", () => {
  function build(change: (app: Koa) => unknown) {
    const auth = koaAuth(OPTIONS);
    const app = new Koa();
    const emitted: unknown[] = [];
    app.on("error", (error) => void emitted.push(error));
    change(app);
    auth.mount(app);
    app.use((ctx) => {
      if (ctx.path === "/bug") throw new TypeError("a bug");
      throw UNREACHABLE;
    });
    const listener = app.callback();
    const built = serveBuilt({ auth, listener: (...both) => void listener(...both) });
    return { emitted, get: async (path: string) => (await built)(path, "text/html") };
  }

  it("the application emits the error once, with idpauth's response and with Koa's own", async () => {
    const { get, emitted } = build(() => undefined);
    expect((await get("/")).headers.get("content-type")).toContain("text/html");
    expect(emitted).toEqual([UNREACHABLE]);
    const bug = await get("/bug");
    expect([bug.status, await bug.text()]).toEqual([500, "Internal Server Error"]);
    expect(emitted.slice(1)).toMatchObject([{ message: "a bug" }]);
  });

  it("the application's own onerror wins, for all contexts or for one", async () => {
    function own(this: Koa.Context, error: Error | null): void {
      if (error) this.res.writeHead(418).end(error.message);
    }
    for (const change of [
      (app: Koa) => void Object.assign(app.context, { onerror: own }),
      (app: Koa) => void app.use((ctx, next) => (Object.assign(ctx, { onerror: own }), next())),
    ]) {
      const { get } = build(change);
      const response = await get("/");
      expect([response.status, await response.text()]).toEqual([418, UNREACHABLE.message]);
    }
  });
});

describe("behind the wrappers for fetch-style servers", () => {
  const auth = fetchAuth(OPTIONS);
  auth.start();
  const request = async (headers: Record<string, string>) =>
    new Request("http://app.example/", {
      headers: { cookie: await signedInAs(auth, { email: "ada@example.com" }), ...headers },
    });

  it.each(["idpRequired", "csrf"] as const)("%s: it becomes its own status", async (name) => {
    for (const [status, error] of ERRORS)
      for (const [accept, type] of [
        ["application/json", "application/problem+json"],
        ["text/html", "text/html"],
      ] as const) {
        const response = await auth[name](() => Promise.reject(error))(await request({ accept }));
        expect([response.status, response.headers.get("content-type")]).toEqual([
          status,
          expect.stringContaining(type),
        ]);
        expect(await response.text()).not.toContain(SECRET);
      }
  });

  it.each(["idpRequired", "csrf"] as const)("%s: other errors reject as they are", async (name) => {
    for (const error of [new Error("a bug"), new GuardMissingError()])
      await expect(auth[name](() => Promise.reject(error))(await request({}))).rejects.toBe(error);
  });
});

// What differs between frameworks and their libraries; what all have in common is in the suite.
import {
  createServer,
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import {
  idpAuth as fetchAuth,
  keepPrivate as keepResponsePrivate,
} from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { keepPrivate } from "../../src/adapter.js";
import { idpAuth as nodeAuth, type Handler } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";
import { listen } from "./applications/listen.js";
import { UNREACHED } from "../support/options-for.js";

const OPTIONS: IdpAuthOptions = { ...UNREACHED, log: false, scope: ["openid"] };
const GUARDED = "private, no-store";

const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

/** What a signed-in user gets from this server. */
async function get(
  auth: SignsInForTests,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  path = "/",
) {
  const server = await listen(listener);
  running.push(server);
  const response = await fetch(`http://127.0.0.1:${String(server.port)}${path}`, {
    headers: { cookie: await signedInAs(auth), "accept-encoding": "identity" },
  });
  const { status, headers } = response;
  return {
    status,
    text: await response.text(),
    caching: headers.get("cache-control"),
    vary: headers.get("vary"),
    headers,
  };
}

describe("on node:http a guarded handler", () => {
  const auth = nodeAuth(OPTIONS);
  const answers = (handler: Handler<IncomingMessage, ServerResponse>) =>
    get(auth, auth.listener(auth.idpRequired(handler)));

  it.each<[string, (response: ServerResponse) => unknown, caching: string, vary: string]>([
    ["ends at once", (response) => response.end("x"), GUARDED, "Cookie"],
    ["streams", (response) => (response.write("x"), response.end()), GUARDED, "Cookie"],
    [
      "flushes its headers first",
      (response) => (response.flushHeaders(), response.end("x")),
      GUARDED,
      "Cookie",
    ],
    [
      "writes a head without headers",
      (response) => response.writeHead(200).end("x"),
      GUARDED,
      "Cookie",
    ],
    [
      "writes a head with a reason",
      (response) => response.writeHead(200, "Fine").end("x"),
      GUARDED,
      "Cookie",
    ],
    [
      "gives headers to writeHead",
      (response) => response.writeHead(200, { "X-Own": "1" }).end("x"),
      GUARDED,
      "Cookie",
    ],
    [
      "gives its own Cache-Control to writeHead",
      (response) => response.writeHead(200, { "cache-control": "private" }).end("x"),
      "private",
      "Cookie",
    ],
    [
      "gives its own Vary to writeHead",
      (response) => response.writeHead(200, { vary: "Accept" }).end("x"),
      GUARDED,
      "Accept, Cookie",
    ],
    [
      "gives several to writeHead with a reason",
      (response) => response.writeHead(200, "Fine", { Vary: ["Accept", "Origin"] }).end("x"),
      GUARDED,
      "Accept, Origin, Cookie",
    ],
    [
      "gives lines to writeHead",
      (response) =>
        response
          .writeHead(200, ["Vary", "Accept", "Vary", "Origin", "Cache-Control", "private"])
          .end("x"),
      "private",
      "Accept, Origin, Cookie",
    ],
    [
      "removes every header",
      (response) => (removeAll(response), response.end("x")),
      GUARDED,
      "Cookie",
    ],
    [
      "sets Vary late",
      (response) => response.setHeader("Vary", "Accept").end("x"),
      GUARDED,
      "Accept, Cookie",
    ],
    ["varies by everything", (response) => response.setHeader("Vary", "*").end("x"), GUARDED, "*"],
  ])("that %s", async (_what, answer, caching, vary) => {
    const seen = await answers((_request, response) => answer(response));
    expect([seen.status, seen.text, seen.caching, seen.vary]).toEqual([200, "x", caching, vary]);
  });

  it("that gives Set-Cookie lines to writeHead keeps each of them", async () => {
    const seen = await answers((_request, response) =>
      response
        .setHeader("Set-Cookie", "old=1")
        .writeHead(200, ["Set-Cookie", "a=1", "X-Own", "1", "Set-Cookie", "b=2"])
        .end(),
    );
    expect([seen.headers.getSetCookie(), seen.headers.get("x-own"), seen.caching]).toEqual([
      ["a=1", "b=2"],
      "1",
      GUARDED,
    ]);
  });

  it("that fails: the error's response is not stored either", async () => {
    const failing = auth.listener(
      auth.idpRequired(() => Promise.reject(new Error("the handler's"))),
      {
        onError: (_error, _request, response) => {
          removeAll(response);
          response.writeHead(500).end("failed");
        },
      },
    );
    expect(await get(auth, failing)).toMatchObject({
      status: 500,
      caching: GUARDED,
      vary: "Cookie",
    });
  });

  it("that is guarded twice says it once", async () => {
    const twice = auth.idpRequired(
      auth.idpRequired((_request, response) => response.setHeader("Vary", "Accept").end()),
    );
    expect(await get(auth, auth.listener(twice))).toMatchObject({
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
  });

  it("whose response was sent while the guard read the session is left alone", async () => {
    const late = await get(auth, (request, response) => {
      response.writeHead(204).end();
      void auth.idpRequired(() => undefined)(request, response);
    });
    expect([late.status, late.caching]).toEqual([204, null]);
  });

  it("over HTTP/2", async () => {
    const server = createHttp2Server(
      auth.listener(
        auth.idpRequired((request: Http2ServerRequest, response: Http2ServerResponse) => {
          if (request.url === "/lines")
            response.writeHead(200, { Vary: "Accept", "Cache-Control": "private" }).end();
          else response.end();
        }) as (request: Http2ServerRequest, response: Http2ServerResponse) => Promise<unknown>,
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connectHttp2(
      `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    );
    try {
      const cookie = await signedInAs(auth);
      const ask = async (path: string) => {
        const stream = client.request({ ":path": path, cookie });
        const [head] = (await once(stream, "response")) as [OutgoingHttpHeaders];
        stream.resume();
        return [head[":status"], head["cache-control"], head.vary];
      };
      expect(await ask("/")).toEqual([200, GUARDED, "Cookie"]);
      expect(await ask("/lines")).toEqual([200, "private", "Accept, Cookie"]);
    } finally {
      client.close();
      server.close();
    }
  });
});

it("on node:http the adapter's function works without a guard of ours", async () => {
  const auth = nodeAuth(OPTIONS);
  const seen = await get(auth, (_request, response) => {
    keepPrivate(response);
    response.setHeader("Vary", "Accept").end("x");
  });
  expect([seen.text, seen.caching, seen.vary]).toEqual(["x", GUARDED, "Accept, Cookie"]);
});

/** As compression and express-session do. */
const replacesWriteHead: express.RequestHandler = (_request, response, next) => {
  const { writeHead } = response;
  response.writeHead = function (this: ServerResponse, ...head: unknown[]) {
    this.setHeader("X-Replaced", "1");
    return (writeHead as (...all: unknown[]) => never).apply(this, head);
  };
  next();
};

describe("on Express", () => {
  function application(build: (app: express.Application) => void) {
    const app = express();
    const auth = expressAuth(OPTIONS);
    auth.mount(app);
    app.use(auth.idpRequired);
    build(app);
    return { app, auth };
  }

  it("files that are guarded are not stored, though `send` would say that they may be", async () => {
    const { app, auth } = application((app) => app.use(express.static(import.meta.dirname)));
    const seen = await get(auth, app, "/guarded-responses.test.ts");
    expect([seen.status, seen.caching, seen.vary]).toEqual([200, GUARDED, "Cookie"]);
  });

  it("res.set and res.vary of the handler, and of middleware behind it, are merged", async () => {
    const { app, auth } = application((app) => {
      app.use((_request, response, next) => {
        response.vary("Origin");
        next();
      });
      app.get("/replaced", (_request, response) => void response.set("Vary", "Accept").send("x"));
      app.get("/added", (_request, response) => void response.vary("Accept").send("x"));
    });
    expect(await get(auth, app, "/replaced")).toMatchObject({
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
    expect(await get(auth, app, "/added")).toMatchObject({
      caching: GUARDED,
      vary: "Origin, Accept, Cookie",
    });
  });

  it("an application that is only called, not mounted, responds privately, as does the outer application after a mounted one", async () => {
    const called = express().get(
      "/called",
      (_request, response) => void response.set("Vary", "Accept").send("x"),
    );
    const mounted = express();
    const { app, auth } = application((app) => {
      app.use("/mounted", mounted);
      app.get("/called", (request, response) => void called(request, response));
      app.use((_request, response) => void response.set("Vary", "Accept").send("x"));
    });
    mounted.get("/own", (_request, response) => void response.set("Vary", "Accept").send("x"));
    expect(await get(auth, app, "/called")).toMatchObject({
      status: 200,
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
    expect(await get(auth, app, "/mounted/own")).toMatchObject({
      status: 200,
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
    expect(await get(auth, app, "/mounted/none")).toMatchObject({
      status: 200,
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
  });

  it("a response that was not guarded keeps its headers, though its application has guarded others", async () => {
    const app = express();
    const auth = expressAuth(OPTIONS);
    auth.mount(app);
    app.get("/guarded", auth.idpRequired, (_request, response) => void response.send("x"));
    app.get(
      "/open",
      (_request, response) => void response.set("Cache-Control", "public").send("x"),
    );
    expect(await get(auth, app, "/guarded")).toMatchObject({ caching: GUARDED });
    expect(await get(auth, app, "/open")).toMatchObject({ caching: "public", vary: null });
    expect(Object.keys(express.response)).not.toContain("writeHead");
  });

  it.each([
    ["before the guard", [replacesWriteHead, "guard"]],
    ["after the guard", ["guard", replacesWriteHead]],
    ["between two guards", ["guard", replacesWriteHead, "guard"]],
  ] as const)("middleware %s that replaces writeHead still runs", async (_when, order) => {
    const app = express();
    const auth = expressAuth(OPTIONS);
    auth.mount(app);
    for (const each of order) app.use(each === "guard" ? auth.idpRequired : each);
    app.use((_request, response) => void response.writeHead(200, { Vary: "Accept" }).end("x"));
    const seen = await get(auth, app);
    expect([seen.status, seen.caching, seen.vary, seen.headers.get("x-replaced")]).toEqual([
      200,
      GUARDED,
      "Accept, Cookie",
      "1",
    ]);
  });

  it("a fake request without header lines gets its response after a guarded one, and a response without its request passes the guard", async () => {
    const app = express();
    const auth = expressAuth(OPTIONS);
    auth.mount(app);
    app.get("/guarded", auth.idpRequired, (_request, response) => void response.send("x"));
    app.get("/open", (_request, response) => void response.status(204).end());
    const cookie = await signedInAs(auth);
    expect(await get(auth, app, "/guarded")).toMatchObject({ caching: GUARDED });
    const bare = { method: "GET", url: "/open", headers: { cookie } };
    const response = new ServerResponse(bare as never);
    (app as unknown as (...all: unknown[]) => void)(bare, response);
    expect([response.writableEnded, response.statusCode]).toEqual([true, 204]);
    const headers = new Map<string, unknown>();
    const handMade = {
      hasHeader: () => false,
      setHeader: headers.set.bind(headers),
      getHeader: () => undefined,
      writeHead: () => undefined,
    };
    await new Promise<void>((resolve) => {
      void auth.idpRequired(
        { ...bare, url: "/", originalUrl: "/", socket: {} } as never,
        handMade as never,
        () => resolve(),
      );
    });
    expect(headers.get("Cache-Control")).toBe(GUARDED);
  });

  it("a guard that another application's response reaches first keeps the response private, too", async () => {
    const auth = expressAuth(OPTIONS);
    auth.start();
    // A router without an application: the response is that of node:http.
    const router = express
      .Router()
      .use(
        auth.idpRequired,
        (_request, response) => void response.setHeader("Vary", "Accept").end("x"),
      );
    const listener = (request: unknown, response: unknown) =>
      (router as (...all: unknown[]) => void)(request, response, () => undefined);
    expect(await get(auth, listener as never)).toMatchObject({
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
  });

  it("a Cache-Control that middleware set before the guard is the application's own", async () => {
    const app = express();
    const auth = expressAuth(OPTIONS);
    auth.mount(app);
    app.use((_request, response, next) => {
      response.set("Cache-Control", "private, max-age=5");
      next();
    });
    app.get("/", auth.idpRequired, (_request, response) => void response.send("x"));
    expect(await get(auth, app)).toMatchObject({ caching: "private, max-age=5", vary: "Cookie" });
  });

  it("the error page of a guarded route is not stored", async () => {
    const { app, auth } = application((app) => {
      app.set("env", "test");
      app.get("/", () => {
        throw Object.assign(new Error("the handler's"), { status: 418 });
      });
    });
    expect(await get(auth, app)).toMatchObject({ status: 418, caching: GUARDED, vary: "Cookie" });
  });
});

describe("on Fastify", () => {
  async function application(build: (app: FastifyInstance) => void) {
    const app = fastify({ forceCloseConnections: true });
    const auth = fastifyAuth(OPTIONS);
    build(app);
    await app.register((scope, _options, done) => {
      scope.addHook("preHandler", auth.idpRequired);
      scope.get("/plain", () => "x");
      scope.get("/replaced", (_request, reply) => reply.header("Vary", "Accept").send("x"));
      scope.get("/hijacked", (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200, { Vary: "Accept" }).end("x");
      });
      scope.get("/asked", (_request, reply) => ({ caching: reply.getHeader("cache-control") }));
      done();
    });
    await app.ready();
    running.push({ stop: () => app.close() });
    return (path: string) =>
      get(
        auth,
        (request, response) => {
          app.routing(request, response);
        },
        path,
      );
  }

  it("a route of a scope that the plugin is not in, a replaced Vary and a hijacked reply are private", async () => {
    const ask = await application(() => undefined);
    expect(await ask("/plain")).toMatchObject({ text: "x", caching: GUARDED, vary: "Cookie" });
    expect(await ask("/replaced")).toMatchObject({
      text: "x",
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
    expect(await ask("/hijacked")).toMatchObject({
      text: "x",
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
  });

  it("handlers and hooks see the Cache-Control, and hooks may replace it and Vary", async () => {
    const ask = await application((app) =>
      app.addHook("onSend", (_request, reply, _payload, done) => {
        reply.header("vary", "Origin");
        if (reply.getHeader("cache-control") === GUARDED)
          reply.header("cache-control", "private, max-age=1");
        done();
      }),
    );
    expect(await ask("/asked")).toMatchObject({
      text: JSON.stringify({ caching: GUARDED }),
      caching: "private, max-age=1",
      vary: "Origin, Cookie",
    });
  });
});

describe("on Koa", () => {
  it("middleware above that sets Vary late, and a handler that responds by itself, are private", async () => {
    const auth = koaAuth(OPTIONS);
    const app = new Koa();
    app.use(async (ctx, next) => {
      await next();
      if (ctx.respond !== false) ctx.set("Vary", "Origin");
    });
    app.use(auth.idpRequired);
    app.use((ctx) => {
      if (ctx.path !== "/itself") {
        ctx.body = "x";
        return;
      }
      ctx.respond = false;
      ctx.res.writeHead(200, { Vary: "Accept" }).end("x");
    });
    const listener = app.callback();
    const ask = (path: string) =>
      get(auth, (request, response) => void listener(request, response), path);
    expect(await ask("/")).toMatchObject({ text: "x", caching: GUARDED, vary: "Origin, Cookie" });
    expect(await ask("/itself")).toMatchObject({
      text: "x",
      caching: GUARDED,
      vary: "Accept, Cookie",
    });
  });
});

describe("on Hono", () => {
  async function ask(answer: () => Response | Promise<Response>) {
    const auth = honoAuth(OPTIONS);
    const app = new Hono();
    app.get("/", auth.idpRequired, () => answer());
    app.onError((_error, c) => c.text("failed", 500));
    const response = await app.request("/", { headers: { cookie: await signedInAs(auth) } });
    const { status, headers } = response;
    return [
      status,
      await response.text(),
      headers.get("cache-control"),
      headers.get("vary"),
      headers.get("location"),
    ];
  }

  it("a response with headers that cannot be changed, and the one of onError, are private", async () => {
    expect(await ask(() => Response.redirect("http://app.example/x", 302))).toEqual([
      302,
      "",
      GUARDED,
      "Cookie",
      "http://app.example/x",
    ]);
    expect(await ask(() => new Response("x", { headers: { Vary: "Accept" } }))).toEqual([
      200,
      "x",
      GUARDED,
      "Accept, Cookie",
      null,
    ]);
    expect(
      await ask(() => {
        throw new Error("the handler's");
      }),
    ).toEqual([500, "failed", GUARDED, "Cookie", null]);
  });

  it("another server's response that is passed on keeps its own Cache-Control, and its Vary is merged", async () => {
    const server = createServer((_request, response) =>
      response.writeHead(200, { "Cache-Control": "private, max-age=9", Vary: "Accept" }).end("x"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    running.push({ stop: () => new Promise((resolve) => server.close(resolve)) });
    const upstream = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    expect(await ask(() => fetch(upstream))).toEqual([
      200,
      "x",
      "private, max-age=9",
      "Accept, Cookie",
      null,
    ]);
  });
});

describe("on fetch-style servers", () => {
  it("idpRequired keeps what the handler gives private, or a copy where its headers cannot be changed", async () => {
    const auth = fetchAuth(OPTIONS);
    const cookie = await signedInAs(auth);
    const own = new Response("x", { headers: { "Cache-Control": "private, max-age=1" } });
    const request = () => new Request("http://app.example/reports", { headers: { cookie } });
    expect(await auth.idpRequired(() => own)(request())).toBe(own);
    expect([own.headers.get("cache-control"), own.headers.get("vary")]).toEqual([
      "private, max-age=1",
      "Cookie",
    ]);
    const moved = await auth.idpRequired(() => Response.redirect("http://app.example/x", 307))(
      request(),
    );
    expect([
      moved.status,
      moved.headers.get("location"),
      moved.headers.get("cache-control"),
    ]).toEqual([307, "http://app.example/x", GUARDED]);
  });

  it("after guard(request) the application's own response is made private by keepPrivate", async () => {
    const auth = fetchAuth(OPTIONS);
    const request = new Request("http://app.example/reports", {
      headers: { cookie: await signedInAs(auth) },
    });
    expect(await auth.guard(request)).toBeUndefined();
    const { headers } = keepResponsePrivate(
      Response.json({ own: true }, { headers: { vary: "Accept" } }),
    );
    expect([headers.get("cache-control"), headers.get("vary")]).toEqual([
      GUARDED,
      "Accept, Cookie",
    ]);
  });

  it("a response that switches protocols is passed on as it is", () => {
    const switching = Object.defineProperty(new Response(null), "status", { value: 101 });
    expect(keepResponsePrivate(switching)).toBe(switching);
    expect(switching.headers.get("cache-control")).toBeNull();
  });
});

function removeAll(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
}

// Between the frameworks and the proxy: paths that a framework rewrites, guards that an upgrade
// could pass by.
import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { describe, expect, it, vi } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import { signedInAs, TestClock, type SignsInForTests } from "../../src/testing/index.js";
import { nodeApi, optionsFor, ORIGIN, rawApi, rawBrowser } from "./parties.js";
import { closedAfterEach } from "./closed-after-each.js";

const servers = closedAfterEach();

async function serve(
  listener: RequestListener,
  upgrade?: (...of: [http.IncomingMessage, Socket, Buffer]) => unknown,
): Promise<number> {
  const server = http.createServer(listener);
  if (upgrade !== undefined) server.on("upgrade", upgrade);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

type Wiring = (
  options: ReturnType<typeof optionsFor>,
) => Promise<{ auth: SignsInForTests; listener: RequestListener }>;

/**
 * Each framework, with the proxy where a framework's own idea of the path differs from what the
 * browser sent.
 */
const WIRINGS: Readonly<Record<string, Wiring>> = {
  async "node:http"(options) {
    const auth = nodeAuth(options);
    return {
      auth,
      listener: auth.listener(
        auth.proxyApi("orders")((_request, response) => response.writeHead(404).end()),
      ),
    };
  },
  async "Express in a mounted router"(options) {
    const auth = expressAuth(options);
    const app = express().use("/api/orders", express.Router().use(auth.proxyApi("orders")));
    return { auth, listener: app as RequestListener };
  },
  async "Express with a rewritten url"(options) {
    const auth = expressAuth(options);
    const app = express()
      .use((request, _response, next) => {
        request.url = request.url.replace(/^\/api/i, "/api/orders/../../api");
        next();
      })
      .use(auth.proxyApi("orders"));
    return { auth, listener: app as RequestListener };
  },
  async "Koa with a rewritten url"(options) {
    const auth = koaAuth(options);
    const app = new Koa()
      .use((ctx, next) => {
        ctx.url = "/api/orders/rewritten";
        return next();
      })
      .use(auth.proxyApi("orders"));
    const callback = app.callback();
    return { auth, listener: (request, response) => void callback(request, response) };
  },
  async "Fastify with rewriteUrl"(options) {
    const auth = fastifyAuth(options);
    const app = fastify({ rewriteUrl: () => "/api/orders/rewritten" });
    await app.register(auth.plugin);
    app.addHook("onRequest", auth.proxyApi("orders"));
    app.get("/api/orders/*", (_request, reply) => reply.code(404).send());
    await app.ready();
    return { auth, listener: (request, response) => app.routing(request, response) };
  },
  async "Hono with a base path"(options) {
    const auth = honoAuth(options);
    const app = new Hono().basePath("/api").use("/orders/*", auth.proxyApi("orders"));
    const listener = getRequestListener(app.fetch);
    return { auth, listener: (request, response) => void listener(request, response) };
  },
  async fetch(options) {
    const auth = fetchAuth(options);
    const listener = getRequestListener(
      auth.proxyApi("orders")(() => new Response(null, { status: 404 })),
    );
    return { auth, listener: (request, response) => void listener(request, response) };
  },
};

async function statusOf(port: number, target: string, lines: readonly string[]): Promise<number> {
  const { socket, received } = await rawBrowser(port);
  socket.write(
    [`GET ${target} HTTP/1.1`, "Host: app.example", "Connection: close", ...lines, "", ""].join(
      "\r\n",
    ),
  );
  await expect.poll(() => received.isClosed).toBe(true);
  return Number(received.text.slice(9, 12));
}

describe.each(Object.keys(WIRINGS))("%s", (name) => {
  async function started() {
    const seen: http.IncomingMessage[] = [];
    const { api } = await nodeApi((message, response) => {
      seen.push(message);
      response.setHeader("Set-Cookie", "evil=1").end("ok");
    });
    const { auth, listener } = await WIRINGS[name]!(optionsFor(api.url.href));
    const port = await serve(listener);
    return {
      port,
      seen,
      cookie: await signedInAs(auth, undefined, { tokens: { token: "users-token" } }),
    };
  }

  it("sends the path of the browser, and of the credentials only the token", async () => {
    const { port, seen, cookie } = await started();
    expect(
      await statusOf(port, "/api/orders/a%20b?x=/../y", [
        `Cookie: ${cookie}`,
        "Authorization: Basic x",
      ]),
    ).toBe(200);
    expect(seen.map(({ url, headers }) => [url, headers.cookie, headers.authorization])).toEqual([
      ["/v2/a%20b?x=/../y", undefined, "Bearer users-token"],
    ]);
  });

  it("reaches the API neither without a session, nor from another site, nor outside its base", async () => {
    const { port, seen, cookie } = await started();
    expect(await statusOf(port, "/api/orders/x", [])).toBe(401);
    expect(
      await statusOf(port, "/api/orders/x", [`Cookie: ${cookie}`, "Sec-Fetch-Site: cross-site"]),
    ).toBe(403);
    expect(
      await statusOf(port, "/api/orders/x", [`Cookie: ${cookie}`, "Sec-Fetch-Site: same-site"]),
    ).toBe(403);
    const outside = ["/api/orders/../admin", "/api/orders/%2e%2e/admin", "/api/orders/..%2fadmin", "/api/orders/%252e%252e/admin", "/api/orders/..;/a", "/api/orders/..\\admin", "/API/orders/x", "//api/orders/x"]; // prettier-ignore
    for (const target of outside) expect([target, await statusOf(port, target, [`Cookie: ${cookie}`])]).toEqual([target, expect.toSatisfy((status) => [400, 404].includes(status as number))]); // prettier-ignore
    expect(seen).toEqual([]);
  });
});

describe("a step-up that an API requires", () => {
  it("is a login at the session's provider", async () => {
    const { api } = await nodeApi((_message, response) => {
      const challenge = 'Bearer error="insufficient_user_authentication", max_age=60';
      response.writeHead(401, { "WWW-Authenticate": challenge }).end();
    });
    const client = { clientId: "client", clientSecret: "a client's secret" };
    const providers = {
      staff: { name: "Staff", issuer: "https://staff.example", ...client },
      customers: { name: "Customers", issuer: "https://customers.example", ...client },
    };
    const { secretKey, log, apis } = optionsFor(api.url.href);
    const auth = fetchAuth({ env: {}, baseUrl: ORIGIN, secretKey, log, apis, providers });
    const cookie = await signedInAs(auth, undefined, {
      provider: "customers",
      tokens: { token: "users-token" },
    });
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const proxy = auth.proxyApi("orders")(() => new Response(null, { status: 404 }));
    const response = await proxy(new Request(`${ORIGIN}/api/orders/x`, { headers }));
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { login_url: "/idpauth/login/?provider=customers&max_age=60&api=orders" },
    ]);
  });
});

describe("an API that can't be reached", () => {
  it("is named by the event and the log", async () => {
    const { api, server } = await nodeApi(() => undefined);
    server.close();
    const lines: unknown[] = [];
    const failures: unknown[] = [];
    const auth = fetchAuth({
      ...optionsFor(api.url.href),
      log: ({ code, details }) => lines.push([code, details]),
    });
    auth.on("failure", ({ during, api: name, reason }) => failures.push([during, name, reason]));
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const proxy = auth.proxyApi("orders")(() => new Response(null, { status: 404 }));
    expect(
      (await proxy(new Request(`${ORIGIN}/api/orders/x`, { headers: { cookie } }))).status,
    ).toBe(502);
    expect(failures).toEqual([["api", "orders", "api_unreachable"]]);
    expect(lines).toContainEqual([
      "api_failed",
      { reason: "api_unreachable", api: "orders", cause: "ECONNREFUSED" },
    ]);
  });
});

describe("an upgrade", () => {
  const SWITCHED =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

  async function started(protect: (auth: NodeIdpAuth) => unknown, clock = new TestClock()) {
    const { url, connections } = await rawApi((socket) => socket.write(SWITCHED));
    const auth = nodeAuth({ ...optionsFor(url.href), clock });
    protect(auth);
    const port = await serve(
      (_request, response) => response.end(),
      (message, socket, head) => auth.proxyUpgrade(message, socket, head) || socket.destroy(),
    );
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const shake = async (lines: readonly string[], target = "/api/orders/socket") => {
      const { socket, received } = await rawBrowser(port);
      socket.write([`GET ${target} HTTP/1.1`, "Host: app.example", "Connection: Upgrade", "Upgrade: websocket", ...lines, "", ""].join("\r\n")); // prettier-ignore
      await expect.poll(() => received.isClosed || received.text !== "").toBe(true);
      return { socket, received, status: received.text.slice(9, 12) };
    };
    return {
      auth,
      connections,
      shake,
      port,
      clock,
      lines: [`Cookie: ${cookie}`, `Origin: ${ORIGIN}`],
    };
  }

  it("needs a session, the own origin, and the rules of all proxies of the API", async () => {
    const open = await started((auth) => auth.proxyApi("orders"));
    expect((await open.shake(open.lines)).status).toBe("101");
    expect(open.connections[0]!.text).toMatch(/authorization: Bearer users-token/i);
    expect((await open.shake([`Origin: ${ORIGIN}`])).status).toBe("401");
    expect((await open.shake([open.lines[0]!])).status).toBe("403");
    expect((await open.shake(open.lines, "/api/orders/../x")).status).toBe("400");
    expect((await open.shake(open.lines, "/API/orders/x")).status).toBe("");
    expect(open.connections).toHaveLength(1);
    const both = await started((auth) => [
      auth.proxyApi("orders"),
      auth.proxyApi("orders", { allow: () => false }),
    ]);
    expect((await both.shake(both.lines)).status).toBe("403");
    const throwing = await started((auth) =>
      auth.proxyApi("orders", {
        allow: () => {
          throw new Error("a mistake of the application");
        },
      }),
    );
    expect((await throwing.shake(throwing.lines)).received.isClosed).toBe(true);
    expect([both.connections, throwing.connections]).toEqual([[], []]);
  });

  it("leaves nothing behind if the browser has left before it is handled", async () => {
    const { auth, clock, lines } = await started((its) => its.proxyApi("orders"));
    const before = clock.pendingTimers;
    const other = await serve(
      () => undefined,
      (message, socket, head) => {
        auth.proxyUpgrade(message, socket.destroy(), head);
      },
    );
    const socket = connect(other, "127.0.0.1");
    socket.write(
      [
        "GET /api/orders/ HTTP/1.1",
        "Host: a",
        "Connection: Upgrade",
        "Upgrade: websocket",
        ...lines,
        "",
        "",
      ].join("\r\n"),
    );
    await once(socket.resume(), "close");
    await vi.dynamicImportSettled();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pendingTimers).toBe(before);
  });

  it("ends with a logout elsewhere, and of a signed-out user it isn't passed on again", async () => {
    const { auth, clock, shake, lines, connections } = await started((its) =>
      its.proxyApi("orders"),
    );
    const { received } = await shake(lines);
    expect(await auth.endAllSessions(await subjectOf(auth, lines[0]!))).toBe(1);
    clock.advance(5_000);
    await expect.poll(() => received.isClosed).toBe(true);
    expect((await shake(lines)).status).toBe("401");
    expect(connections).toHaveLength(1);
  });

  async function subjectOf(
    auth: NodeIdpAuth,
    cookie: string,
  ): Promise<{ iss: string; sub: string }> {
    const message = Object.assign(new http.IncomingMessage(null as never), {
      url: "/",
      headers: { cookie: cookie.slice(8) },
      socket: {},
    });
    const { claims } = (await auth.getSession(message))!;
    return { iss: claims.iss, sub: claims.sub };
  }
});

// What the proxy's fast paths must keep.
import { once } from "node:events";
import http, { type RequestListener, type Server } from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Exchange } from "../../src/apis/exchange.js";
import { proxyRequest } from "../../src/apis/request-steps.js";
import { requestHeaders } from "../../src/apis/request-headers.js";
import type { Api } from "../../src/config/api-options.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { signedInAs, TestClock } from "../../src/testing/index.js";
import { UNREACHED } from "../support/options-for.js";
import { apiRow } from "./api-row.js";
import {
  closeAll,
  front,
  frontHandler,
  nodeApi,
  open,
  optionsFor,
  ORIGIN,
  rawApi,
  rawBrowser,
  request,
} from "./parties.js";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  await closeAll();
});

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const SWITCHED =
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\n";

async function portOf(server: Server | http2.Http2Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  stops.push(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<number> {
  const server = http.createServer(listener);
  stops.push(() => server.closeAllConnections());
  return portOf(server);
}

describe("a proxied request", () => {
  it.each(["a\r\nX-Evil: 1", "a\u0001b", "a\u20ac"])(
    "whose token is %j, which isn't valid in a header, never reaches the API",
    async (token) => {
      const { url, connections } = await rawApi((socket) => socket.write(OK));
      const { port } = await front(apiRow({ url }), { token: () => token });
      expect((await request(port, "/api/orders/")).status).toBe(502);
      expect(connections.map(({ text }) => text)).not.toContainEqual(expect.stringMatching(/./));
    },
  );

  it("has its headers read in time that grows with their length", () => {
    const names = Array.from({ length: 40_000 }, () => ["a", "b"]).flat();
    const start = process.cpuUsage();
    requestHeaders(["Connection", ",".repeat(100_000), ...names], apiRow(), {
      token: { value: "token" },
      origin: undefined,
      client: undefined,
      pathPrefix: "",
    });
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
  });

  it("that the API responds to before it has read the body doesn't hold up the browser's next request, even if the API stops reading", async () => {
    const { url } = await rawApi((socket, text) => {
      if (text.includes("/second")) socket.write(OK);
      else if (text.includes("\r\n\r\n"))
        socket.pause().write("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n");
    });
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      `POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nContent-Length: 30000000\r\n\r\n${"x".repeat(100_000)}`,
    );
    await expect.poll(() => received.text).toContain("413");
    socket.write("x".repeat(29_900_000));
    socket.write("GET /api/orders/second HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n");
    await expect.poll(() => received.text).toMatch(/\r\n\r\nok$/);
  });

  it("closes its connection to the API when the browser leaves, even if the proxy has replaced the response", async () => {
    const { url, connections } = await rawApi((socket) =>
      socket.write(
        'HTTP/1.1 403 No\r\nContent-Type: text/event-stream\r\nWWW-Authenticate: Bearer error="insufficient_scope"\r\n\r\ndata: 1\n\n',
      ),
    );
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write("GET /api/orders/ HTTP/1.1\r\nHost: app\r\n\r\n");
    await expect.poll(() => received.text).toContain("insufficient_scope");
    socket.destroy();
    await expect.poll(() => connections[0]!.isClosed).toBe(true);
  });

  it("watches its session once, even if an event stream begins after half a second", async () => {
    const clock = new TestClock();
    let begin: (() => void) | undefined;
    const { api } = await nodeApi((_message, response) => {
      begin = () => response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    });
    const { exchangeOf, transport } = frontHandler(api, { clock });
    let watches = 0;
    const port = await serve((message, response) => {
      const exchange = exchangeOf(message);
      const watch: Exchange["watch"] = (onEnd) => ((watches += 1), exchange.watch(onEnd));
      void proxyRequest({ ...exchange, watch }, transport, undefined).then(() =>
        response.flushHeaders(),
      );
    });
    const response = open(port, "/api/orders/");
    await expect.poll(() => begin).toBeDefined();
    clock.advance(600);
    begin!();
    await response;
    expect(watches).toBe(1);
  });

  it("ends with its session, even if the session ended in the first half second, which isn't watched", async () => {
    const clock = new TestClock();
    const { url } = await rawApi((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst"),
    );
    const auth = nodeAuth({ ...optionsFor(url.href), clock });
    const port = await serve(
      auth.listener(auth.proxyApi("orders")((_request, response) => response.end())),
    );
    const cookie = await signedInAs(auth, { sub: "anna" }, { tokens: { token: "users-token" } });
    const { socket, received } = await rawBrowser(port);
    socket.write(`GET /api/orders/ HTTP/1.1\r\nHost: app.example\r\nCookie: ${cookie}\r\n\r\n`);
    await expect.poll(() => received.text).toContain("first");
    expect(await auth.endAllSessions({ iss: UNREACHED.issuer, sub: "anna" })).toBe(1);
    for (let second = 0; second < 4; second++) await clock.advanceAsync(1_000);
    await expect.poll(() => received.isClosed).toBe(true);
  });
});

describe("a WebSocket", () => {
  it("keeps its connection for itself: the next request uses another, also after a refused upgrade", async () => {
    const { url, connections } = await rawApi((socket, text) => {
      const isUpgrade = text.slice(text.lastIndexOf("GET ")).includes("websocket");
      socket.write(
        isUpgrade ? (text.includes("/refused") ? OK.replace("200 OK", "404 None") : SWITCHED) : OK,
      );
    });
    for (const target of ["refused", "socket"]) {
      connections.length = 0;
      const { port } = await front(apiRow({ url }));
      const { socket, received } = await rawBrowser(port);
      socket.write(
        `GET /api/orders/${target} HTTP/1.1\r\nHost: app\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${ORIGIN}\r\n\r\n`,
      );
      await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 (?:101|404) [^]*\r\n\r\n/);
      expect((await request(port, "/api/orders/")).body).toBe("ok");
      expect(connections).toHaveLength(2);
    }
  });

  it("gets no Content-Length in its 101 (RFC 9110 section 8.6)", async () => {
    const { url } = await rawApi((socket) => socket.write(SWITCHED));
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      `GET /api/orders/ HTTP/1.1\r\nHost: app\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${ORIGIN}\r\n\r\n`,
    );
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\n/);
    expect(received.text).not.toMatch(/content-length/i);
  });
});

describe("a response over HTTP/2", () => {
  type Listener = (
    message: http2.Http2ServerRequest,
    response: http2.Http2ServerResponse,
  ) => unknown;

  async function exchangedWith(listener: Listener): Promise<{ seen: string; text: string }> {
    const port = await portOf(
      http2.createServer((message, response) => void listener(message, response)),
    );
    const session = http2.connect(`http://127.0.0.1:${port}`);
    stops.push(() => session.destroy());
    const stream = session.request({ ":path": "/api/orders/" });
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString())).on("error", () => undefined);
    await new Promise((resolve) => stream.on("close", resolve));
    return { seen: stream.rstCode === 0 ? "whole" : "broken off", text };
  }

  const exchanged = (api: Api) => {
    const { handler } = frontHandler(api);
    return exchangedWith((message, response) =>
      handler(message, response).catch(() =>
        response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
      ),
    );
  };

  it("that the API breaks off isn't taken for a whole one", async () => {
    const { url } = await rawApi((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
    );
    expect(await exchanged(apiRow({ url }))).toEqual({ seen: "broken off", text: "ok" });
  });

  it("whose handler fails after a part of it isn't taken for a whole one", async () => {
    const failing: Listener = async (_message, response) => {
      response.write("ok");
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("a mistake of the application");
    };
    const log = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(
      await exchangedWith(nodeAuth(optionsFor("http://127.0.0.1/")).listener(failing)),
    ).toEqual({ seen: "broken off", text: "ok" });
    log.mockRestore();
  });

  it("doesn't contain headers that HTTP/2 forbids", async () => {
    const { url } = await rawApi((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nHTTP2-Settings: x\r\nContent-Length: 2\r\n\r\nok"),
    );
    expect(await exchanged(apiRow({ url }))).toEqual({ seen: "whole", text: "ok" });
  });
});

describe("a response without Content-Type", () => {
  it.each([
    ["at once", ["ok"]],
    ["in parts", ["o", "k"]],
  ])("gets application/octet-stream, whether it arrives whole or not: %s", async (_how, parts) => {
    const { url } = await rawApi((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${parts[0]}`);
      setTimeout(() => socket.write(parts[1] ?? ""), 50);
    });
    const { port } = await front(apiRow({ url }));
    const { body, headers } = await request(port, "/api/orders/");
    expect([body, headers["content-type"]]).toEqual(["ok", "application/octet-stream"]);
  });
});

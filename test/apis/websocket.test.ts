import { once } from "node:events";
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { problem } from "../../src/http/reply.js";
import { SessionEndedError } from "../../src/sessions/session-end-signal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { apiRow } from "./api-row.js";
import { closeAll, front, nodeApi, ORIGIN, rawApi, rawBrowser } from "./parties.js";

afterEach(closeAll);

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT = createHash("sha1")
  .update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  .digest("base64");
const SWITCHED = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${ACCEPT}\r\nSet-Cookie: a=b\r\n\r\n`;

/** The text of a handshake. @param lines in place of the browser's `Origin` */
const handshake = (target = "/api/orders/socket", lines = [`Origin: ${ORIGIN}`]) =>
  [`GET ${target} HTTP/1.1`, "Host: app.example", "Connection: Upgrade", "Upgrade: websocket", `Sec-WebSocket-Key: ${KEY}`, "Sec-WebSocket-Version: 13", "Cookie: a=b", ...lines, "", ""].join("\r\n"); // prettier-ignore

async function shakenHands(port: number, text = handshake()) {
  const browser = await rawBrowser(port);
  browser.socket.write(text);
  return browser;
}

describe("a proxied WebSocket", () => {
  it("carries messages both ways, and closes with each side", async () => {
    const { api, server } = await nodeApi(() => undefined);
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => socket.send(`echo ${data.toString()}`)),
    );
    const { port } = await front(api);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/orders/socket?x=1`, {
      origin: ORIGIN,
    });
    const connected = once(sockets, "connection");
    await once(socket, "open");
    const [, message] = (await connected) as [WebSocket, { url: string }];
    expect(message.url).toBe("/v2/socket?x=1");
    socket.send("hello");
    const [data] = (await once(socket, "message")) as [Buffer];
    expect(data.toString()).toBe("echo hello");
    for (const each of sockets.clients) each.close(1001);
    const [closeCode] = (await once(socket, "close")) as [number];
    expect(closeCode).toBe(1001);
  });

  it("opens with the user's token, without the browser's cookies, and the API sets none", async () => {
    const { url, connections } = await rawApi(
      (socket, text) => text.endsWith("\r\n\r\n") && socket.write(`${SWITCHED}first`),
    );
    const { port } = await front(apiRow({ url }));
    const { received } = await shakenHands(port);
    await expect.poll(() => received.text).toContain("first");
    expect(received.text).toMatch(
      /^HTTP\/1\.1 101 [^]*Upgrade: websocket\r\n[^]*Sec-Websocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/,
    );
    expect(received.text).not.toMatch(/set-cookie|token-1/i);
    const sent = connections[0]!.text;
    expect(sent).toMatch(/^GET \/v2\/socket HTTP\/1\.1\r\n/);
    expect(sent).toMatch(/\r\nauthorization: Bearer token-1\r\n/i);
    expect(sent).toMatch(/\r\nconnection: Upgrade\r\nupgrade: websocket\r\n/i);
    expect(sent).toContain(KEY);
    expect(sent).not.toMatch(/cookie|origin: https/i);
  });

  it("carries the bytes that follow the handshake at once", async () => {
    const { url, connections } = await rawApi(
      (socket, text) =>
        text.endsWith("\r\n\r\nearly") || (text.endsWith("\r\n\r\n") && socket.write(SWITCHED)),
    );
    const { port } = await front(apiRow({ url }));
    await shakenHands(port, `${handshake()}early`);
    await expect.poll(() => connections[0]?.text).toMatch(/\r\n\r\nearly$/);
  });

  it.each([
    ["without Origin", []],
    ["of a page of another site", ["Origin: https://evil.example"]],
    ["of a sandboxed page", ["Origin: null"]],
    ["of another subdomain", ["Origin: https://sub.app.example"]],
    ["with Sec-Fetch-Site alone", ["Sec-Fetch-Site: same-origin", "X-Idpauth: 1"]],
    ["with two origins", [`Origin: ${ORIGIN}`, "Origin: https://evil.example"]],
  ])(
    "%s is 403, even with allowCrossSite, and reaches neither the session nor the API",
    async (_what, lines) => {
      const { url, connections } = await rawApi((socket) => socket.write(SWITCHED));
      const { port, tokenCalls } = await front(apiRow({ url, allowCrossSite: true }));
      const { received } = await shakenHands(port, handshake(undefined, lines));
      await expect.poll(() => received.isClosed).toBe(true);
      expect(received.text).toMatch(/^HTTP\/1\.1 403 [^]*"cross_origin"/);
      expect([connections, tokenCalls]).toEqual([[], []]);
    },
  );

  // The WebSocket path of a proxy never had the check of the HTTP path: CVE-2026-15631.
  it.each([
    ["/api/orders/../admin", 400],
    ["/api/orders/%2e%2e/admin", 400],
    ["/api/orders/..%2fadmin", 400],
    ["/api/orders/..\\admin", 400],
    ["http://evil.example/api/orders/", 400],
    ["/API/orders/socket", 404],
    ["/other", 404],
  ])("to %s is %i", async (target, status) => {
    const { url, connections } = await rawApi((socket) => socket.write(SWITCHED));
    const { port } = await front(apiRow({ url }));
    const { received } = await shakenHands(port, handshake(target));
    await expect.poll(() => received.isClosed).toBe(true);
    expect(received.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(connections).toEqual([]);
  });

  it("needs GET among the API's methods, and no other protocol is upgraded", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(SWITCHED));
    const post = await front(apiRow({ url, methods: ["POST"] }));
    const [a, b] = [
      await shakenHands(post.port),
      await shakenHands(
        (await front(apiRow({ url }))).port,
        handshake().replace("Upgrade: websocket", "Upgrade: h2c"),
      ),
    ];
    await expect.poll(() => [a.received.isClosed, b.received.isClosed]).toEqual([true, true]);
    expect(a.received.text).toMatch(/^HTTP\/1\.1 405 /);
    expect(b.received.text).toMatch(/^HTTP\/1\.1 404 /);
    expect(connections).toEqual([]);
  });

  it("gets the guard's response if the user has no token", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(SWITCHED));
    const { port } = await front(apiRow({ url }), { token: () => problem("forbidden", "No.") });
    const { received } = await shakenHands(port);
    await expect.poll(() => received.isClosed).toBe(true);
    expect([received.text.slice(0, 13), connections]).toEqual(["HTTP/1.1 403 ", []]);
  });

  it("that is refused while an earlier request of the connection has no response closes it, and the server goes on", async () => {
    const { url, connections } = await rawApi(() => undefined);
    const { port } = await front(apiRow({ url }));
    const browser = await rawBrowser(port);
    browser.socket.write("GET /api/orders/slow HTTP/1.1\r\nHost: app.example\r\n\r\n");
    await expect.poll(() => connections.length).toBe(1);
    browser.socket.write(handshake("/api/orders/socket", ["Origin: https://evil.example"]));
    await expect.poll(() => browser.received.isClosed).toBe(true);
    expect(browser.received.text).toBe("");
    const { received } = await shakenHands(port, handshake("/api/orders/socket", []));
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("gets the API's own response, without its cookies, if the API upgrades nothing", async () => {
    const { url } = await rawApi((socket) =>
      socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nSet-Cookie: a=b\r\n\r\nnone"),
    );
    const { port } = await front(apiRow({ url }));
    const { received } = await shakenHands(port);
    await expect.poll(() => received.isClosed).toBe(true);
    expect(received.text).toMatch(/^HTTP\/1\.1 404 [^]*none$/);
    expect(received.text).not.toMatch(/set-cookie/i);
  });

  it("is tried once more with a new token after a 401", async () => {
    const { url, connections } = await rawApi((socket, text) =>
      socket.write(
        text.includes("token-2") ? SWITCHED : "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n",
      ),
    );
    const { port } = await front(apiRow({ url }), {
      token: (rejected) => (rejected === undefined ? "token-1" : "token-2"),
    });
    const { received } = await shakenHands(port);
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 101 /);
    expect(connections).toHaveLength(2);
  });

  it.each([
    [
      "another protocol",
      SWITCHED.replace("Upgrade: websocket", "Upgrade: h2c"),
      "api_response_invalid",
    ],
    ["no HTTP", "hello\r\n\r\n", "api_unreachable"],
  ])("is 502 if the API responds with %s", async (_what, answer, code) => {
    const { url, connections } = await rawApi((socket) => socket.write(answer));
    const { port, failures } = await front(apiRow({ url }));
    const { received } = await shakenHands(port);
    await expect.poll(() => received.isClosed).toBe(true);
    expect(received.text).toMatch(/^HTTP\/1\.1 502 /);
    expect(failures.map((failure) => failure.code)).toEqual([code]);
    await expect.poll(() => connections[0]!.isClosed).toBe(true);
  });

  it("is 504 if the API doesn't respond", async () => {
    const clock = new TestClock();
    const { url, connections } = await rawApi(() => undefined);
    const { port } = await front(apiRow({ url }), { clock });
    const { received } = await shakenHands(port);
    await expect.poll(() => connections[0]?.text).toContain("\r\n\r\n");
    clock.advance(30_000);
    clock.advance(7_500);
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 504 /);
  });

  it("closes on both sides with the session, and with each side", async () => {
    const { url, connections } = await rawApi(
      (socket, text) => text.endsWith("\r\n\r\n") && socket.write(SWITCHED),
    );
    const ways: ((session: AbortController, api: Socket, browser: Socket) => unknown)[] = [
      (session) => session.abort(new SessionEndedError("logout")),
      (_session, api) => api.destroy(),
      (_session, _api, browser) => browser.destroy(),
      (_session, api) => api.end(),
      (_session, api) => api.resetAndDestroy(),
      (_session, _api, browser) => browser.end(),
      (_session, _api, browser) => browser.resetAndDestroy(),
    ];
    for (const end of ways) {
      const { port, session } = await front(apiRow({ url }));
      const { socket, received } = await shakenHands(port);
      await expect.poll(() => received.text).toContain("101");
      const { socket: side } = connections.at(-1)!;
      end(session, side, socket);
      await expect.poll(() => [received.isClosed, side.destroyed]).toEqual([true, true]);
    }
  });

  const EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n";
  it.each([
    ["while the API hasn't responded", undefined],
    ["while an API that upgrades nothing sends events", EVENTS],
  ])("leaves no half of a connection open if the browser leaves %s", async (_when, answer) => {
    const { url, connections } = await rawApi((socket) => answer && socket.write(answer));
    const { port } = await front(apiRow({ url }));
    for (const way of ["end", "destroy", "resetAndDestroy"] as const) {
      const { socket, received } = await shakenHands(port);
      await expect.poll(() => connections.at(-1)?.text).toContain("\r\n\r\n");
      if (answer !== undefined) await expect.poll(() => received.text).toContain("data: 1");
      socket[way]();
      await expect.poll(() => connections.at(-1)!.isClosed).toBe(true);
      await expect.poll(() => received.isClosed).toBe(true);
      connections.length = 0;
    }
  });

  it("gets the whole of a large response if the API upgrades nothing", async () => {
    const size = 5_000_000;
    const { api } = await nodeApi(() => undefined);
    const { url } = await rawApi((socket) =>
      socket.write(`HTTP/1.1 403 No\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(size)}`),
    );
    const { port } = await front({ ...api, url });
    const { received } = await shakenHands(port);
    await expect.poll(() => received.isClosed, { timeout: 5_000 }).toBe(true);
    expect(received.text.split("\r\n\r\n")[1]).toHaveLength(size);
  });

  it("keeps what the browser sends before the API has responded, but not without limit", async () => {
    const { url, connections } = await rawApi((socket, text) => {
      if (text.endsWith("\r\n\r\n")) setTimeout(() => socket.write(SWITCHED), 100);
    });
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await shakenHands(port);
    await expect.poll(() => connections[0]?.text).toContain("\r\n\r\n");
    socket.write("early");
    await expect.poll(() => connections[0]?.text).toMatch(/\r\n\r\nearly$/);
    socket.write(" late");
    await expect.poll(() => connections[0]?.text).toMatch(/\r\n\r\nearly late$/);
    expect(received.text).toMatch(/^HTTP\/1\.1 101 /);
    const endless = await shakenHands(port);
    endless.socket.write("x".repeat(200_000));
    await expect.poll(() => endless.received.isClosed).toBe(true);
    expect(endless.received.text).toBe("");
  });

  it("has back-pressure in both directions", async () => {
    const { url, connections } = await rawApi((socket, text) => {
      if (!text.endsWith("\r\n\r\n")) return;
      socket.pause().write(SWITCHED);
    });
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await shakenHands(port);
    await expect.poll(() => received.text).toContain("101");
    socket.pause();
    const api = connections[0]!.socket;
    const chunk = Buffer.alloc(1_000_000, "x");
    for (const side of [socket, api]) {
      for (let sent = 0; sent < 60; sent++) side.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 300));
      // What the kernel and the two ends hold; the proxy itself holds little.
      expect(side.writableLength).toBeGreaterThan(30_000_000);
    }
  });
});

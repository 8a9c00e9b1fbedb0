// What a shutdown does with the requests that are passed on to an API.
import { once } from "node:events";
import http from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import type { Front } from "./parties.js";
import { closeAll, front, nodeApi, open, rawApi, rawBrowser, request } from "./parties.js";
import { apiRow } from "./api-row.js";

afterEach(closeAll);

const settled = () => Promise.resolve();
const EVENTS = { Accept: "text/event-stream" };
/** A turn of both ends, after which what one of them has sent has arrived. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

function close({ shutdown }: Front, timeout = 10) {
  const late: number[] = [];
  const state = { isClosed: false };
  const closed = shutdown.close({
    clock: systemClock,
    timeout,
    settled,
    onLate: (count) => late.push(count),
  });
  void closed.then(() => (state.isClosed = true));
  return { closed, late, state };
}

/** The text of a response as it arrives, and how it ended. */
function collected(response: http.IncomingMessage) {
  const got = { text: "", end: "open" };
  response.setEncoding("utf8").on("data", (chunk: string) => (got.text += chunk));
  response.on("end", () => (got.end = response.complete ? "whole" : "cut off"));
  response.on("error", () => (got.end = "cut off"));
  return got;
}

describe("an event stream", () => {
  const stream = (response: http.ServerResponse) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: 1\n\n");
  };

  it("ends in order, and its request to the API with it", async () => {
    let isGone = false;
    const { api } = await nodeApi((_message, response) => {
      stream(response);
      response.on("close", () => (isGone = true));
    });
    const proxy = await front(api);
    const response = await open(proxy.port, "/api/orders/stream", { headers: EVENTS });
    const got = collected(response);
    await once(response, "data");
    const { closed, late } = close(proxy);
    await closed;
    await soon();
    expect([got, isGone, late]).toEqual([{ text: "data: 1\n\n", end: "whole" }, true, []]);
  });

  it("of a browser that reads slowly ends after what has arrived", async () => {
    const event = `data: ${"x".repeat(100_000)}\n\n`;
    const { api } = await nodeApi((_message, response) => {
      stream(response);
      for (let count = 0; count < 100; count += 1) response.write(event);
    });
    const proxy = await front(api);
    const response = await open(proxy.port, "/api/orders/stream", { headers: EVENTS });
    await soon();
    const { closed, late } = close(proxy);
    await soon();
    const got = collected(response);
    await Promise.all([closed, once(response, "end")]);
    expect([got.end, late]).toEqual(["whole", []]);
  });

  it("is refused during the shutdown, before the session is read or the API gets a request", async () => {
    const { url, connections } = await rawApi(() => undefined);
    const proxy = await front(apiRow({ url }));
    await close(proxy).closed;
    const { status, headers, body } = await request(proxy.port, "/api/orders/stream", {
      headers: EVENTS,
    });
    expect(JSON.parse(body)).toMatchObject({ code: "shutting_down" });
    expect([status, headers.connection, headers["retry-after"]]).toEqual([503, "close", "1"]);
    expect([connections.length, proxy.tokenCalls, proxy.failures]).toEqual([0, [], []]);
  });

  it("that nobody could know before ends as soon as it opens", async () => {
    const { api } = await nodeApi((_message, response) => {
      stream(response);
    });
    const proxy = await front(api);
    const { closed } = close(proxy);
    const response = await open(proxy.port, "/api/orders/stream");
    const got = collected(response);
    await once(response, "end");
    await closed;
    expect([response.statusCode, got, proxy.failures]).toEqual([
      200,
      { text: "", end: "whole" },
      [],
    ]);
  });

  it("in response to a POST is finite: nothing would request it again", async () => {
    let finish: () => void = () => undefined;
    const { api } = await nodeApi((_message, response) => {
      stream(response);
      finish = () => response.end("data: last\n\n");
    });
    const proxy = await front(api);
    const headers = { ...EVENTS, "X-Idpauth": "1" };
    const response = await open(proxy.port, "/api/orders/ask", { method: "POST", headers });
    const got = collected(response);
    await once(response, "data");
    const { closed, state } = close(proxy);
    await soon();
    expect([state.isClosed, got.end]).toEqual([false, "open"]);
    finish();
    await Promise.all([closed, once(response, "end")]);
    expect(got).toEqual({ text: "data: 1\n\ndata: last\n\n", end: "whole" });
  });
});

describe("a download", () => {
  it("finishes, and the shutdown waits for it", async () => {
    let finish: () => void = () => undefined;
    const { api } = await nodeApi((_message, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("first");
      finish = () => response.end("again");
    });
    const proxy = await front(api);
    const response = await open(proxy.port, "/api/orders/file");
    const got = collected(response);
    await once(response, "data");
    const { closed, state, late } = close(proxy);
    await soon();
    expect(state.isClosed).toBe(false);
    finish();
    await Promise.all([closed, once(response, "end")]);
    expect([got, late]).toEqual([{ text: "firstagain", end: "whole" }, []]);
  });

  it("that outlasts the timeout is broken off on both sides, so that the server can close", async () => {
    let isGone = false;
    const { api } = await nodeApi((_message, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("first");
      response.on("close", () => (isGone = true));
    });
    const proxy = await front(api);
    const response = await open(proxy.port, "/api/orders/file");
    const got = collected(response);
    await once(response, "data");
    const serverClosed = new Promise((resolve) => proxy.server.close(resolve));
    const { closed, late } = close(proxy, 0.1);
    await closed;
    await serverClosed;
    await soon();
    expect([got.end, isGone, late]).toEqual(["cut off", true, [1]]);
    expect(proxy.failures).toEqual([]);
  });

  it("whose browser doesn't read is broken off after the timeout", async () => {
    const size = 40_000_000;
    const { api } = await nodeApi((_message, response) => {
      response.writeHead(200, { "Content-Length": String(size) }).end(Buffer.alloc(size));
    });
    const proxy = await front(api);
    const { socket } = await rawBrowser(proxy.port);
    socket.pause();
    socket.write("GET /api/orders/file HTTP/1.1\r\nHost: app.example\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const serverClosed = new Promise((resolve) => proxy.server.close(resolve));
    const { closed, late } = close(proxy, 0.1);
    await closed;
    await serverClosed;
    expect(late).toEqual([1]);
  });

  it("whose API doesn't respond is 503 after the timeout, which isn't the API's failure", async () => {
    const { api } = await nodeApi(() => undefined);
    const proxy = await front(api);
    const asked = request(proxy.port, "/api/orders/file");
    await soon();
    const { closed, late } = close(proxy, 0.1);
    await closed;
    const { status, body } = await asked;
    expect([status, JSON.parse(body)]).toMatchObject([503, { code: "shutting_down" }]);
    expect([late, proxy.failures]).toEqual([[1], []]);
  });

  it("that waited for its guard keeps the server open no longer than the timeout, too", async () => {
    const { api } = await nodeApi(() => undefined);
    let pass!: () => void;
    let arrive!: () => void;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const proxy = await front(api, {
      before() {
        arrive();
        return new Promise<void>((resolve) => (pass = resolve));
      },
    });
    const asked = request(proxy.port, "/api/orders/file");
    await arrived;
    const serverClosed = new Promise((resolve) => proxy.server.close(resolve));
    const { closed } = close(proxy, 0.1);
    await closed;
    pass();
    expect((await asked).status).toBe(503);
    await serverClosed;
    expect(proxy.failures).toEqual([]);
  });

  it("that begins during the shutdown is served and waited for", async () => {
    const { api } = await nodeApi((_message, response) => response.end("ok"));
    const proxy = await front(api);
    const held = proxy.shutdown.add({ destroy: () => undefined });
    const { closed } = close(proxy);
    expect((await request(proxy.port, "/api/orders/file")).body).toBe("ok");
    held();
    await closed;
  });
});

it("an upload finishes, and the shutdown waits for it", async () => {
  const { api } = await nodeApi(async (message, response) => {
    let size = 0;
    for await (const chunk of message) size += (chunk as Buffer).length;
    response.end(String(size));
  });
  const proxy = await front(api);
  const outgoing = http.request({
    port: proxy.port,
    path: "/api/orders/file",
    method: "POST",
    headers: { "X-Idpauth": "1", "Content-Length": "200000" },
  });
  outgoing.write(Buffer.alloc(100_000));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { closed, state, late } = close(proxy);
  await soon();
  expect(state.isClosed).toBe(false);
  const responded = once(outgoing, "response");
  outgoing.end(Buffer.alloc(100_000));
  const [response] = (await responded) as [http.IncomingMessage];
  const got = collected(response);
  await closed;
  await once(response, "end");
  expect([got.text, late]).toEqual(["200000", []]);
});

describe("a WebSocket", () => {
  const UPGRADE =
    "GET /api/orders/socket HTTP/1.1\r\nHost: app.example\r\nOrigin: https://app.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

  async function opened() {
    const api = await rawApi((socket, text) => {
      if (text.endsWith("\r\n\r\n"))
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello",
        );
    });
    const proxy = await front(apiRow({ url: api.url }));
    const browser = await rawBrowser(proxy.port);
    browser.socket.write(UPGRADE);
    while (!browser.received.text.endsWith("hello")) await once(browser.socket, "data");
    return { api, proxy, browser };
  }

  it("gets a FIN on both sides", async () => {
    const { api, proxy, browser } = await opened();
    const ends: string[] = [];
    browser.socket.on("end", () => ends.push("browser"));
    api.connections[0]?.socket.on("end", () => ends.push("api"));
    const failures: unknown[] = [];
    for (const socket of [browser.socket, api.connections[0]!.socket])
      socket.on("error", (error) => failures.push(error));
    const { closed, late } = close(proxy);
    await closed;
    await soon();
    expect(ends.sort()).toEqual(["api", "browser"]);
    expect([failures, late]).toEqual([[], []]);
    expect([browser.received.isClosed, api.connections[0]?.isClosed]).toEqual([true, true]);
  });

  it("whose sides still send is closed all the same, without an error", async () => {
    const { api, proxy, browser } = await opened();
    const sending = setInterval(() => {
      for (const socket of [browser.socket, api.connections[0]!.socket])
        if (socket.writable) socket.write("more");
    }, 1);
    const { closed, late } = close(proxy);
    await closed;
    clearInterval(sending);
    expect(late).toEqual([]);
  });

  it("whose sides don't close is destroyed after the timeout", async () => {
    const { api, proxy, browser } = await opened();
    for (const socket of [browser.socket, api.connections[0]!.socket]) socket.allowHalfOpen = true;
    const { closed, late } = close(proxy, 0.1);
    await closed;
    await soon();
    expect(late).toEqual([1]);
    for (const socket of [browser.socket, api.connections[0]!.socket]) socket.end();
    await soon();
    expect([api.connections[0]?.isClosed, browser.received.isClosed]).toEqual([true, true]);
  });

  it("is refused during the shutdown, and its connection closes", async () => {
    const { url, connections } = await rawApi(() => undefined);
    const proxy = await front(apiRow({ url }));
    await close(proxy).closed;
    const { socket, received } = await rawBrowser(proxy.port);
    socket.write(UPGRADE);
    await once(socket, "close");
    expect(received.text).toMatch(/^HTTP\/1\.1 503 /);
    expect(received.text).toMatch(/\r\nConnection: close\r\n/i);
    expect([connections.length, proxy.tokenCalls]).toEqual([0, []]);
  });

  it("that the API accepts during the shutdown ends at once", async () => {
    let accept: () => void = () => undefined;
    const api = await rawApi((socket) => {
      accept = () =>
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
    });
    const proxy = await front(apiRow({ url: api.url }));
    const { socket, received } = await rawBrowser(proxy.port);
    socket.write(UPGRADE);
    while (api.connections[0]?.text.endsWith("\r\n\r\n") !== true) await soon();
    const { closed, late } = close(proxy);
    accept();
    await closed;
    await soon();
    expect([received.text.startsWith("HTTP/1.1 101 "), received.isClosed, late]).toEqual([
      true,
      true,
      [],
    ]);
  });
});

it("leaves nothing behind after requests that have ended", async () => {
  const { api } = await nodeApi((message, response) => {
    if (message.url?.endsWith("/stream") === true)
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end("data: 1\n\n");
    else response.end("ok");
  });
  const proxy = await front(api);
  await request(proxy.port, "/api/orders/file");
  await request(proxy.port, "/api/orders/stream", { headers: EVENTS });
  await soon();
  const { closed, late } = close(proxy, 5);
  const since = performance.now();
  await closed;
  expect([performance.now() - since < 1_000, late]).toEqual([true, []]);
});

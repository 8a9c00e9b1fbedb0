// What a request may do to others over the connections that undici holds for an API.
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Agent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { apiRow } from "./api-row.js";
import {
  closeAll,
  front,
  frontHandler,
  listen,
  nodeApi,
  rawApi,
  rawBrowser,
  request,
} from "./parties.js";

afterEach(closeAll);

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const GONE = "GET /api/orders/gone HTTP/1.1\r\nHost: app\r\n\r\n";
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("a browser that leaves", () => {
  // Each one would cost the others the time of a new connection, with its TLS.
  it.each([1, 2])(
    "while it waits for one of %i connections, closes none, and its request isn't sent",
    async (connections) => {
      const held: Socket[] = [];
      const api = await rawApi((socket, got) => {
        if (got.endsWith("\r\n\r\n") && held.length < connections) held.push(socket);
        else socket.write(OK);
      });
      const { port } = await front(
        apiRow({ url: api.url, dispatcher: new Agent({ connections }) }),
      );
      const first = Array.from({ length: connections }, () => request(port, "/api/orders/"));
      await expect.poll(() => held).toHaveLength(connections);
      const browsers = await Promise.all(Array.from({ length: 20 }, () => rawBrowser(port)));
      for (const { socket } of browsers) socket.write(GONE);
      await later(50);
      for (const { socket } of browsers) socket.destroy();
      await later(50);
      const last = request(port, "/api/orders/last");
      for (const socket of held) socket.write(OK);
      for (const { body } of await Promise.all([...first, last])) expect(body).toBe("ok");
      expect(api.connections).toHaveLength(connections);
      expect(api.connections.map((connection) => connection.text).join("")).not.toContain("gone");
    },
  );

  it("before its request is sent, closes no connection of the API", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const waiting: (() => void)[] = [];
    const { port } = await front(apiRow({ url }), {
      before: async (message) =>
        message.url?.endsWith("gone") === true &&
        new Promise<void>((resolve) => waiting.push(resolve)),
    });
    await request(port, "/api/orders/");
    const { socket } = await rawBrowser(port);
    socket.write(GONE);
    await expect.poll(() => waiting).toHaveLength(1);
    socket.destroy();
    await later(20);
    waiting[0]!();
    await later(20);
    await request(port, "/api/orders/");
    expect(connections).toHaveLength(1);
    expect(connections[0]!.text).not.toContain("gone");
  });
});

it.each([
  ["a second response", "GET", `${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`],
  ["more than its length", "GET", `${OK}evil`],
  ["a response after a 204", "GET", `HTTP/1.1 204 No\r\n\r\n${OK}`],
  ["the body of a 304", "GET", "HTTP/1.1 304 No\r\nContent-Length: 4\r\n\r\nevil"],
  ["a response after that to HEAD", "HEAD", `${OK.slice(0, -2)}${OK}`],
])(
  "%s reaches nobody whose request waits for the same connection",
  async (_what, method, response) => {
    const { url } = await rawApi((socket, got) =>
      got.slice(got.lastIndexOf("/v2/")).startsWith("/v2/first")
        ? socket.write(response)
        : socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"),
    );
    const { port } = await front(apiRow({ url, dispatcher: new Agent({ connections: 1 }) }));
    const { socket, received } = await rawBrowser(port);
    socket.write(`${method} /api/orders/first HTTP/1.1\r\nHost: app\r\n\r\n`);
    const others = Array.from({ length: 3 }, () => request(port, "/api/orders/other"));
    for (const { body } of await Promise.all(others)) expect(body).toBe("other");
    await expect.poll(() => received.text).toContain("\r\n\r\n");
    expect(received.text).not.toContain("evil");
  },
);

it("a response that streams ends in its own asynchronous context, also on a connection that another user's request has opened", async () => {
  const { api } = await nodeApi(async (message, response) => {
    response.write(await text(message));
    setTimeout(() => response.end("rest"), 10);
  });
  const user = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const { handler } = frontHandler(api);
  const server = http.createServer((message, response) => {
    const name = String(message.headers["accept-language"]);
    user.run(name, () => {
      for (const event of ["finish", "close"])
        response.on(event, () => seen.push([event, name, user.getStore()]));
      void handler(message, response);
    });
  });
  const port = await listen(server);
  for (const name of ["alice", "bob"]) {
    const headers = { "Accept-Language": name, "X-Idpauth": "1", "Transfer-Encoding": "chunked" };
    await request(port, "/api/orders/", { method: "POST", body: "part", headers });
  }
  await expect.poll(() => seen).toHaveLength(4);
  for (const [, name, found] of seen as string[][]) expect(found).toBe(name);
});

it("an upload whose API responds, and resets the connection, leaves the browser's connection usable", async () => {
  const { url } = await rawApi((socket, got) => {
    if (got.includes("/second")) socket.write(OK);
    else if (got.includes("\r\n\r\n"))
      socket.write("HTTP/1.1 413 Large\r\nConnection: close\r\n\r\ntoo large", () =>
        setTimeout(() => socket.resetAndDestroy(), 30),
      );
  });
  const { port } = await front(apiRow({ url }));
  const { socket, received } = await rawBrowser(port);
  socket.write(
    "POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nContent-Length: 300001\r\n\r\nx",
  );
  // Nothing else tells that the API's response has ended.
  await expect.poll(() => received.text).toContain("\r\n0\r\n\r\n");
  for (const size of [150_000, 150_000]) {
    socket.write("x".repeat(size));
    await later(20);
  }
  socket.write("GET /api/orders/second HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n");
  await expect.poll(() => received.text, { timeout: 5_000 }).toContain(" 200 OK");
});

it("a response that has arrived whole doesn't fail because its browser is slow and the API closes its connection", async () => {
  const size = 100_000;
  const { url, connections } = await rawApi((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write("x".repeat(size), () => setTimeout(() => socket.end(), 50));
  });
  const { transport } = frontHandler(apiRow({ url }));
  const { body } = await transport({
    method: "GET",
    url,
    headers: new Map(),
    body: undefined,
    length: undefined,
    onAbort: () => undefined,
  });
  await expect.poll(() => connections[0]?.isClosed).toBe(true);
  expect(await text(body)).toHaveLength(size);
});

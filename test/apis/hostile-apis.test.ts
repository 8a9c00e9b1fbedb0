// What an API, or a request that no server has read, may do to other requests.
import { once } from "node:events";
import { ServerResponse, type IncomingMessage } from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { apiRow } from "./api-row.js";
import { closeAll, front, frontHandler, nodeApi, ORIGIN, rawApi, request } from "./parties.js";

afterEach(closeAll);

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("an unsolicited response", () => {
  // The rest of the first one would be the beginning of the second one.
  it.each([
    ["GET", OK, "HTTP/1.1 200 OK\r\n"],
    ["HEAD", OK.slice(0, -2), "ok"],
  ])(
    "on a connection that waits, after one to %s, closes it and reaches no user",
    async (method, first, more) => {
      const { url, connections } = await rawApi((socket, text) => {
        if (text.includes("/second")) socket.write(OK);
        else socket.write(first, () => setTimeout(() => socket.write(more), 20));
      });
      const { port, failures } = await front(apiRow({ url }));
      await request(port, "/api/orders/first", { method });
      // Before it would be closed for being unused.
      await expect.poll(() => connections[0]?.isClosed, { timeout: 2_000 }).toBe(true);
      const { status, body } = await request(port, "/api/orders/second");
      expect([status, body, connections.length, failures]).toEqual([200, "ok", 2, []]);
    },
  );

  it("leaves no listener behind on a connection that serves many", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on("warning", warned);
    const { port } = await front(apiRow({ url }));
    for (let count = 0; count < 15; count++) await request(port, "/api/orders/");
    process.off("warning", warned);
    expect([connections.length, warnings]).toEqual([1, []]);
  });
});

describe("a response with many bytes of headers", () => {
  const large = (size: number) =>
    nodeApi((_message, response) => response.setHeader("X-Large", "a".repeat(size)).end("ok"));

  it("passes up to 64 KB, because the API has acted, and is 502 above", async () => {
    const { port } = await front((await large(60_000)).api);
    const got = await request(port, "/api/orders/", { maxHeaderSize: 100_000 });
    expect([got.status, got.body, got.headers["x-large"]?.length]).toEqual([200, "ok", 60_000]);
    const above = await front((await large(70_000)).api);
    expect((await request(above.port, "/api/orders/")).status).toBe(502);
  });

  it("passes over HTTP/2 too", async () => {
    const { handler } = frontHandler((await large(60_000)).api);
    const server = http2.createServer((message, response) => void handler(message, response));
    await once(server.listen(0), "listening");
    const { port } = server.address() as AddressInfo;
    const client = http2.connect(`http://127.0.0.1:${port}`);
    const stream = client.request({ ":path": "/api/orders/" });
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    expect([headers[":status"], String(headers["x-large"]).length]).toEqual([200, 60_000]);
    client.destroy();
    server.close();
  });
});

it("a 401 that never ends is broken off at the latest with the request that it was repeated for", async () => {
  const open = new Set<ServerResponse>();
  const { api } = await nodeApi((message, response) => {
    if (message.headers.authorization === "Bearer token-2") {
      response.end("ok");
      return;
    }
    open.add(response);
    const timer = setInterval(() => response.write("more"), 5);
    response.writeHead(401).on("close", () => {
      clearInterval(timer);
      open.delete(response);
    });
  });
  const { port } = await front(api, {
    token: (rejected) => (rejected === undefined ? "token-1" : "token-2"),
  });
  expect((await request(port, "/api/orders/")).body).toBe("ok");
  await expect.poll(() => open.size).toBe(0);
});

// Wrappers for functions take the header from the event.
it.each([70_050, 69_000])(
  "a body of %i bytes that no server has counted, with a Content-Length of 70,000, is no second request",
  async (size) => {
    const { url, connections } = await rawApi(() => undefined);
    const { handler, failures } = frontHandler(apiRow({ url }));
    const lines = ["Origin", ORIGIN, "Content-Length", "70000"];
    const bytes = Buffer.from(`${"x".repeat(70_000)}GET /v2/admin HTTP/1.1`.padEnd(size)).subarray(
      0,
      size,
    );
    const message = Object.assign(
      Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)], { objectMode: false }),
      {
        method: "POST",
        url: "/api/orders/",
        headers: { origin: ORIGIN, "content-length": "70000" },
        rawHeaders: lines,
        socket: { remoteAddress: "127.0.0.1" },
      },
    ) as unknown as IncomingMessage;
    const response = new ServerResponse(message);
    await handler(message, response);
    expect([response.statusCode, failures.map(({ code }) => code)]).toEqual([
      500,
      ["api_body_consumed"],
    ]);
    expect(connections.map(({ text }) => text).join("")).not.toContain("admin");
  },
);

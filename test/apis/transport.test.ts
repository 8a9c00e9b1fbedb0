import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import { apiRow } from "./api-row.js";
import { closeAll, front, nodeApi, rawApi, rawBrowser, request } from "./parties.js";

afterEach(closeAll);

const POST = "POST /api/orders/ HTTP/1.1\r\nHost: app.example\r\nX-Idpauth: 1\r\n";
const ABOUT_64_KB = Buffer.alloc(65_536, "x");

/** Writes as fast as the connection takes it. */
function sendWithoutEnd(socket: Socket): void {
  const send = () => {
    while (!socket.destroyed && socket.write(ABOUT_64_KB));
  };
  socket.on("drain", send);
  send();
}
const TOO_LARGE =
  "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large";

describe("an upload that the API refuses before it is complete", () => {
  it.each([
    ["and closes its connection", (socket: { end(last: string): void }) => socket.end(TOO_LARGE)],
    [
      "and resets its connection",
      (socket: { write(last: string, done: () => void): void; resetAndDestroy(): void }) =>
        socket.write(TOO_LARGE, () => socket.resetAndDestroy()),
    ],
    [
      "without a length, so that the end of the connection ends it",
      (socket: { end(last: string): void }) =>
        socket.end("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\ntoo large"),
    ],
  ])("%s, gets the API's response", async (_what, refuse) => {
    const { url } = await rawApi((socket, got) => {
      if (!got.includes("\r\n\r\n")) return;
      socket.pause();
      refuse(socket);
    });
    const { port, failures } = await front(apiRow({ url }));
    for (let round = 0; round < 10; round++) {
      const { socket, received } = await rawBrowser(port);
      socket.write(`${POST}Content-Length: 100000000\r\n\r\n`);
      // So that a write to the API fails before its response is read.
      sendWithoutEnd(socket);
      await expect.poll(() => received.text).toContain("too large");
      expect(received.text).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
    expect(failures).toEqual([]);
  });
});

describe("a connection to the API that was used before", () => {
  /** An API that answers the first request of each connection, and closes at the second. */
  const closing = (atSecond: string) =>
    rawApi((socket, got) => {
      const requests = got.split("\r\n\r\n").length - 1;
      if (requests === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      else if (requests === 2) socket.end(atSecond);
    });

  it.each(["GET", "HEAD", "OPTIONS"])(
    "and that the API closes before any byte: %s is repeated once on a new one",
    async (method) => {
      const { url, connections } = await closing("");
      const { port, failures } = await front(apiRow({ url }));
      await request(port, "/api/orders/");
      expect((await request(port, "/api/orders/", { method })).status).toBe(200);
      expect([connections.length, failures]).toEqual([2, []]);
    },
  );

  it.each([
    ["POST without a body", { method: "POST", headers: { "X-Idpauth": "1" } }],
    ["DELETE", { method: "DELETE", headers: { "X-Idpauth": "1" } }],
    ["PUT with a body", { method: "PUT", body: "x", headers: { "X-Idpauth": "1", "Content-Length": "1" } }], // prettier-ignore
    ["GET with a body", { method: "GET", body: "x", headers: { "Content-Length": "1" } }],
  ])(
    "and that the API closes before any byte: %s is 502, and isn't repeated",
    async (_what, init) => {
      const { url, connections } = await closing("");
      const { port } = await front(apiRow({ url }));
      await request(port, "/api/orders/");
      expect((await request(port, "/api/orders/", init)).status).toBe(502);
      expect(connections).toHaveLength(1);
    },
  );

  it("and that the API closes after a byte: nothing is repeated", async () => {
    const { url, connections } = await closing("H");
    const { port } = await front(apiRow({ url }));
    await request(port, "/api/orders/");
    expect((await request(port, "/api/orders/")).status).toBe(502);
    expect(connections).toHaveLength(1);
  });

  it("isn't repeated a third time", async () => {
    let requests = 0;
    const { url, connections } = await rawApi((socket) => {
      requests++;
      if (requests === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      else socket.end();
    });
    const { port } = await front(apiRow({ url }));
    await request(port, "/api/orders/");
    expect((await request(port, "/api/orders/")).status).toBe(502);
    expect([requests, connections.length]).toEqual([3, 2]);
    expect((await request(port, "/api/orders/")).status).toBe(502);
    expect([requests, connections.length]).toEqual([5, 4]);
  });

  it("and 421 passes on; no request is sent twice", async () => {
    let requests = 0;
    const { api } = await nodeApi((_message, response) => {
      requests++;
      response.writeHead(421).end();
    });
    const { port } = await front(api);
    expect((await request(port, "/api/orders/")).status).toBe(421);
    const init = { method: "POST", body: "x", headers: { "X-Idpauth": "1" } };
    expect((await request(port, "/api/orders/", init)).status).toBe(421);
    expect(requests).toBe(2);
  });
});

describe("the time limit", () => {
  it("doesn't count while the user's upload pauses", async () => {
    const clock = new TestClock();
    const { api } = await nodeApi(async (message, response) => response.end(await text(message)));
    const { port } = await front(api, { clock });
    const { socket, received } = await rawBrowser(port);
    socket.write(`${POST}Content-Length: 100000\r\n\r\nfirst`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await clock.advanceAsync(600_000);
    socket.write("x".repeat(99_995));
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("doesn't count while the user's upload pauses after the API has begun to respond", async () => {
    const clock = new TestClock();
    const { url } = await rawApi((socket, got) => {
      if (got.endsWith("first")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
      if (got.endsWith("last")) socket.write("cd");
    });
    const { port } = await front(apiRow({ url }), { clock });
    const { socket, received } = await rawBrowser(port);
    socket.write(`${POST}Content-Length: 100000\r\n\r\nfirst`);
    await expect.poll(() => received.text).toMatch(/ab$/);
    await clock.advanceAsync(600_000);
    socket.write(`${"x".repeat(99_991)}last`);
    await expect.poll(() => received.text).toMatch(/abcd$/);
  });

  it("counts while the API accepts nothing of an upload", async () => {
    const clock = new TestClock();
    const { url } = await rawApi((socket) => socket.pause());
    const { port } = await front(apiRow({ url }), { clock });
    const { socket, received } = await rawBrowser(port);
    socket.write(`${POST}Content-Length: 100000000\r\n\r\n`);
    sendWithoutEnd(socket);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await clock.advanceAsync(40_000);
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 504 /);
  });

  it("counts while the API doesn't respond to an upload that is complete", async () => {
    const clock = new TestClock();
    const { url, connections } = await rawApi(() => undefined);
    const { port } = await front(apiRow({ url }), { clock });
    const { socket, received } = await rawBrowser(port);
    socket.write(`${POST}Content-Length: 3\r\n\r\nabc`);
    await expect.poll(() => connections[0]?.text).toMatch(/abc$/);
    await clock.advanceAsync(40_000);
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 504 /);
  });
});

it("an upload that its browser breaks off is no failure of the API, and isn't whole for it", async () => {
  const { url, connections } = await rawApi(() => undefined);
  const { port, failures } = await front(apiRow({ url }));
  for (const body of [
    "Content-Length: 100000\r\n\r\nfirst",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n",
  ]) {
    const { socket } = await rawBrowser(port);
    socket.write(`${POST}${body}`);
    await expect.poll(() => connections.at(-1)?.text).toMatch(/first/);
    socket.resetAndDestroy();
    await expect.poll(() => connections.at(-1)?.isClosed).toBe(true);
    expect(connections.at(-1)?.text).not.toMatch(/0\r\n\r\n$/);
  }
  expect(failures).toEqual([]);
});

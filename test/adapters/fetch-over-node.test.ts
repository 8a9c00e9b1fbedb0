// Servers of the Fetch standard on Node.js: their proxy sends over node:http.
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, listen, optionsFor, rawApi, rawBrowser, request } from "../apis/parties.js";

type Fetch = Parameters<typeof createAdaptorServer>[0]["fetch"];
interface Started {
  readonly fetch: Fetch;
  readonly auth: Parameters<typeof signedInAs>[0];
}

const MEGABYTE = 1_000_000;

function hono(url: string, isReplaced = false): Started {
  const [app, auth] = [new Hono(), honoAuth(optionsFor(url))];
  auth.mount(app);
  if (isReplaced)
    app.use((c, next) => {
      const body = c.req.raw.body?.pipeThrough(new TransformStream());
      if (body !== undefined) c.req.raw = new Request(c.req.raw, { body, duplex: "half" });
      return next();
    });
  app.use(auth.proxyApi("orders"));
  return { fetch: app.fetch, auth };
}

const STARTS: Readonly<Record<string, (url: string) => Started>> = {
  Hono: hono,
  "Hono whose middleware has replaced the request": (url) => hono(url, true),
  "a fetch server": (url) => {
    const auth = fetchAuth(optionsFor(url));
    auth.start();
    const proxy = auth.proxyApi("orders")(() => new Response("none", { status: 404 }));
    return { auth, fetch: async (incoming) => (await auth.fetch(incoming)) ?? proxy(incoming) };
  },
};

afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await closeAll();
});

describe.each(Object.entries(STARTS))("%s on Node.js", (name, start) => {
  /** @param api a listener of node:http, or the URL of an API */
  async function started(api: RequestListener | URL) {
    // Its `fetch` keeps bodies in memory, breaks silent streams off after 300 s, sends headers of
    // its own, decompresses, and repeats a 421.
    vi.stubGlobal("fetch", () => {
      throw new Error("fetch was called");
    });
    const url =
      api instanceof URL
        ? api.href
        : `http://127.0.0.1:${await listen(createServer((...both) => api(...both)))}/v2/`;
    const { fetch, auth } = start(url);
    const port = await listen(createAdaptorServer({ fetch }));
    const headers = { Cookie: await signedInAs(auth), "X-Idpauth": "1", Host: "app.example" };
    const post = `POST /api/orders/ HTTP/1.1\r\n${Object.entries(headers)
      .map((line) => line.join(": "))
      .join("\r\n")}\r\n`;
    return { port, headers, post };
  }

  it("sends the browser's headers, and none of a runtime", async () => {
    let seen: IncomingMessage | undefined;
    const { port, headers } = await started((message, response) => {
      seen = message;
      response.end();
    });
    await request(port, "/api/orders/", { headers: { ...headers, "Accept-Encoding": "br" } });
    const { authorization, forwarded, ...others } = seen!.headers;
    expect(authorization).toMatch(/^Bearer /);
    const knowsAddress = name !== "a fetch server";
    expect(forwarded).toMatch(knowsAddress ? /^for=127\.0\.0\.1;/ : /^for=unknown;/);
    expect(Object.keys(others).filter((key) => !/^x-forwarded-|^connection$|^host$/.test(key))).toEqual(["accept-encoding"]); // prettier-ignore
    expect(others["x-forwarded-for"]).toBe(knowsAddress ? "127.0.0.1" : undefined);
  });

  it("passes compressed responses on, or decompressed where only the Request is known", async () => {
    const zipped = gzipSync("hello");
    const { port, headers } = await started((_message, response) =>
      response.setHeader("Content-Encoding", "gzip").end(zipped),
    );
    const got = await request(port, "/api/orders/", { headers });
    const expected = name === "a fetch server" ? [200, undefined, "hello"] : [200, "gzip"];
    const seen = [got.status, got.headers["content-encoding"], got.body];
    expect(seen.slice(0, expected.length)).toEqual(expected);
  });

  it("passes 421 on, and sends nothing twice", async () => {
    let requests = 0;
    const { port, headers } = await started((_message, response) => {
      requests++;
      response.writeHead(421).end();
    });
    const got = await request(port, "/api/orders/", { method: "POST", body: "x", headers });
    expect([got.status, requests]).toEqual([421, 1]);
  });

  it("passes no interim response on that nobody has requested", async () => {
    const { url } = await rawApi((socket) =>
      socket.write(
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      ),
    );
    const { port, headers } = await started(url);
    const got = await request(port, "/api/orders/", { headers });
    expect([got.status, got.body]).toEqual([200, "ok"]);
  });

  it.each([
    ["with a length", "Content-Length: 100\r\n\r\nhello"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
  ])("breaks a response %s off that the API breaks off", async (_how, rest) => {
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(console, "info").mockReturnValue();
    for (const end of ["end", "resetAndDestroy"] as const) {
      const { url } = await rawApi((socket: Socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${rest}`);
        setTimeout(() => socket[end](), 50);
      });
      const { port, headers } = await started(url);
      const got = request(port, "/api/orders/", { headers });
      await expect(got).rejects.toMatchObject({ code: "ECONNRESET" });
    }
  });

  it("gets the API's response to an upload that the API refuses before it is complete", async () => {
    const { url } = await rawApi((socket) => {
      if (socket.isPaused()) return;
      socket.pause();
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large", () =>
        socket.resetAndDestroy(),
      );
    });
    const { port, post } = await started(url);
    for (let round = 0; round < 5; round++) {
      const { socket, received } = await rawBrowser(port);
      socket.write(`${post}Content-Length: 50000000\r\n\r\n`);
      const chunk = Buffer.alloc(65_536, "x");
      const send = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", send);
      send();
      await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 413 [^]*too large/);
      socket.destroy();
    }
  });

  it.each([
    ["with a length", `Content-Length: ${60 * MEGABYTE}\r\n\r\n`, ""],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n", MEGABYTE.toString(16) + "\r\n"],
  ])("has back-pressure for an upload %s", async (_how, head, chunkHead) => {
    const { url } = await rawApi((socket) => socket.pause());
    const { port, post } = await started(url);
    const { socket } = await rawBrowser(port);
    socket.write(`${post}${head}`);
    const before = process.memoryUsage();
    const chunk = Buffer.alloc(MEGABYTE, "x");
    for (let sent = 0; sent < 60; sent++) {
      socket.write(chunkHead);
      socket.write(chunk);
      if (chunkHead !== "") socket.write("\r\n");
    }
    await new Promise((resolve) => setTimeout(resolve, 400));
    // Kernel buffers take several megabytes; the proxy takes next to nothing.
    expect(socket.writableLength).toBeGreaterThan(30 * MEGABYTE);
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(20 * MEGABYTE);
  });

  it("has back-pressure for a download, and ends it when the browser leaves", async () => {
    let written = 0;
    let isClosed = false;
    const { port, headers } = await started((_message, response) => {
      const chunk = Buffer.alloc(65_536, "x");
      const send = () => {
        while (response.write(chunk)) written += chunk.length;
      };
      response.on("drain", send).on("close", () => (isClosed = true));
      send();
    });
    const { socket } = await rawBrowser(port);
    socket.pause();
    socket.write(
      `GET /api/orders/ HTTP/1.1\r\nHost: app.example\r\nCookie: ${headers.Cookie}\r\n\r\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, 400));
    const soFar = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([written, soFar < 30 * MEGABYTE]).toEqual([soFar, true]);
    socket.destroy();
    await expect.poll(() => isClosed).toBe(true);
  });

  it("breaks an upload off that the browser breaks off, so that the API doesn't take it for a whole one", async () => {
    const messages: IncomingMessage[] = [];
    const { port, post } = await started((message) => messages.push(message.resume()));
    for (const body of [
      "Content-Length: 100000\r\n\r\nfirst",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n",
    ]) {
      const { socket } = await rawBrowser(port);
      socket.write(`${post}${body}`);
      await expect.poll(() => messages.at(-1)?.readableDidRead).toBe(true);
      socket.resetAndDestroy();
      await expect.poll(() => messages.at(-1)?.socket.destroyed).toBe(true);
      expect(messages.at(-1)?.complete).toBe(false);
      messages.length = 0;
    }
  });

  it("sends no part of a body whose length isn't the one that its headers say", async () => {
    if (name === "Hono") return;
    const { url, connections } = await rawApi(() => undefined);
    const { fetch, auth } = start(url.href);
    const init = (length: number) => ({
      method: "POST",
      headers: { "X-Idpauth": "1", "Content-Length": String(length), Cookie: "" },
      duplex: "half" as const,
    });
    const headers = { Cookie: await signedInAs(auth) };
    for (const length of [100_000, 300_000]) {
      const incoming = new Request("https://app.example/api/orders/", {
        ...init(length),
        headers: { ...init(length).headers, ...headers },
        body: new Blob(["x".repeat(200_000)]).stream(),
      });
      const response = await (fetch as (incoming: Request) => Promise<Response>)(incoming);
      expect([response.status, await response.json()]).toMatchObject([
        500,
        { code: "api_body_consumed" },
      ]);
      await expect.poll(() => connections.at(-1)?.isClosed).toBe(true);
      expect(connections.at(-1)!.text.length).toBeLessThan(length + 1_000);
    }
  });
});

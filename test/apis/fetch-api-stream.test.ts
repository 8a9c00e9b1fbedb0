import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { fetchApi } from "../../src/apis/fetch-api.js";
import { sendStream } from "../../src/apis/fetch-api-stream.js";
import { TestClock } from "../../src/testing/test-clock.js";
import type { Api } from "../../src/config/api-options.js";
import { apiRow } from "./api-row.js";
import { closeAll, nodeApi, rawApi } from "./parties.js";
import { unobserved } from "../support/unobserved.js";

afterEach(closeAll);

const clock = new TestClock();

/** Sends with `fetchApi` as on Node.js, where streams never go over `fetch`. */
const send = (api: Api, init: RequestInit, path = "items") =>
  fetchApi(
    { api, path, init },
    {
      send: () => Promise.reject(new Error("fetch was called")),
      sendStream,
      clock,
      events: unobserved,
      token: (rejected) =>
        Promise.resolve({ value: rejected === undefined ? "token-1" : "token-2" }),
    },
  );

const streamOf = (...parts: string[]) => new Blob(parts).stream();
const POST = { method: "POST" };

describe("fetchApi with a stream on Node.js", () => {
  it.each([
    ["of the Web", () => streamOf("a stream")],
    ["of Node.js", () => Readable.from([Buffer.from("a "), Buffer.from("stream")])],
  ])("%s sends it with its headers, and returns what fetch would", async (_what, body) => {
    let seen: IncomingMessage | undefined;
    const { api } = await nodeApi(async (message, response) => {
      seen = message;
      response.writeHead(201, ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Name", "v"]);
      response.end(await text(message));
    });
    const headers = { "Content-Type": "text/plain", Connection: "close", Host: "evil.example" };
    const response = await send(
      api,
      { ...POST, headers, body: body() as ReadableStream },
      "items?x=%2F",
    );
    expect([response.status, await response.text()]).toEqual([201, "a stream"]);
    expect([response.headers.get("x-name"), response.headers.getSetCookie()]).toEqual([
      "v",
      ["a=1", "b=2"],
    ]);
    expect(response.url).toBe(`${api.url.href}items?x=%2F`);
    expect([seen!.method, seen!.url, seen!.headers["transfer-encoding"]]).toEqual([
      "POST",
      "/v2/items?x=%2F",
      "chunked",
    ]);
    expect(seen!.headers).toMatchObject({
      authorization: "Bearer token-1",
      host: api.url.host,
      "content-type": "text/plain",
      "accept-encoding": "identity",
      accept: "*/*",
    });
  });

  it("sends a Content-Length that the caller knows, and rejects if the stream has another length", async () => {
    const lengths: (string | undefined)[] = [];
    const { api } = await nodeApi(async (message, response) => {
      lengths.push(message.headers["content-length"]);
      response.end(await text(message).catch(() => ""));
    });
    const sized = (length: number) =>
      send(api, {
        ...POST,
        headers: { "Content-Length": String(length) },
        body: streamOf("12345"),
      });
    expect(await (await sized(5)).text()).toBe("12345");
    for (const length of [4, 6])
      await expect(sized(length)).rejects.toMatchObject({ code: "api_unreachable" });
    expect(lengths[0]).toBe("5");
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])(
    "decompresses %s, which the API sends although nobody accepts it",
    async (coding, compress) => {
      const { api } = await nodeApi((message, response) => {
        message.resume();
        response.setHeader("Content-Encoding", coding).end(compress("hello"));
      });
      expect(await (await send(api, { ...POST, body: streamOf("x") })).text()).toBe("hello");
    },
  );

  it("leaves what it can't decompress as it is, and doesn't take a part for the whole", async () => {
    const { api } = await nodeApi((message, response) => {
      message.resume();
      response.setHeader("Content-Encoding", message.url === "/v2/other" ? "zz" : "gzip");
      response.end(message.url === "/v2/other" ? "as it is" : gzipSync("hello").subarray(0, 10));
    });
    const init = () => ({ ...POST, body: streamOf("x") });
    expect(await (await send(api, init(), "other")).text()).toBe("as it is");
    await expect((await send(api, init())).text()).rejects.toBeDefined();
  });

  it("decompresses five codings at most, as fetch does: one header can list thousands", async () => {
    const { api } = await nodeApi((message, response) => {
      message.resume();
      const count = Number(message.url?.slice(4));
      response.setHeader("Content-Encoding", Array(count).fill("gzip").join(", "));
      response.end(Array(count).fill(0).reduce(gzipSync, Buffer.from("hello")));
    });
    const got = async (count: number) =>
      (await send(api, { ...POST, body: streamOf("x") }, String(count))).text();
    expect(await got(5)).toBe("hello");
    expect(await got(6)).not.toBe("hello");
  });

  it.each([204, 205, 304])("returns %i without a body", async (status) => {
    const { api } = await nodeApi((message, response) => {
      message.resume();
      response.writeHead(status).end();
    });
    const response = await send(api, { ...POST, body: streamOf("x") });
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it("returns a redirect and a 401 as they are, because it can't send the stream again", async () => {
    const { api } = await nodeApi((message, response) => {
      message.resume();
      response.writeHead(message.url === "/v2/moved" ? 307 : 401, { Location: "/x" }).end();
    });
    const init = () => ({ ...POST, body: streamOf("x") });
    expect((await send(api, init(), "moved")).status).toBe(307);
    expect((await send(api, init())).status).toBe(401);
  });

  it("rejects with the caller's reason, before and during the request, and aborts the body with it", async () => {
    const { api } = await nodeApi((message, response) => {
      message.resume();
      if (message.url === "/v2/body") response.write("x");
    });
    const reason = new Error("the caller's");
    const init = (signal: AbortSignal) => ({ ...POST, body: streamOf("x"), signal });
    await expect(send(api, init(AbortSignal.abort(reason)))).rejects.toBe(reason);
    const reading = new AbortController();
    const file = new Blob(["x".repeat(1_000_000)]);
    const read = sendStream(
      { api, url: api.url, init: { ...POST, body: file, signal: reading.signal } },
      clock,
    );
    reading.abort(reason);
    await expect(read).rejects.toBe(reason);
    const during = new AbortController();
    const sent = send(api, init(during.signal));
    setTimeout(() => during.abort(reason), 50);
    await expect(sent).rejects.toBe(reason);
    const late = new AbortController();
    const response = await send(api, init(late.signal), "body");
    late.abort(reason);
    await expect(response.text()).rejects.toBe(reason);
  });

  it("rejects if the API is silent until its timeout; a body may take as long as it likes", async () => {
    const { url, connections } = await rawApi(
      (socket, got) =>
        got.includes("/body") && socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"),
    );
    const api = apiRow({ url, timeout: 4 });
    const silent = send(api, { ...POST, body: streamOf("x") });
    const refused = expect(silent).rejects.toMatchObject({ code: "api_timeout" });
    await expect.poll(() => connections[0]?.text).toContain("0\r\n\r\n");
    await clock.advanceAsync(6_000);
    await refused;
    const response = await send(api, { ...POST, body: streamOf("x") }, "body");
    await clock.advanceAsync(60_000);
    connections.at(-1)!.socket.write("cd");
    expect(await response.text()).toBe("abcd");
    expect(clock.pendingTimers).toBe(0);
  });

  it("breaks the request off if the caller's stream fails, and closes it if the response is canceled", async () => {
    const messages: IncomingMessage[] = [];
    const { api } = await nodeApi((message, response) => {
      messages.push(message.resume());
      if (message.url === "/v2/body") response.write("x");
    });
    const failing = new ReadableStream({
      pull(controller) {
        if (messages.length > 0) controller.error(new Error("no file"));
        else controller.enqueue(new TextEncoder().encode("part"));
      },
    });
    await expect(send(api, { ...POST, body: failing })).rejects.toMatchObject({
      code: "api_unreachable",
    });
    await expect.poll(() => messages[0]!.socket.destroyed).toBe(true);
    expect(messages[0]!.complete).toBe(false);
    const response = await send(api, { ...POST, body: streamOf("x") }, "body");
    const { socket } = messages.at(-1)!;
    const closed = once(socket, "close");
    await response.body!.cancel();
    await closed;
  });

  it("leaves the runtime's own options, and bodies that are no streams, to fetch", async () => {
    const { api } = await nodeApi((_message, response) => response.end());
    const bodies = ["text", new Uint8Array(3), new URLSearchParams("a=b"), new Blob(["x"]), new FormData()]; // prettier-ignore
    for (const body of bodies)
      await expect(send(api, { ...POST, body })).rejects.toMatchObject({
        cause: new Error("fetch was called"),
      });
    const dispatched = { ...POST, body: streamOf("x"), dispatcher: {} };
    await expect(send(api, dispatched as unknown as RequestInit)).rejects.toMatchObject({
      cause: new Error("fetch was called"),
    });
  });
});

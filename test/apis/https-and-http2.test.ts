// https on the API's side, and HTTP/2 on the browser's.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  connect,
  createServer,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { agentOf } from "../../src/apis/api-connections.js";
import { undiciTransport } from "../../src/apis/undici-transport.js";
import { systemClock } from "../../src/clock.js";
import { apiRow } from "./api-row.js";
import { closeAll, front, frontHandler, nodeApi, request } from "./parties.js";

afterEach(closeAll);

describe("an API with a certificate that nobody trusts", () => {
  let key: Buffer;
  let cert: Buffer;
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-"));
  beforeAll(() => {
    const files = ["-keyout", path.join(folder, "key"), "-out", path.join(folder, "cert")];
    execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", ...files], { stdio: "ignore" }); // prettier-ignore
    [key, cert] = [readFileSync(path.join(folder, "key")), readFileSync(path.join(folder, "cert"))];
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  async function api() {
    let requests = 0;
    const server = createHttpsServer({ key, cert }, (_request, response) => {
      requests++;
      response.end("ok");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const row = apiRow({
      url: new URL(`https://localhost:${(server.address() as AddressInfo).port}/v2/`),
    });
    return { row, requests: () => requests, close: () => server.close() };
  }

  // All HTTPS transports of a proxy library ran with certificate checks off: CVE-2026-107318.
  it("is 502, even if NODE_TLS_REJECT_UNAUTHORIZED is 0, and gets neither request nor token", async () => {
    const { row, requests, close } = await api();
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const { port, failures } = await front(row);
      expect((await request(port, "/api/orders/")).status).toBe(502);
      expect((failures[0]?.cause as { code?: string }).code).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
      const upgrade = {
        Connection: "Upgrade",
        Upgrade: "websocket",
        Origin: "https://app.example",
        "Sec-WebSocket-Key": "x",
      };
      expect((await request(port, "/api/orders/", { headers: upgrade })).status).toBe(502);
      expect(requests()).toBe(0);
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
      close();
    }
  });

  it("is reached if its certificate is trusted", async () => {
    const { row, close } = await api();
    const transport = undiciTransport(row, systemClock, agentOf(row, { ca: cert }));
    const { status, body } = await transport({
      method: "GET",
      url: row.url,
      headers: new Map(),
      body: undefined,
      length: undefined,
      onAbort: () => undefined,
    });
    expect([status, await text(body)]).toEqual([200, "ok"]);
    close();
  });

  /** Behind TLS, an API of plain TCP. */
  async function rawTlsApi(respond: (socket: TLSSocket, got: string) => void) {
    let connections = 0;
    const server = createTlsServer({ key, cert }, (socket) => {
      connections++;
      let got = "";
      socket.on("error", () => undefined).setEncoding("latin1");
      socket.on("data", (chunk: string) => {
        got += chunk;
        respond(socket, got);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/v2/`);
    const row = apiRow({ url });
    const transport = undiciTransport(row, systemClock, agentOf(row, { ca: cert }));
    const send = (method: string, body?: Readable) =>
      transport({
        method,
        url,
        headers: new Map(),
        body,
        length: undefined,
        onAbort: () => undefined,
      });
    return { send, connections: () => connections, close: () => server.close() };
  }

  function closesAtSecond(socket: TLSSocket, got: string) {
    if (got.split("\r\n\r\n").length > 2) socket.end();
    else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }

  /** A connection serves the next request after a few turns. */
  async function isFree() {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  it("may close a connection that was used before: a GET is repeated on a new one", async () => {
    const { send, connections, close } = await rawTlsApi(closesAtSecond);
    expect(await text((await send("GET")).body)).toBe("ok");
    await isFree();
    expect(await text((await send("GET")).body)).toBe("ok");
    expect(connections()).toBe(2);
    close();
  });

  it("may close a connection that was used before: a POST isn't repeated", async () => {
    const { send, connections, close } = await rawTlsApi(closesAtSecond);
    expect(await text((await send("GET")).body)).toBe("ok");
    await isFree();
    await expect(send("POST")).rejects.toMatchObject({ code: "api_unreachable" });
    expect(connections()).toBe(1);
    close();
  });

  it("may refuse an upload and close: its response arrives", async () => {
    const { send, close } = await rawTlsApi((socket, got) => {
      if (!got.includes("\r\n\r\n") || socket.isPaused()) return;
      socket.pause();
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large", () =>
        socket.destroy(),
      );
    });
    for (let round = 0; round < 10; round++) {
      const chunk = Buffer.alloc(65_536);
      const endless = new Readable({ read: () => void endless.push(chunk) });
      const { status, body } = await send("POST", endless);
      expect([status, await text(body)]).toEqual([413, "too large"]);
      endless.destroy();
    }
    close();
  });
});

describe("a browser that speaks HTTP/2", () => {
  async function browser(...args: Parameters<typeof frontHandler>) {
    const parts = frontHandler(...args);
    const server = createServer((message, response) => void parts.handler(message, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const send = (headers: Record<string, string>, body?: string) => {
      const stream = session.request(
        { ":path": "/api/orders/items?x=1", ...headers },
        { endStream: body === undefined },
      );
      stream.on("error", () => undefined);
      if (body !== undefined) stream.write(body);
      return stream;
    };
    const close = () => {
      session.destroy();
      server.close();
    };
    return { ...parts, send, close };
  }
  const headersOf = async (stream: ClientHttp2Stream) =>
    (await once(stream, "response"))[0] as IncomingHttpHeaders & { ":status": number };

  it("gets the API's response, and the API gets a request of HTTP/1.1", async () => {
    let seen: IncomingMessage | undefined;
    const { api } = await nodeApi(async (message, response) => {
      seen = message;
      response.setHeader("Keep-Alive", "timeout=9");
      response.end(await text(message));
    });
    const { send, close } = await browser(api);
    const stream = send({ ":method": "POST", "x-idpauth": "1", cookie: "a=b" }, "hello");
    stream.end();
    const headers = await headersOf(stream);
    expect([headers[":status"], headers["keep-alive"], await text(stream)]).toEqual([
      200,
      undefined,
      "hello",
    ]);
    expect([
      seen!.url,
      seen!.httpVersion,
      seen!.rawHeaders.some((line) => /^:|cookie/i.test(line)),
    ]).toEqual(["/v2/items?x=1", "1.1", false]);
    const get = send({ ":method": "GET" });
    expect((await headersOf(get))[":status"]).toBe(200);
    expect([seen!.headers["transfer-encoding"], seen!.headers["content-length"]]).toEqual([
      undefined,
      undefined,
    ]);
    close();
  });

  // Node ends the body of a stream that was reset as if it were complete.
  it.each([
    ["with an error", (stream: ClientHttp2Stream) => stream.destroy(new Error("left"))],
    ["without an error", (stream: ClientHttp2Stream) => stream.destroy()],
    ["with its connection", (stream: ClientHttp2Stream) => stream.session?.destroy()],
  ])(
    "and breaks an upload off %s never makes the API take it for a whole one",
    async (_how, breakOff) => {
      let seen: IncomingMessage | undefined;
      const { api } = await nodeApi((message) => {
        seen = message.resume();
      });
      const { send, close } = await browser(api);
      const stream = send({ ":method": "POST", "x-idpauth": "1" }, "first part");
      await expect.poll(() => seen?.readableDidRead).toBe(true);
      breakOff(stream);
      await expect.poll(() => seen!.socket.destroyed).toBe(true);
      expect(seen!.complete).toBe(false);
      close();
    },
  );

  it("and leaves aborts the API's side", async () => {
    let seen: IncomingMessage | undefined;
    const { api } = await nodeApi((message, response) => {
      seen = message;
      response.write("x");
    });
    const { send, close } = await browser(api);
    const stream = send({ ":method": "GET" });
    await headersOf(stream);
    stream.close(8);
    await expect.poll(() => seen!.socket.destroyed).toBe(true);
    close();
  });
});

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { WebRequest } from "../../src/adapters/fetch/fetch-message.js";
import { fetchApi } from "../../src/apis/fetch-api.js";
import { fetchBody, fetchTransport } from "../../src/apis/fetch-transport.js";
import type { Exchange } from "../../src/apis/exchange.js";
import { proxyRequest } from "../../src/apis/request-steps.js";
import { lengthOf } from "../../src/apis/request-headers.js";
import { webBody } from "../../src/apis/request-bodies.js";
import { agentOf } from "../../src/apis/api-connections.js";
import { undiciTransport } from "../../src/apis/undici-transport.js";
import { webStream } from "../../src/apis/web-responses.js";
import { systemClock } from "../../src/clock.js";
import { isStream, type AnyReply } from "../../src/http/reply.js";
import { SessionEndedError } from "../../src/sessions/session-end-signal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import type { Api } from "../../src/config/api-options.js";
import { json, problem } from "../../src/http/reply.js";
import { apiRow } from "./api-row.js";
import { watchOf } from "./watch-of.js";
import { closeAll, nodeApi, ORIGIN, rawApi } from "./parties.js";
import { Shutdown } from "../../src/work/shutdown.js";
import { unobserved } from "../support/unobserved.js";

afterEach(closeAll);

const clock = new TestClock();

const KINDS = ["fetch", "undici"] as const;

type Token = (rejected?: string) => string;

/** What a fetch server does for the proxy. @param kind how the requests to the API are sent */
function frontOf(kind: (typeof KINDS)[number], api: Api, token: Token = () => "token-1") {
  const session = new AbortController();
  const failures: string[] = [];
  const proxied = (exchange: Exchange, request: Request): Promise<AnyReply> => {
    if (kind === "fetch")
      return proxyRequest(exchange, fetchTransport(api, clock, fetch), fetchBody(request));
    const length = lengthOf(exchange.lines);
    const body = webBody(request, typeof length === "number" ? length : undefined);
    return proxyRequest(exchange, undiciTransport(api, clock, agentOf(api)), body).then((reply) =>
      isStream(reply.body) ? { ...reply, body: webStream(reply.body) } : reply,
    );
  };
  return {
    session,
    failures,
    async handle(target: string, init: RequestInit & { duplex?: "half" } = {}): Promise<Response> {
      const request = new Request(`${ORIGIN}${target}`, init);
      const { status, headers, body } = await proxied(
        {
          api,
          request: new WebRequest(request),
          lines: [...request.headers].flat(),
          origin: ORIGIN,
          client: undefined,
          pathPrefix: "",
          clock: systemClock,
          shutdown: new Shutdown(),
          connection: undefined,
          takeStream: () => () => undefined,
          watch: (onEnd) => watchOf(session.signal, onEnd),
          onClose: (closed) => request.signal.addEventListener("abort", closed),
          token: async () => ({ value: token() }),
          tokenAgain: async (rejected) => ({ value: token(rejected) }),
          challenged: async ({ status }) => json({}, status),
          observed: (_headers, send) => send(),
          refused: async (code) => problem(code, ""),
          failed: ({ code }) => failures.push(code),
          locationDropped: () => undefined,
        },
        request,
      );
      return new Response((body ?? null) as ReadableStream | null, { status, headers });
    },
  };
}
const POST = { method: "POST", headers: { "X-Idpauth": "1", "Content-Type": "text/plain" } };
const streamOf = (...parts: string[]) => new Blob(parts).stream();
const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { code: string }).code,
];

describe.each(KINDS)("the proxy of a fetch server, over %s", (kind) => {
  it("sends path, body and token, and no header of the browser's credentials", async () => {
    let seen: IncomingMessage | undefined;
    const { api } = await nodeApi(async (message, response) => {
      seen = message;
      response.setHeader("Set-Cookie", "a=b").end(await text(message));
    });
    const response = await frontOf(kind, api).handle("/api/orders/items?q=%2F", {
      ...POST,
      body: "hello",
      headers: { ...POST.headers, Cookie: "a=b" },
    });
    expect([response.status, await response.text(), response.headers.get("set-cookie")]).toEqual([
      200,
      "hello",
      null,
    ]);
    expect([seen!.method, seen!.url, seen!.headers.authorization, seen!.headers.cookie]).toEqual([
      "POST",
      "/v2/items?q=%2F",
      "Bearer token-1",
      undefined,
    ]);
  });

  it("applies the same rules of paths, methods and bodies that were read", async () => {
    const { handle } = frontOf(kind, apiRow({ methods: ["POST"] }));
    expect(await codeOf(await handle("/api/orders/a%2Fb", POST))).toEqual([
      400,
      "api_path_invalid",
    ]);
    expect(await codeOf(await handle("/api/orders/"))).toEqual([405, "method_not_allowed"]);
    const request = new Request(ORIGIN, { ...POST, body: "x" });
    await request.text();
    expect(fetchBody(request)?.isUsed).toBe(true);
  });

  it("follows no redirect", async () => {
    let requests = 0;
    const { api } = await nodeApi((message, response) => {
      requests++;
      response
        .writeHead(307, {
          Location: message.url === "/v2/out" ? "https://evil.example/" : "/v2/next",
        })
        .end();
    });
    const { handle } = frontOf(kind, api);
    const inside = await handle("/api/orders/in");
    expect([inside.status, inside.headers.get("location")]).toEqual([307, "/api/orders/next"]);
    expect(await codeOf(await handle("/api/orders/out"))).toEqual([502, "api_redirect_refused"]);
    expect(requests).toBe(2);
  });

  it("never labels a body as compressed that the runtime has decompressed, and passes on what it hasn't", async () => {
    const requested: (string | undefined)[] = [];
    const { api } = await nodeApi((message, response) => {
      requested.push(message.headers["accept-encoding"]);
      response
        .writeHead(200, { "Content-Encoding": "gzip", "Content-Length": gzipSync("hello").length })
        .end(gzipSync("hello"));
    });
    const response = await frontOf(kind, api).handle("/api/orders/", {
      headers: { "Accept-Encoding": "gzip, br" },
    });
    const body = Buffer.from(await response.arrayBuffer());
    const { headers } = response;
    expect([headers.get("content-encoding"), headers.get("content-length"), ...requested]).toEqual(
      kind === "fetch"
        ? [null, null, "identity"]
        : ["gzip", String(gzipSync("hello").length), "gzip, br"],
    );
    expect((kind === "fetch" ? body : gunzipSync(body)).toString()).toBe("hello");
  });

  it("streams both ways", async () => {
    let stream: ServerResponse | undefined;
    const { api } = await nodeApi((message, response) => {
      stream = response;
      message.once("data", (chunk) => response.write(`got ${String(chunk)}`));
    });
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (more = controller),
    });
    more!.enqueue(new TextEncoder().encode("first"));
    const response = await frontOf(kind, api).handle("/api/orders/", {
      ...POST,
      body,
      duplex: "half",
    });
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("got first");
    stream!.end("rest");
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("rest");
    more!.close();
  });

  it("repeats a request whose body it has kept after a 401, and doesn't fail on a stream", async () => {
    const { api } = await nodeApi(async (message, response) => {
      const body = await text(message);
      response.writeHead(message.headers.authorization === "Bearer token-2" ? 200 : 401).end(body);
    });
    const { handle } = frontOf(kind, api, (rejected) =>
      rejected === undefined ? "token-1" : "token-2",
    );
    const kept = await handle("/api/orders/", {
      ...POST,
      body: "hello",
      headers: { ...POST.headers, "Content-Length": "5" },
    });
    expect([kept.status, await kept.text()]).toEqual([200, "hello"]);
    expect(
      await codeOf(
        await handle("/api/orders/", { ...POST, body: streamOf("hello"), duplex: "half" }),
      ),
    ).toEqual([502, "api_token_rejected"]);
  });

  it("is 504 if the API sends no headers in time, and breaks a body off that is idle for too long", async () => {
    const { url, connections } = await rawApi(
      (socket, head) =>
        head.includes("/body") &&
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
    );
    const { handle } = frontOf(kind, apiRow({ url }));
    const late = handle("/api/orders/");
    await expect.poll(() => connections[0]?.text).toContain("\r\n\r\n");
    await clock.advanceAsync(40_000);
    expect(await codeOf(await late)).toEqual([504, "api_timeout"]);
    const reader = (await handle("/api/orders/body")).body!.getReader();
    await reader.read();
    // Here a slow browser isn't the API's silence. On Node.js, what the API sends is read ahead.
    if (kind === "fetch") await clock.advanceAsync(100_000);
    const refused = expect(reader.read()).rejects.toMatchObject({ code: "api_timeout" });
    await clock.advanceAsync(40_000);
    await refused;
    expect(clock.pendingTimers).toBe(0);
  });

  it("aborts the API's side when the session ends, and when the browser leaves", async () => {
    const requests: IncomingMessage[] = [];
    const { api } = await nodeApi((message, response) => {
      requests.push(message);
      response.write("x");
    });
    const { handle, session } = frontOf(kind, api);
    const left = new AbortController();
    const first = await handle("/api/orders/", { signal: left.signal });
    left.abort();
    await expect.poll(() => requests[0]!.socket.destroyed).toBe(true);
    const second = await handle("/api/orders/");
    session.abort(new SessionEndedError("logout"));
    await expect.poll(() => requests[1]!.socket.destroyed).toBe(true);
    await expect(second.text()).rejects.toMatchObject({ code: "session_ended" });
    await expect(first.text()).rejects.toBeDefined();
  });
});

describe("fetchApi", () => {
  const listener = async (message: IncomingMessage, response: ServerResponse) => {
    const body = await text(message);
    const status =
      message.url === "/v2/moved"
        ? 302
        : message.headers.authorization === "Bearer token-2"
          ? 200
          : 401;
    response
      .writeHead(status, {
        Location: "https://evil.example/",
        "X-Seen": `${message.method ?? ""} ${message.url ?? ""}`,
      })
      .end(body);
  };
  const ports = (calls: (string | undefined)[] = []) => ({
    send: fetch,
    clock,
    events: unobserved,
    token: async (rejected?: string) => (
      calls.push(rejected),
      { value: rejected === undefined ? "token-1" : "token-2" }
    ),
  });

  it("sends the token, and once more a new one after a 401", async () => {
    const { api } = await nodeApi(listener);
    const calls: (string | undefined)[] = [];
    const response = await fetchApi(
      {
        api,
        path: "items?open=true",
        init: { method: "post", body: "{}", headers: { Authorization: "Bearer own" } },
      },
      ports(calls),
    );
    expect([response.status, await response.text(), response.headers.get("x-seen")]).toEqual([
      200,
      "{}",
      "POST /v2/items?open=true",
    ]);
    expect(calls).toEqual([undefined, "token-1"]);
  });

  it("sends the table's constant headers, and rejects if the API sends no headers in time", async () => {
    const { url, connections } = await rawApi(() => undefined);
    const requestHeaders = { "x-version": "2", origin: true } as const;
    const late = fetchApi(
      {
        api: apiRow({ url, requestHeaders, timeout: 5 }),
        path: "items",
        init: { headers: { "X-Version": "1" } },
      },
      ports(),
    );
    const refused = expect(late).rejects.toMatchObject({ code: "api_timeout", status: 504 });
    await expect.poll(() => connections[0]?.text).toContain("\r\n\r\n");
    expect(connections[0]?.text).toMatch(/\r\nx-version: 2\r\n/i);
    await clock.advanceAsync(5_000);
    await refused;
  });

  it("rejects with our error if the API can't be reached, and with the caller's if the caller has aborted", async () => {
    const { api, server } = await nodeApi(listener);
    server.close();
    await expect(fetchApi({ api, path: "items", init: {} }, ports())).rejects.toMatchObject({
      code: "api_unreachable",
      status: 502,
    });
    const signal = AbortSignal.abort();
    await expect(fetchApi({ api, path: "items", init: { signal } }, ports())).rejects.toMatchObject(
      {
        name: "AbortError",
      },
    );
  });

  it("sets no time limit on the body, and leaves no timer", async () => {
    const { api } = await nodeApi((_message, response) => response.writeHead(200).write("a"));
    const left = new AbortController();
    const response = await fetchApi({ api, path: "items", init: { signal: left.signal } }, ports());
    expect(clock.pendingTimers).toBe(0);
    left.abort();
    await expect(response.text()).rejects.toMatchObject({ name: "AbortError" });
  });

  it("returns the 401 to a stream, which it can't repeat", async () => {
    const { api } = await nodeApi(listener);
    const response = await fetchApi(
      { api, path: "items", init: { method: "POST", body: streamOf("{}") } },
      ports(),
    );
    expect(response.status).toBe(401);
    await response.text();
  });

  it("follows no redirect", async () => {
    const { api } = await nodeApi(listener);
    const response = await fetchApi({ api, path: "moved", init: {} }, ports());
    expect([response.status, response.headers.get("location")]).toEqual([
      302,
      "https://evil.example/",
    ]);
    await response.text();
  });

  it("rejects a path or a method that the proxy refuses, before it gets a token", async () => {
    const calls: (string | undefined)[] = [];
    for (const path of ["../admin", "/items", "//evil.example", "%2e%2e/x", "a\\b"]) {
      await expect(fetchApi({ api: apiRow(), path, init: {} }, ports(calls))).rejects.toMatchObject(
        {
          code: "api_path_invalid",
          status: 400,
        },
      );
    }
    await expect(
      fetchApi(
        { api: apiRow({ methods: ["GET"] }), path: "items", init: { method: "delete" } },
        ports(calls),
      ),
    ).rejects.toMatchObject({
      code: "method_not_allowed",
    });
    expect(calls).toEqual([]);
  });

  it("rejects if the API can't be reached, and never sends the token elsewhere", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, "close");
    await expect(
      fetchApi(
        { api: apiRow({ url: new URL(`http://127.0.0.1:${port}/`) }), path: "items", init: {} },
        ports(),
      ),
    ).rejects.toThrow();
  });
});

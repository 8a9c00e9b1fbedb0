import { once } from "node:events";
import http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { problem } from "../../src/http/reply.js";
import { SessionEndedError } from "../../src/sessions/session-end-signal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { apiRow } from "./api-row.js";
import { closeAll, front, nodeApi, open, rawApi, rawBrowser, request } from "./parties.js";

afterEach(closeAll);

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const code = (body: string) => (JSON.parse(body) as { code?: string }).code;
const POST = { method: "POST", headers: { "X-Idpauth": "1" } };

describe("a proxied request", () => {
  it("reaches the API with its path, method, body and the user's token", async () => {
    const { url, connections } = await rawApi(
      (socket, text) => text.endsWith("{}") && socket.write(OK),
    );
    const { port, failures } = await front(apiRow({ url }));
    const response = await request(port, "/api/orders/items/?q=%2F", {
      ...POST,
      headers: { ...POST.headers, "Content-Type": "application/json", Cookie: "a=b" },
      body: "{}",
    });
    expect([response.status, response.body]).toEqual([200, "ok"]);
    const [head, ...lines] = connections[0]!.text.split("\r\n");
    expect(head).toBe("POST /v2/items/?q=%2F HTTP/1.1");
    expect(lines.map((line) => line.toLowerCase())).toEqual(
      expect.arrayContaining([
        `host: ${url.host}`,
        "authorization: bearer token-1",
        "content-length: 2",
        "content-type: application/json",
        "{}",
        'forwarded: for=127.0.0.1;host="app.example";proto=https',
      ]),
    );
    expect(connections[0]!.text).not.toMatch(/cookie|idpauth/i);
    expect(failures).toEqual([]);
  });

  it("uses a connection again", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }));
    for (let at = 0; at < 3; at++) expect((await request(port, "/api/orders/")).status).toBe(200);
    expect(connections).toHaveLength(1);
  });

  it("[BFF-9] never reaches the API with a path or a method outside the table", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port, tokenCalls } = await front(apiRow({ url, methods: ["GET", "POST"] }));
    const got = async (target: string, method = "GET") => {
      const { status, body, headers } = await request(port, target, { ...POST, method });
      return [status, method === "HEAD" ? undefined : code(body), headers.allow];
    };
    expect(await got("/API/orders/")).toEqual([404, "not_found", undefined]);
    expect(await got("/api/orders/..%2fadmin")).toEqual([400, "api_path_invalid", undefined]);
    expect(await got("/api/orders/", "DELETE")).toEqual([405, "method_not_allowed", "GET, POST"]);
    expect(await got("/api/orders/", "HEAD")).toEqual([405, undefined, "GET, POST"]);
    expect([connections, tokenCalls]).toEqual([[], []]);
  });

  it("with TRACE never reaches the API, which would repeat the token", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }));
    expect((await request(port, "/api/orders/", { method: "TRACE" })).status).toBe(405);
    expect(connections).toEqual([]);
  });

  it.each([
    ["GET", "cross-site", false, 403],
    ["GET", "same-site", false, 403],
    ["GET", "garbage", false, 403],
    ["HEAD", "cross-site", false, 403],
    ["GET", "same-origin", false, 200],
    ["GET", "none", false, 200],
    ["GET", undefined, false, 200],
    ["GET", "cross-site", true, 200],
    ["POST", "cross-site", true, 403],
    ["POST", "same-site", true, 403],
    ["POST", undefined, true, 403],
    ["POST", "same-origin", false, 200],
    ["OPTIONS", "cross-site", true, 403],
  ])(
    "by %s with Sec-Fetch-Site %s, and allowCrossSite %s, gets %i",
    async (method, site, allowCrossSite, status) => {
      const { api } = await nodeApi((_request, response) => response.end("ok"), { allowCrossSite });
      const { port } = await front(api);
      const response = await request(port, "/api/orders/", {
        method,
        headers: site === undefined ? {} : { "Sec-Fetch-Site": site },
      });
      expect(response.status).toBe(status);
      if (status === 403 && method !== "HEAD") expect(code(response.body)).toBe("cross_origin");
    },
  );

  it.each([
    ["GET", "https://app.example", false, 200],
    ["GET", "https://evil.example", false, 403],
    ["GET", "http://app.example", false, 403],
    ["GET", "null", false, 403],
    ["HEAD", "https://evil.example", false, 403],
    ["OPTIONS", "https://evil.example", false, 403],
    ["GET", "https://evil.example", true, 200],
    ["OPTIONS", "https://evil.example", true, 403],
  ])(
    "by %s with Origin %s alone, as over plain http, and allowCrossSite %s, gets %i",
    async (method, origin, allowCrossSite, status) => {
      const { api } = await nodeApi((_request, response) => response.end("ok"), { allowCrossSite });
      const { port } = await front(api);
      const headers = { Origin: origin };
      expect((await request(port, "/api/orders/", { method, headers })).status).toBe(status);
    },
  );

  it("gets the guard's response if the user has no token", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }), { token: () => problem("forbidden", "No.") });
    const response = await request(port, "/api/orders/");
    expect([response.status, code(response.body), connections.length]).toEqual([
      403,
      "forbidden",
      0,
    ]);
  });

  it("whose body a parser has read is an error with a name, and isn't sent", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port, failures } = await front(apiRow({ url }), {
      before: async (message) => buffer(message),
    });
    const response = await request(port, "/api/orders/", { ...POST, body: '{"a":1}' });
    expect([response.status, code(response.body), connections.length]).toEqual([
      500,
      "api_body_consumed",
      0,
    ]);
    expect(failures.map((failure) => failure.code)).toEqual(["api_body_consumed"]);
    expect((await request(port, "/api/orders/")).status).toBe(200);
  });
});

describe("a 401 of the API", () => {
  /** An API that accepts one token. */
  const accepting = (token: string, seen: string[] = []) =>
    nodeApi(async (message, response) => {
      const bytes = await buffer(message);
      seen.push(`${message.headers.authorization ?? ""} ${bytes.length}`);
      if (message.headers.authorization === `Bearer ${token}`) response.end(bytes);
      else
        response
          .writeHead(401, { "WWW-Authenticate": 'Bearer error="invalid_token"' })
          .end("denied");
    });
  const next = (rejected?: string) => (rejected === undefined ? "token-1" : "token-2");

  it("leads to one refresh and one repetition", async () => {
    const seen: string[] = [];
    const { api } = await accepting("token-2", seen);
    const { port, tokenCalls, failures } = await front(api, { token: next });
    const response = await request(port, "/api/orders/", { ...POST, body: "x".repeat(65_536) });
    expect([response.status, response.body.length]).toEqual([200, 65_536]);
    expect([seen, tokenCalls, failures]).toEqual([
      ["Bearer token-1 65536", "Bearer token-2 65536"],
      [undefined, "token-1"],
      [],
    ]);
  });

  it("is 502 after that, and never 401", async () => {
    const seen: string[] = [];
    const { api } = await accepting("another", seen);
    const { port, tokenCalls, failures } = await front(api, { token: next });
    const response = await request(port, "/api/orders/");
    expect([response.status, code(response.body), response.headers["www-authenticate"]]).toEqual([
      502,
      "api_token_rejected",
      undefined,
    ]);
    expect([seen.length, tokenCalls.length, failures.length]).toEqual([2, 2, 1]);
  });

  it("isn't followed by a repetition if there is no other token", async () => {
    const seen: string[] = [];
    const { api } = await accepting("another", seen);
    const { port } = await front(api, { token: () => "token-1" });
    expect([(await request(port, "/api/orders/")).status, seen.length]).toEqual([502, 1]);
  });

  it.each([
    ["above 64 KB", { ...POST, body: "x".repeat(65_537) }],
    [
      "of unknown length",
      { method: "POST", headers: { "X-Idpauth": "1", "Transfer-Encoding": "chunked" }, body: "x" },
    ],
  ])("isn't followed by a repetition if the body is %s, but by a refresh", async (_what, sent) => {
    const seen: string[] = [];
    const { api } = await accepting("token-2", seen);
    const { port, tokenCalls } = await front(api, { token: next });
    const response = await request(port, "/api/orders/", sent);
    expect([response.status, code(response.body), seen.length, tokenCalls]).toEqual([
      502,
      "api_token_rejected",
      1,
      [undefined, "token-1"],
    ]);
  });

  it.each([
    [401, "insufficient_user_authentication", 'acr_values="mfa"', { acr_values: "mfa" }],
    [403, "insufficient_scope", 'scope="orders:write"', { scope: "orders:write" }],
  ])(
    "or 403 that demands another sign-in (%i %s) is a step-up, without a refresh",
    async (status, error, parameter, parameters) => {
      const { api } = await nodeApi((_request, response) =>
        response
          .writeHead(status, { "WWW-Authenticate": `Bearer error="${error}", ${parameter}` })
          .end("no"),
      );
      const { port, tokenCalls } = await front(api);
      const response = await request(port, "/api/orders/");
      expect([response.status, JSON.parse(response.body)]).toEqual([
        status,
        {
          authenticated: true,
          error,
          ...parameters,
          login_url: `/idpauth/login/?${new URLSearchParams(parameters).toString()}`,
        },
      ]);
      expect(tokenCalls).toEqual([undefined]);
    },
  );

  it("is the only response that is repeated", async () => {
    for (const status of [403, 408, 429, 500, 503]) {
      let requests = 0;
      const { api } = await nodeApi((_request, response) => {
        requests++;
        response.writeHead(status, { "Retry-After": "1" }).end("no");
      });
      const { port } = await front(api);
      expect([(await request(port, "/api/orders/")).status, requests]).toEqual([status, 1]);
    }
  });
});

describe("an API that fails", () => {
  it.each([
    ["closes the connection", undefined],
    ["sends no HTTP", "hello\r\n\r\n"],
    [
      "switches protocols without being asked",
      "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    ],
    [
      "sends a 100 that nobody asked for",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
    ["sends a status below 100", "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n"],
    ["switches to no protocol", "HTTP/1.1 101 X\r\nContent-Length: 0\r\n\r\n"],
    [
      "sends two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("and %s is 502", async (_what, answer) => {
    const { url, connections } = await rawApi((socket) =>
      answer === undefined ? socket.destroy() : socket.write(answer),
    );
    const { port, failures } = await front(apiRow({ url }));
    const response = await request(port, "/api/orders/", POST);
    const reason = "api_unreachable";
    expect([response.status, code(response.body)]).toEqual([502, reason]);
    expect([failures.map((failure) => failure.code), connections.length]).toEqual([[reason], 1]);
  });

  it("and doesn't listen is 502", async () => {
    const { api, server } = await nodeApi(() => undefined);
    server.close();
    await once(server, "close");
    const { port } = await front(api);
    expect((await request(port, "/api/orders/", { ...POST, body: "x" })).status).toBe(502);
  });

  it("with a redirect to another place is 502", async () => {
    const { url } = await rawApi((socket) =>
      socket.write(
        "HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\nContent-Length: 0\r\n\r\n",
      ),
    );
    const { port, failures } = await front(apiRow({ url }));
    const response = await request(port, "/api/orders/");
    expect([response.status, code(response.body), response.headers.location]).toEqual([
      502,
      "api_redirect_refused",
      undefined,
    ]);
    expect(failures.map((failure) => failure.code)).toEqual(["api_redirect_refused"]);
    const listed = await front(apiRow({ url, redirects: ["https://evil.example"] }));
    const redirected = await request(listed.port, "/api/orders/");
    expect([redirected.status, redirected.headers.location]).toEqual([
      302,
      "https://evil.example/",
    ]);
  });

  it("with a Location elsewhere has acted: its response passes without it", async () => {
    const { url } = await rawApi((socket) =>
      socket.write(
        "HTTP/1.1 201 Created\r\nLocation: urn:orders:5\r\nETag: a\r\nContent-Length: 4\r\n\r\ndone",
      ),
    );
    const { port, failures, dropped } = await front(apiRow({ url }));
    const response = await request(port, "/api/orders/", { ...POST, body: "x" });
    expect([response.status, response.body, response.headers.etag]).toEqual([201, "done", "a"]);
    expect(response.headers.location).toBeUndefined();
    expect([failures, dropped()]).toEqual([[], 1]);
    await request(port, "/api/orders/", { ...POST, body: "x" });
    expect(dropped()).toBe(2);
  });

  it.each(["600 X", "999 X"])(
    "with %s, which is no status, is an error with the API's body",
    async (line) => {
      const { url } = await rawApi((socket) =>
        socket.write(`HTTP/1.1 ${line}\r\nX-Outcome: 1\r\nContent-Length: 4\r\n\r\ndone`),
      );
      const { port, failures } = await front(apiRow({ url }));
      const response = await request(port, "/api/orders/", { ...POST, body: "x" });
      expect([response.status, response.body, response.headers["x-outcome"]]).toEqual([500, "done", "1"]); // prettier-ignore
      expect(failures).toEqual([]);
    },
  );

  it.each(["299 X", "418 X", "599 X"])("with %s passes as it is", async (line) => {
    const { url } = await rawApi((socket) =>
      socket.write(`HTTP/1.1 ${line}\r\nContent-Length: 4\r\n\r\ndone`),
    );
    const { port } = await front(apiRow({ url }));
    const response = await request(port, "/api/orders/");
    expect([response.status, response.body]).toEqual([Number(line.slice(0, 3)), "done"]);
  });

  it("and sends no headers is 504 after its timeout, and its connection is closed", async () => {
    const clock = new TestClock();
    const { url, connections } = await rawApi(() => undefined);
    const { port } = await front(apiRow({ url }), { clock });
    const response = request(port, "/api/orders/");
    await expect.poll(() => connections[0]?.text).toContain("\r\n\r\n");
    clock.advance(30_000);
    clock.advance(7_500);
    const { status, body } = await response;
    expect([status, code(body)]).toEqual([504, "api_timeout"]);
    await expect.poll(() => connections[0]!.isClosed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it("and stops in the middle of a body breaks the response off, so that it isn't taken for a whole one", async () => {
    const clock = new TestClock();
    const { url, connections } = await rawApi((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
    );
    const { port } = await front(apiRow({ url }), { clock });
    const { socket, received } = await rawBrowser(port);
    socket.write("GET /api/orders/ HTTP/1.1\r\nHost: app\r\n\r\n");
    await expect.poll(() => received.text).toContain("ok");
    clock.advance(20_000);
    connections[0]!.socket.write("2\r\nko\r\n");
    await expect.poll(() => received.text).toContain("ko");
    clock.advance(20_000);
    expect(received.isClosed).toBe(false);
    clock.advance(20_000);
    await expect.poll(() => received.isClosed).toBe(true);
    expect(received.text).not.toContain("\r\n0\r\n");
    await expect.poll(() => connections[0]!.isClosed).toBe(true);
  });

  it("and closes in the middle of a body breaks the response off", async () => {
    const { url } = await rawApi((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
    );
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write("GET /api/orders/ HTTP/1.1\r\nHost: app\r\n\r\n");
    await expect.poll(() => received.isClosed).toBe(true);
    expect(received.text).not.toContain("\r\n0\r\n");
  });
});

describe("a proxied stream", () => {
  it("of events flushes its headers at once, and may be silent for longer than the timeout", async () => {
    const clock = new TestClock();
    let stream: ServerResponse | undefined;
    const { api } = await nodeApi((_request, response) => {
      stream = response;
      response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    });
    const { port } = await front(api, { clock });
    const response = await open(port, "/api/orders/events", {
      headers: { Accept: "text/event-stream" },
    });
    expect([response.statusCode, response.headers["cache-control"]]).toEqual([
      200,
      "private, no-store, no-transform",
    ]);
    clock.advance(3_600_000);
    stream!.write("data: 1\n\n");
    const [chunk] = (await once(response, "data")) as [Buffer];
    expect(chunk.toString()).toBe("data: 1\n\n");
  });

  it("aborts the API's side when the browser leaves: before the headers, within the body, and within an upload", async () => {
    const requests: IncomingMessage[] = [];
    let mode = "silent";
    const { api } = await nodeApi((message, response) => {
      requests.push(message);
      if (mode === "body") response.write("x");
    });
    const { port, failures } = await front(api);
    for (mode of ["silent", "body", "upload"]) {
      const { socket, received } = await rawBrowser(port);
      const upload =
        "POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n";
      socket.write(mode === "upload" ? upload : "GET /api/orders/ HTTP/1.1\r\nHost: app\r\n\r\n");
      const arrived = requests.length;
      await expect.poll(() => requests.length).toBeGreaterThan(arrived);
      if (mode === "body") await expect.poll(() => received.text).toContain("x");
      const api = requests.at(-1)!;
      socket.destroy();
      await expect.poll(() => api.socket.destroyed).toBe(true);
      if (mode === "upload") expect(api.complete).toBe(false);
    }
    expect(failures).toEqual([]);
  });

  it.each([
    ["before the headers", false],
    ["within the body", true],
  ])("ends on both sides with the session: %s", async (_when, responds) => {
    let incoming: IncomingMessage | undefined;
    const { api } = await nodeApi((message, response) => {
      incoming = message;
      if (responds) response.write("x");
    });
    const { port, session } = await front(api);
    const { socket, received } = await rawBrowser(port);
    socket.write("GET /api/orders/ HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n");
    await expect
      .poll(() => (responds ? received.text.endsWith("x\r\n") : incoming !== undefined))
      .toBe(true);
    session.abort(new SessionEndedError("logout"));
    await expect.poll(() => [received.isClosed, incoming!.socket.destroyed]).toEqual([true, true]);
    if (responds) expect(received.text).not.toContain("\r\n0\r\n");
    else expect(received.text).toContain("session_ended");
  });

  it("has back-pressure in both directions", async () => {
    let sent = 0;
    let upload: IncomingMessage | undefined;
    const chunk = Buffer.alloc(65_536);
    const { api } = await nodeApi((message, response) => {
      if (message.method === "POST") {
        upload = message.pause();
        return;
      }
      const more = () => {
        while (sent < 256 * 1024 * 1024) {
          sent += chunk.length;
          if (!response.write(chunk)) return response.once("drain", more);
        }
        return response.end();
      };
      more();
    });
    const { port } = await front(api);
    const response = await open(port, "/api/orders/");
    // The buffers of three sockets fill, and then nothing moves.
    let [before, same] = [-1, 0];
    await expect
      .poll(() => ((same = before === sent ? same + 1 : 0), (before = sent), same), {
        interval: 50,
      })
      .toBeGreaterThan(3);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    response.destroy();

    const outgoing = http.request({
      host: "127.0.0.1",
      port,
      path: "/api/orders/",
      ...POST,
      headers: { ...POST.headers, "Transfer-Encoding": "chunked" },
    });
    outgoing.on("error", () => undefined);
    let written = 0;
    const fill = () => {
      while (written < 256 * 1024 * 1024) {
        written += chunk.length;
        if (!outgoing.write(chunk)) return;
      }
    };
    outgoing.on("drain", fill);
    fill();
    await expect.poll(() => upload).toBeDefined();
    [before, same] = [-1, 0];
    await expect
      .poll(() => ((same = before === written ? same + 1 : 0), (before = written), same), {
        interval: 50,
      })
      .toBeGreaterThan(3);
    expect(written).toBeLessThan(64 * 1024 * 1024);
    outgoing.destroy();
  });

  it.each([
    {
      method: "HEAD",
      answer: 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\nETag: "1"\r\n\r\n',
      status: 200,
    },
    { method: "GET", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204 },
    { method: "GET", answer: 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n', status: 304 },
  ])(
    "isn't there for $method, status $status; a connection that a HEAD had serves nothing else",
    async ({ method, answer, status }) => {
      const { url, connections } = await rawApi((socket) => socket.write(answer));
      const { port } = await front(apiRow({ url }));
      for (let at = 0; at < 2; at++) {
        const response = await request(port, "/api/orders/", { method });
        expect([response.status, response.body]).toEqual([status, ""]);
        if (method === "HEAD") expect(response.headers["content-length"]).toBe("500");
      }
      expect(connections).toHaveLength(method === "HEAD" ? 2 : 1);
    },
  );

  it("passes no interim response and no trailers on, and responds to Expect itself", async () => {
    const { url, connections } = await rawApi(
      (socket, text) =>
        text.endsWith("\r\n\r\nok") &&
        socket.write(
          "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: secret\r\n\r\n",
        ),
    );
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      "POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nTE: trailers\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    );
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 100 Continue/);
    socket.write("ok");
    await expect.poll(() => received.text).toMatch(/\r\n\r\nok$/);
    expect(received.text).not.toMatch(/103|X-T|trailer/i);
    expect(connections[0]!.text).not.toMatch(/expect|te:/i);
  });

  it("delivers a response that comes before the upload is complete", async () => {
    const { url } = await rawApi((socket) =>
      socket.end("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
    );
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      "POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nContent-Length: 9000000\r\n\r\nok",
    );
    await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 413 [^]*no$/);
  });
});

// The attacks on proxies for Node.js that were published until November 2026, each against ours.
import { buffer } from "node:stream/consumers";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { apiRow } from "./api-row.js";
import { closeAll, front, frontHandler, nodeApi, rawApi, rawBrowser, request } from "./parties.js";

afterEach(closeAll);

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** The request lines that an API gets when browsers send these targets, and the statuses. */
async function reached(targets: readonly string[]) {
  const { url, connections } = await rawApi((socket) => socket.write(OK));
  const { port } = await front(apiRow({ url }));
  const statuses: number[] = [];
  for (const target of targets) {
    const { socket, received } = await rawBrowser(port);
    socket.write(`GET ${target} HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n`);
    await expect.poll(() => received.isClosed).toBe(true);
    statuses.push(Number(received.text.slice(9, 12)));
  }
  return { statuses, lines: connections.flatMap(({ text }) => text.match(/^GET .*$/gm) ?? []) };
}

describe("the attack of", () => {
  // CVE-2026-107318 is in https-and-http2.test.ts, and CVE-2026-15631 in websocket.test.ts.
  it("CVE-2026-120213: decoded route parameters don't get into the API's path", async () => {
    const { statuses, lines } = await reached([
      "/api/orders/%2e%2e%2fadmin",
      "/api/orders/x%3Fadmin=1",
      "/api/orders/x%23y",
      "/api/orders/a%0d%0aHost:%20evil",
    ]);
    expect(statuses).toEqual([400, 200, 200, 400]);
    expect(lines).toEqual(["GET /v2/x%3Fadmin=1 HTTP/1.1", "GET /v2/x%23y HTTP/1.1"]);
  });

  it("CVE-2026-85124: dot segments with backslashes don't leave the prefix", async () => {
    const { statuses, lines } = await reached([
      "/api/orders/..\\admin",
      "/api/orders/x\\..\\..\\admin",
      "/api/orders/..%5cadmin",
      "/api/orders\\..\\admin",
    ]);
    expect([statuses, lines]).toEqual([[400, 400, 400, 404], []]);
  });

  it("CVE-2026-16117: a path that a router matches decoded isn't rewritten in its raw form", async () => {
    const { api } = await nodeApi((message, response) => response.end(message.url));
    const { handler } = frontHandler(api);
    // Express matches without regard to case.
    const app = express().use(
      "/api/orders",
      (message, response) =>
        void handler(Object.assign(message, { url: message.originalUrl }), response),
    );
    const { server } = await nodeApi(app as Parameters<typeof nodeApi>[0]);
    const { port } = server.address() as { port: number };
    const { statuses, lines } = await reached([
      "/api/%6Frders/x",
      "/%61pi/orders/x",
      "/API/orders/x",
      "/api/orders%2f..%2fadmin",
    ]);
    expect([statuses, lines]).toEqual([[404, 404, 404, 404], []]);
    expect([
      (await request(port, "/api/orders/x")).body,
      (await request(port, "/API/ORDERS/x")).status,
    ]).toEqual(["/v2/x", 404]);
  });

  it("CVE-2021-21321 and CVE-2021-21322: the prefix can't be left", async () => {
    const { statuses, lines } = await reached([
      "/api/orders/../admin",
      "/api/orders/%2e%2e/admin",
      "/api/orders/.%2E/%2e./",
      "/api/orders/x/../../../admin",
      "/api/orders/..;/admin",
    ]);
    expect([statuses, lines]).toEqual([[400, 400, 400, 400, 400], []]);
  });

  it("GHSA-2q7r-29rg-6m5h: encoded dots and slashes can't either", async () => {
    const { statuses, lines } = await reached([
      "/api/orders/%2e%2e%2f%2e%2e%2fadmin",
      "/api/orders/%252e%252e%252fadmin",
      "/api/orders/%252e%252e/admin",
    ]);
    expect([statuses, lines]).toEqual([[400, 400, 400], []]);
  });

  it.each(["GET", "DELETE", "OPTIONS", "POST"])(
    "GHSA-ggv3-7p47-pfv8: a chunked %s leaves no request behind on the API's connection",
    async (method) => {
      const seen: string[] = [];
      const { api } = await nodeApi(async (message, response) => {
        seen.push(
          `${message.method ?? ""} ${message.url ?? ""} ${(await buffer(message)).toString()}`,
        );
        response.end("ok");
      });
      const { port } = await front(api);
      const smuggled = "GET /v2/admin HTTP/1.1\r\nHost: x\r\n\r\n";
      const { socket, received } = await rawBrowser(port);
      socket.write(
        `${method} /api/orders/a HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      );
      await expect.poll(() => received.text).toContain("ok");
      expect((await request(port, "/api/orders/b")).status).toBe(200);
      expect(seen).toEqual([`${method} /v2/a ${smuggled}`, "GET /v2/b "]);
    },
  );

  it.each([
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
  ])("request smuggling: a body with two lengths never reaches the API: %j", async (framing) => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      `POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nConnection: close\r\n${framing}`,
    );
    await expect.poll(() => received.isClosed).toBe(true);
    expect([received.text.slice(0, 13), connections]).toEqual(["HTTP/1.1 400 ", []]);
  });

  it("CVE-2026-55602: the browser's Host header chooses no API, and doesn't reach one", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }));
    const headers = {
      Host: `${url.host}.evil.example`,
      "X-Forwarded-Host": "evil.example",
      Forwarded: "host=evil.example",
    };
    expect((await request(port, "/api/orders/", { headers })).status).toBe(200);
    expect(connections[0]!.text).toContain(`host: ${url.host}\r\n`);
    expect(connections[0]!.text).not.toContain("evil");
  });

  it("GHSA-gcq2-9pq2-cxqm: a body that was parsed isn't serialized again", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { handler } = frontHandler(apiRow({ url }));
    const app = express().use(
      express.urlencoded(),
      (message, response) => void handler(message, response),
    );
    const { server } = await nodeApi(app as Parameters<typeof nodeApi>[0]);
    const { port } = server.address() as { port: number };
    const headers = { "X-Idpauth": "1", "Content-Type": "application/x-www-form-urlencoded" };
    const response = await request(port, "/api/orders/", {
      method: "POST",
      headers,
      body: "a=%0d%0aX-Evil:%201",
    });
    expect([response.status, response.body.includes("api_body_consumed"), connections]).toEqual([
      500,
      true,
      [],
    ]);
  });

  it("Duende Support #1187: a cookie of the API doesn't reach the browser, nor do commands to the web server in front", async () => {
    const { url } = await rawApi((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nX-Accel-Redirect: /secret\r\nClear-Site-Data: "*"\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: public, s-maxage=9\r\nContent-Length: 0\r\n\r\n',
      ),
    );
    const { port } = await front(apiRow({ url }));
    const { headers } = await request(port, "/api/orders/");
    expect(Object.keys(headers).filter((name) => /cookie|accel|clear|access/.test(name))).toEqual(
      [],
    );
    expect([headers["cache-control"], headers.vary]).toEqual(["private", "Cookie"]);
  });

  it("a browser that removes headers with Connection: the token and the addresses reach the API all the same", async () => {
    const { url, connections } = await rawApi((socket) => socket.write(OK));
    const { port } = await front(apiRow({ url }));
    await request(port, "/api/orders/", {
      headers: { Connection: "close, authorization, x-forwarded-for, host, forwarded" },
    });
    expect(connections[0]!.text.toLowerCase()).toMatch(
      /(?=[^]*authorization: bearer token-1)(?=[^]*x-forwarded-for: 127.0.0.1)(?=[^]*\r\nforwarded: for=127)/,
    );
  });
});

// The connections to an API: those of an application's own dispatcher, and the end of ours.
import type { Http2ServerRequest } from "node:http2";
import { createSecureServer } from "node:http2";
import { connect } from "node:net";
import http from "node:http";
import { text } from "node:stream/consumers";
import { Agent, ProxyAgent } from "undici";
import { afterEach, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { idpAuth } from "../../src/adapters/node/node.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, front, listen, nodeApi, optionsFor, rawApi, request } from "./parties.js";
import { apiRow } from "./api-row.js";

afterEach(closeAll);

/** An application with one API behind the proxy. */
async function application(options: Parameters<typeof idpAuth>[0]) {
  const auth = idpAuth(options);
  const app = http.createServer(
    auth.listener(
      auth.proxyApi("orders")(async (message, response) => {
        const body = new Blob(["from the application"]).stream();
        const init = { method: "POST", body, duplex: "half" } as RequestInit;
        const direct = message.url === "/text" ? { method: "POST", body: "plain" } : init;
        const sent = await auth.fetchApi(message, "orders", "fetched", direct);
        response.end(await sent.text());
      }),
    ),
  );
  const port = await listen(app);
  const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
  const headers = { cookie, "X-Idpauth": "1" };
  return { auth, get: (target: string, init = {}) => request(port, target, { headers, ...init }) };
}

it("sends what the proxy and fetchApi send, through a tunnel of a corporate proxy", async () => {
  const { api } = await nodeApi(async (message, response) => {
    const { authorization = "", "content-length": length = "" } = message.headers;
    response.end(`${message.url ?? ""} ${authorization} ${await text(message)}${length}`);
  });
  const tunnels: string[] = [];
  const corporate = http.createServer().on("connect", (message, socket, head) => {
    tunnels.push(message.url ?? "");
    const upstream = connect(Number(api.url.port), api.url.hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [socket, upstream]) end.on("error", () => undefined);
  });
  const uri = `http://127.0.0.1:${String(await listen(corporate))}`;
  const dispatcher = new ProxyAgent({ uri, proxyTunnel: true });
  const { orders } = optionsFor(api.url.href).apis;
  const { auth, get } = await application({
    ...optionsFor(api.url.href),
    apis: { orders: { ...orders, dispatcher } },
  });
  expect((await get("/api/orders/proxied")).body).toBe("/v2/proxied Bearer users-token ");
  expect((await get("/stream")).body).toBe("/v2/fetched Bearer users-token from the application");
  expect((await get("/text")).body).toBe("/v2/fetched Bearer users-token plain5");
  expect(new Set(tunnels)).toEqual(new Set([api.url.host]));
  await auth.close();
  const later = await dispatcher.request({ origin: api.url.origin, path: "/x", method: "GET" });
  expect(later.statusCode).toBe(200);
  await dispatcher.destroy();
});

it("may speak HTTP/2 to the API", async () => {
  const { cert, key } = createCertificate({ name: "localhost" });
  const server = createSecureServer({ key, cert });
  server.on("request", async (message: Http2ServerRequest, response) => {
    response.setHeader("X-Version", message.httpVersion);
    response.end(await text(message));
  });
  const url = new URL(`https://localhost:${String(await listen(server))}/v2/`);
  const dispatcher = new Agent({ allowH2: true, connect: { ca: cert } });
  const { orders } = optionsFor(url.href).apis;
  const { get } = await application({
    ...optionsFor(url.href),
    apis: { orders: { ...orders, dispatcher } },
  });
  const response = await get("/api/orders/", { method: "POST", body: "hello" });
  expect([response.status, response.headers["x-version"], response.body]).toEqual([200, "2.0", "hello"]); // prettier-ignore
  await dispatcher.destroy();
});

it("may limit the connections: other requests wait", async () => {
  const { url, connections } = await rawApi((socket) =>
    setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), 20),
  );
  const { port } = await front(apiRow({ url, dispatcher: new Agent({ connections: 2 }) }));
  const responses = await Promise.all(
    Array.from({ length: 7 }, () => request(port, "/api/orders/")),
  );
  expect(responses.map(({ body }) => body)).toEqual(Array(7).fill("ok"));
  expect(connections).toHaveLength(2);
});

it.each([
  ["the proxy", "/api/orders/"],
  ["fetchApi", "/stream"],
])(
  "the end of `auth.close()` closes the connections of %s at once, and a later request opens others",
  async (_of, target) => {
    const { url, connections } = await rawApi(
      (socket, got) =>
        (target === "/api/orders/" || got.endsWith("0\r\n\r\n")) &&
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    );
    const { auth, get } = await application(optionsFor(url.href));
    expect((await get(target)).body).toBe("ok");
    const since = performance.now();
    await auth.close();
    await expect.poll(() => connections[0]!.isClosed).toBe(true);
    // Without a shutdown, an unused connection stays open for four seconds.
    expect(performance.now() - since).toBeLessThan(2_000);
    expect((await get(target)).body).toBe("ok");
    expect(connections).toHaveLength(2);
  },
);

// Attacks on the proxy by browsers and by APIs.
import { once } from "node:events";
import http from "node:http";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { challengeOf } from "../../src/apis/challenge.js";
import { requestHeaders } from "../../src/apis/request-headers.js";
import { responseHeaders } from "../../src/apis/response-headers.js";
import { readApis } from "../../src/config/read-apis.js";
import { toResponse } from "../../src/adapters/fetch/fetch.js";
import { idpAuth } from "../../src/adapters/node/node.js";
import { polluted } from "../support/polluted.js";
import { apiRow } from "./api-row.js";
import { closeAll, front, nodeApi, ORIGIN, rawApi, rawBrowser } from "./parties.js";
import { UNREACHED_BY_ENV } from "../support/options-for.js";

afterEach(closeAll);

describe("a response of an API", () => {
  it.each(["204 No Content", "205 Reset Content"])(
    "with %s leaves no part of the next response on the connection",
    async (status) => {
      const { url } = await rawApi((socket, text) =>
        socket.write(
          text.includes("/second")
            ? "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
            : `HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\nhello`,
        ),
      );
      const { port } = await front(apiRow({ url }));
      const { socket, received } = await rawBrowser(port);
      socket.write("GET /api/orders/first HTTP/1.1\r\nHost: app\r\n\r\n");
      await expect.poll(() => received.text).toContain("\r\n\r\n");
      expect(received.text).not.toMatch(/content-length: 5/i);
    },
  );

  it("sets no policy for the whole origin, unless its `responseHeaders` lists it", () => {
    const names = [
      "NEL",
      "Report-To",
      "Accept-CH",
      "Set-Login",
      "Secure-Session-Registration",
      "Sec-Session-Registration",
      "Use-As-Dictionary",
    ];
    const lines = names.flatMap((name) => [name, "x"]);
    const about = {
      status: 200,
      url: new URL("https://orders.internal/v2/"),
      origin: ORIGIN,
      token: "token",
      pathPrefix: "",
    };
    const got = responseHeaders(lines, apiRow(), about).headers;
    expect(
      names.filter((name) =>
        Object.keys(got).some((key) => key.toLowerCase() === name.toLowerCase()),
      ),
    ).toEqual([]);
    expect(
      responseHeaders(lines, apiRow({ responseHeaders: { nel: true } }), about).headers,
    ).toHaveProperty("Nel", "x");
  });

  it("redirects to no other site, even if the proxy's path is the whole site", () => {
    const of = (location: string) =>
      responseHeaders(["Location", location], apiRow({ path: "/" }), {
        status: 302,
        url: new URL("https://orders.internal/v2/x"),
        origin: ORIGIN,
        token: "token",
        pathPrefix: "",
      });
    for (const outside of [
      "https://orders.internal/v2//evil.example/",
      "/v2/\\evil.example/",
      `${ORIGIN}//evil.example/`,
      "//evil.example/",
      "/\\evil.example/",
    ])
      expect([outside, of(outside).location]).toEqual([outside, "refused"]);
    expect(of("y").headers).toHaveProperty("Location", "/y");
  });

  it("has its challenge read in time that grows with its length", () => {
    const start = process.cpuUsage();
    challengeOf(401, ["www-authenticate", "a".repeat(30_000)]);
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
  });

  it("to HEAD keeps its length on a fetch server", () => {
    expect(
      toResponse({ status: 200, headers: { "Content-Length": "12" } }, "HEAD").headers.get(
        "content-length",
      ),
    ).toBe("12");
  });

  it("that comes before the whole request leaves the browser's connection usable", async () => {
    const { url } = await rawApi(
      (socket, text) =>
        text.includes("\r\n\r\n") &&
        socket.write("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n"),
    );
    const { port } = await front(apiRow({ url }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      `POST /api/orders/ HTTP/1.1\r\nHost: app\r\nX-Idpauth: 1\r\nContent-Length: 3000000\r\n\r\n${"x".repeat(100_000)}`,
    );
    await expect.poll(() => received.text).toContain("413");
    socket.write("x".repeat(2_900_000));
    socket.write("GET /api/orders/second HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n");
    await expect.poll(() => received.text.match(/413/g)).toHaveLength(2);
  });
});

describe("a request", () => {
  it("claims no address of the browser, unless the API's `requestHeaders` lists the header", () => {
    const names = [
      "X-Real-IP",
      "X-Client-IP",
      "True-Client-IP",
      "X_Real_IP",
      "CF-Connecting-IP",
      "X-Cluster-Client-IP",
    ];
    const lines = names.flatMap((name) => [name, "10.0.0.1"]);
    const sender = {
      token: { value: "token" },
      origin: undefined,
      client: "192.0.2.1",
      pathPrefix: "",
    };
    expect([...requestHeaders(lines, apiRow(), sender).values()]).not.toContain("10.0.0.1");
    expect(
      requestHeaders(lines, apiRow({ requestHeaders: { "x-real-ip": true } }), sender).get(
        "x-real-ip",
      ),
    ).toBe("10.0.0.1");
  });

  it("leaves no listener behind on a connection that serves many", async () => {
    const { url } = await rawApi((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
    );
    const { port, server } = await front(apiRow({ url }));
    const counts: number[] = [];
    server.on("request", ({ socket }: http.IncomingMessage) =>
      counts.push(socket.listenerCount("close")),
    );
    const { socket, received } = await rawBrowser(port);
    for (let call = 1; call <= 5; call++) {
      socket.write("GET /api/orders/x HTTP/1.1\r\nHost: app\r\n\r\n");
      await expect.poll(() => received.text.split("done").length - 1).toBe(call);
    }
    expect(counts[4]).toBe(counts[1]);
  });
});

describe("the table of APIs", () => {
  it("takes nothing from a polluted prototype", async () => {
    const { apis } = await polluted(
      { allowCrossSite: true, methods: ["TRACE"], provider: "evil" },
      () => readApis({ orders: { url: "https://orders.internal/", path: "/api/" } }, []),
    );
    expect(apis.get("orders")).toMatchObject({ allowCrossSite: false, provider: undefined });
    expect(apis.get("orders")!.methods).not.toContain("TRACE");
  });
});

describe("an upgrade", () => {
  it("with another method than GET doesn't reach an API whose table has no GET", async () => {
    const { url, connections } = await rawApi((socket) => socket.end());
    const { port } = await front(apiRow({ url, methods: ["POST"] }));
    const { socket, received } = await rawBrowser(port);
    socket.write(
      `POST /api/orders/ HTTP/1.1\r\nHost: app\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${ORIGIN}\r\n\r\n`,
    );
    await expect.poll(() => received.isClosed).toBe(true);
    expect([received.text.slice(9, 12), connections]).toEqual(["404", []]);
  });

  it("whose connection breaks before it is handled doesn't end the process", async () => {
    const auth = idpAuth({
      ...UNREACHED_BY_ENV,
      apis: { orders: { url: "http://127.0.0.1:9/", path: "/api/orders/" } },
    });
    auth.proxyApi("orders");
    const socket = new PassThrough();
    const message = Object.assign(new http.IncomingMessage(socket as never), {
      url: "/api/orders/",
      method: "GET",
    });
    expect(auth.proxyUpgrade(message, socket, Buffer.alloc(0))).toBe(true);
    expect(() => socket.emit("error", new Error("ECONNRESET"))).not.toThrow();
  });

  it("that is refused leaves no half of a connection open", async () => {
    const { api } = await nodeApi(() => undefined);
    const { port, server } = await front(api);
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    socket
      .resume()
      .write(
        "GET /api/orders/ HTTP/1.1\r\nHost: app\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      );
    await once(socket, "end");
    await expect
      .poll(
        () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
      )
      .toBe(0);
    socket.destroy();
  });

  it("leaves no half of a connection open after the API has closed its side", async () => {
    const { url } = await rawApi((socket) =>
      socket.end(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbye",
      ),
    );
    const { port, server } = await front(apiRow({ url }));
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(
      `GET /api/orders/ HTTP/1.1\r\nHost: app\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${ORIGIN}\r\n\r\n`,
    );
    await once(socket, "end");
    expect(text).toMatch(/^HTTP\/1\.1 101 [^]*bye$/);
    await expect
      .poll(
        () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
      )
      .toBe(0);
    socket.destroy();
  });
});

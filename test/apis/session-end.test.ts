// Nothing reaches an API after the user has logged out, whatever a request was waiting for.
import { once } from "node:events";
import http, { type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, it } from "vitest";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as nodeAuth, type NodeIdpAuth } from "../../src/adapters/node/node.js";
import type { GuardRule, IdpAuthOptions } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";
import { nodeApi, rawBrowser, optionsFor } from "./parties.js";
import { closedAfterEach } from "./closed-after-each.js";

const servers = closedAfterEach();

async function serve([auth, listener]: readonly [
  SignsInForTests,
  RequestListener,
]): Promise<number> {
  const server = http.createServer(listener);
  if ("proxyUpgrade" in auth)
    server.on("upgrade", (...upgrade) => (auth as NodeIdpAuth).proxyUpgrade(...upgrade));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Applications over node:http and over fetch. */
const SERVED = {
  "node:http"(options: IdpAuthOptions, rule: GuardRule): [SignsInForTests, RequestListener] {
    const auth = nodeAuth(options);
    const notFound: RequestListener = (_request, response) => response.writeHead(404).end();
    return [auth, auth.listener(auth.proxyApi("orders", rule)(notFound))];
  },
  fetch(options: IdpAuthOptions, rule: GuardRule): [SignsInForTests, RequestListener] {
    const auth = fetchAuth(options);
    const proxy = auth.proxyApi("orders", rule)(() => new Response(null, { status: 404 }));
    const listener = getRequestListener(
      async (request) => (await auth.fetch(request)) ?? proxy(request),
    );
    return [auth, (request, response) => void listener(request, response)];
  },
};

describe.each(Object.entries(SERVED))("a request over %s", (name, served) => {
  /** Two processes with one store. */
  async function started(respond: RequestListener, rule: GuardRule = {}) {
    const seen: string[] = [];
    const { api, server } = await nodeApi(async (message, response) => {
      const body = (await buffer(message)).toString();
      seen.push(`${message.headers.authorization ?? ""} ${body}`);
      respond(message, response);
    });
    server.on("upgrade", (message: http.IncomingMessage, socket: Duplex) => {
      seen.push(`upgrade ${message.headers.authorization ?? ""}`);
      socket.destroy();
    });
    const options = { ...optionsFor(api.url.href), store: memoryStore() };
    const [one, other] = [served(options, rule), served(options, rule)] as const;
    const [auth] = one;
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const ports = [await serve(one), await serve(other)] as const;
    const logout = async (process: number) => {
      const response = await fetch(`http://127.0.0.1:${ports[process]!}/idpauth/logout/?response=json`, { headers: { cookie } }); // prettier-ignore
      expect(response.status).toBe(200);
    };
    return { seen, cookie, logout, port: ports[0] };
  }

  const HEAD = (cookie: string, rest: string) =>
    `POST /api/orders/ HTTP/1.1\r\nHost: app.example\r\nX-Idpauth: 1\r\nConnection: close\r\nCookie: ${cookie}\r\n${rest}\r\n\r\n`;
  const answer: RequestListener = (_message, response) => void response.end("done");

  it.each([
    ["this process", 0, 0],
    ["another process", 1, 0],
    ["this process, after a while", 0, 700],
    ["another process, after a while", 1, 700],
  ])(
    "whose last byte comes after a logout in %s doesn't reach the API",
    async (_where, process, wait) => {
      const { seen, cookie, logout, port } = await started(answer);
      const { socket, received } = await rawBrowser(port);
      socket.write(`${HEAD(cookie, "Content-Length: 5")}last`);
      await new Promise((resolve) => setTimeout(resolve, 100 + wait));
      await logout(process);
      socket.write("!");
      await expect.poll(() => received.isClosed).toBe(true);
      expect(received.text).toMatch(/^HTTP\/1\.1 401 /);
      expect(seen).toEqual([]);
    },
  );

  const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: https://app.example\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="; // prettier-ignore

  it.each(["GET", "POST", ...(name === "fetch" ? [] : ["UPGRADE"])])(
    "%s whose rule waits doesn't reach the API after a logout in any process",
    async (kind) => {
      for (const process of [0, 1]) {
        let pass: (() => void) | undefined;
        const allow = () => new Promise<true>((resolve) => (pass = () => resolve(true)));
        const { seen, cookie, logout, port } = await started(answer, { allow });
        const { socket, received } = await rawBrowser(port);
        if (kind === "POST") socket.write(`${HEAD(cookie, "Content-Length: 2")}ok`);
        else if (kind === "GET") socket.write(HEAD(cookie, "").replace("POST", "GET"));
        else socket.write(HEAD(cookie, UPGRADE).replace("POST", "GET").replace("Connection: close\r\n", "")); // prettier-ignore
        await expect.poll(() => pass !== undefined).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 150));
        await logout(process);
        pass?.();
        await expect.poll(() => received.isClosed).toBe(true);
        expect(received.text).toMatch(/^HTTP\/1\.1 401 /);
        expect(seen).toEqual([]);
      }
    },
  );

  it("that waits for the API ends half a second after it began, if the logout came before", async () => {
    const { seen, cookie, logout, port } = await started(() => undefined);
    const { socket, received } = await rawBrowser(port);
    socket.write(HEAD(cookie, "").replace("POST", "GET"));
    await expect.poll(() => seen).toHaveLength(1);
    await logout(1);
    const since = performance.now();
    await expect.poll(() => received.isClosed, { timeout: 5_000 }).toBe(true);
    expect(performance.now() - since).toBeLessThan(1_500);
    expect(received.text).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("whose last byte comes late reaches the API once, whole", async () => {
    const { seen, cookie, port } = await started(answer);
    const { socket, received } = await rawBrowser(port);
    socket.write(`${HEAD(cookie, "Content-Length: 5")}last`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write("!");
    await expect.poll(() => received.isClosed).toBe(true);
    expect([received.text.slice(9, 12), seen]).toEqual(["200", ["Bearer users-token last!"]]);
  });

  it.each([0, 1])(
    "that the API rejects isn't repeated after a logout in process %i",
    async (process) => {
      let respond: () => void = () => undefined;
      const { seen, cookie, logout, port } = await started((_message, response) => {
        respond = () => response.writeHead(401).end();
      });
      const { socket, received } = await rawBrowser(port);
      socket.write(`${HEAD(cookie, "Content-Length: 2")}ok`);
      await expect.poll(() => seen).toHaveLength(1);
      await logout(process);
      respond();
      await expect.poll(() => received.isClosed).toBe(true);
      // Signed out, and not the 502 of a rejected token.
      expect(received.text).toMatch(/^HTTP\/1\.1 401 /);
      expect(seen).toHaveLength(1);
    },
  );
});

// Socket.IO runs middleware of Express on upgrades too, with a response that is none of node:http.
import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { Server, type Socket } from "socket.io";
import { io as connect, type Socket as ClientSocket } from "socket.io-client";
import { describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser, startTestProvider } from "../../src/testing/index.js";
import { stoppedAfterEach } from "../support/stopped-after-each.js";

const running = stoppedAfterEach();

type EngineMiddleware = Parameters<Server["engine"]["use"]>[0];

interface Application {
  readonly server: HttpServer;
  readonly guard: EngineMiddleware;
  userOf(request: unknown): Promise<unknown>;
}

const APPLICATIONS: Readonly<Record<string, (options: IdpAuthOptions) => Application>> = {
  Express(options) {
    const [app, auth] = [express(), expressAuth(options)];
    auth.mount(app);
    return {
      server: createServer(app),
      guard: auth.idpRequired,
      userOf: async (request) => (await auth.getSession(request as never))?.user,
    };
  },
  "node:http"(options) {
    const auth = nodeAuth(options);
    return {
      server: createServer(auth.listener((_request, response) => response.writeHead(404).end())),
      guard: ((request: never, response: never, next: (error?: unknown) => void) =>
        auth
          .idpRequired(() => next())(request, response)
          .catch(next)) as EngineMiddleware,
      userOf: async (request) => (await auth.getSession(request as never))?.user,
    };
  },
};

describe.each(Object.entries(APPLICATIONS))(
  "io.engine.use(auth.idpRequired) with %s",
  (_n, make) => {
    async function open() {
      const provider = await startTestProvider();
      running.push(() => provider.stop());
      const { issuer, clientId, clientSecret } = provider;
      const { server, guard, userOf } = make({
        env: {},
        issuer,
        clientId,
        clientSecret,
        secretKey: "a secret key of at least 32 bytes!",
        log: false,
      });
      const io = new Server(server);
      io.engine.use(guard);
      io.on("connection", (socket: Socket) => {
        void userOf(socket.request).then((user) => socket.emit("user", user));
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      running.push(() => io.close());
      const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      const browser = new CookieBrowser({ origin });
      const socketOf = (transports: string[]): ClientSocket => {
        const cookie = browser.cookies.header(new URL(origin)) ?? "";
        const socket = connect(origin, {
          transports,
          reconnection: false,
          forceNew: true,
          extraHeaders: { cookie },
        });
        running.push(() => socket.close());
        return socket;
      };
      return { browser, socketOf };
    }

    const heard = (socket: ClientSocket, event: string) =>
      new Promise<unknown>((resolve) => socket.once(event, resolve));

    it.each(["websocket", "polling", "polling, then websocket"])(
      "a signed-in user connects by %s, and others do not",
      async (name) => {
        const { browser, socketOf } = await open();
        const transports = name.split(", then ");
        expect(await heard(socketOf(transports), "connect_error")).toBeInstanceOf(Error);
        await browser.follow("/idpauth/login/");
        const socket = socketOf(transports);
        expect(await heard(socket, "user")).toMatchObject({ email: "ada@example.com" });
        if (transports.length > 1 && socket.io.engine.transport.name !== "websocket")
          await new Promise((resolve) => socket.io.engine.once("upgrade", resolve));
        await browser.get("/idpauth/logout/?response=json");
        expect(await heard(socketOf(transports), "connect_error")).toBeInstanceOf(Error);
      },
    );
  },
);

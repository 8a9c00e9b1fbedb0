// How adapters tell that a request has ended: `FrameworkAdapter.onClose`.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import createFastify from "fastify";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth as express } from "../../src/adapters/express/express.js";
import { idpAuth as fastify } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle, OpenResponses } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa } from "../../src/adapters/koa/koa.js";
import { idpAuth as node } from "../../src/adapters/node/node.js";
import type { FrameworkAdapter } from "../../src/adapter.js";
import { signedInAs } from "../../src/testing/index.js";
import { BARE, serveBare, type Bare } from "./applications/bare.js";
import { Connection } from "./applications/connection.js";
import { UNREACHED_BY_ENV } from "../support/options-for.js";

const made = vi.hoisted(() => [] as FrameworkAdapter<never>[]);
vi.mock(import("../../src/auth/create-idp-auth.js"), async (load) => {
  const original = await load();
  const createIdpAuth: typeof original.createIdpAuth = (options, adapter) => {
    made.push(adapter);
    return original.createIdpAuth(options, adapter);
  };
  return { ...original, createIdpAuth };
});

const CREATE = {
  "node:http": node,
  "Express 4": express,
  "Express 5": express,
  Fastify: fastify,
  Koa: koa,
  Hono: hono,
  fetch: fetchStyle,
};
type Name = keyof typeof BARE;
const NAMES = Object.keys(BARE) as Name[];
/** A `Request` alone does not tell that its response is complete; see "fetch" below. */
const ON_NODE = NAMES.filter((name) => name !== "fetch");

/**
 * These frameworks' requests have no reference to their response. The adapter learns it when a
 * request passes its listener or plugin.
 */
const MOUNTED: Partial<Record<Name, () => Bare>> = {
  "node:http": () => {
    const auth = node(UNREACHED_BY_ENV);
    return { listener: async (...of) => auth.listener(await BARE["node:http"].listener(...of)) };
  },
  Fastify: () => {
    const auth = fastify(UNREACHED_BY_ENV);
    return {
      listener: (handle, parsed) =>
        BARE.Fastify.listener(handle, parsed, (app) => app.register(auth.plugin)),
    };
  },
};

const GET = "GET / HTTP/1.1\r\nHost: app.example\r\n\r\n";
const UPGRADE =
  "GET / HTTP/1.1\r\nHost: app.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

const open: { server: Server; connection: Connection }[] = [];
afterEach(() => {
  for (const { server, connection } of open.splice(0)) {
    connection.end();
    server.close().closeAllConnections();
  }
});

type OnClose = (raw: never, closed: () => void) => void;

async function connected(
  name: Name,
  handle: (raw: never, onClose: OnClose) => Promise<string>,
  parsed = false,
) {
  const mounted = MOUNTED[name]?.();
  if (mounted === undefined) CREATE[name]();
  const adapter = made.at(-1)!;
  const { server, port } = await serveBare(
    mounted ?? BARE[name],
    (raw) =>
      handle(raw, (of, closed) => {
        adapter.onClose?.(of, closed);
      }),
    parsed,
  );
  const connection = new Connection(port);
  open.push({ server, connection });
  const sockets: NodeJS.EventEmitter[] = [];
  server.on("connection", (socket: NodeJS.EventEmitter) => sockets.push(socket));
  return { connection, sockets };
}

/** A promise and the function that fulfils it, which counts its calls. */
function signal() {
  let fulfil = (): void => undefined;
  const promise = new Promise<void>((resolve) => (fulfil = resolve));
  return { promise, fire: vi.fn(() => fulfil()) };
}

describe.each(ON_NODE)("%s", (name) => {
  it("reports once that a response is complete, for each of two requests on a connection, and leaves no listener", async () => {
    const ends = [signal(), signal()];
    let at = 0;
    const { connection, sockets } = await connected(name, (raw, onClose) => {
      onClose(raw, ends[at++]!.fire);
      return Promise.resolve("done");
    });
    const listeners: number[] = [];
    for (const end of ends) {
      connection.write(GET);
      expect((await connection.response()).text).toBe("done");
      await end.promise;
      listeners.push(sockets[0]!.listenerCount("close"));
    }
    expect([sockets.length, listeners[1]]).toEqual([1, listeners[0]]);
    connection.end();
    await once(sockets[0]!, "close");
    expect(ends.map(({ fire }) => fire.mock.calls.length)).toEqual([1, 1]);
  });

  it("does not report it before the response, though the body was read", async () => {
    const [ended, respond, asked] = [signal(), signal(), signal()];
    const { connection } = await connected(
      name,
      async (raw, onClose) => {
        onClose(raw, ended.fire);
        asked.fire();
        await respond.promise;
        return String(ended.fire.mock.calls.length);
      },
      true,
    );
    connection.write(
      "POST / HTTP/1.1\r\nHost: app.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b",
    );
    await asked.promise;
    // The events of the body's end come first.
    await new Promise((resolve) => setImmediate(resolve));
    respond.fire();
    expect((await connection.response()).text).toBe("0");
    await ended.promise;
  });

  it("reports it, asynchronously, when the response was complete before", async () => {
    const [ended, late] = [signal(), signal()];
    const { connection } = await connected(name, (raw, onClose) => {
      onClose(raw, () => {
        ended.fire();
        onClose(raw, late.fire);
        expect(late.fire).not.toHaveBeenCalled();
      });
      return Promise.resolve("done");
    });
    connection.write(GET);
    await connection.response();
    await late.promise;
    expect([ended.fire.mock.calls.length, late.fire.mock.calls.length]).toEqual([1, 1]);
  });

  it("reports that the connection of an upgraded request has closed, not before", async () => {
    const [ended, asked] = [signal(), signal()];
    const { connection } = await connected(name, (raw, onClose) => {
      onClose(raw, ended.fire);
      asked.fire();
      return Promise.resolve("this application does not upgrade");
    });
    connection.write(UPGRADE);
    await asked.promise;
    await connection.response();
    expect(ended.fire).not.toHaveBeenCalled();
    connection.end();
    await ended.promise;
    expect(ended.fire).toHaveBeenCalledTimes(1);
  });
});

describe.each(NAMES)("%s", (name) => {
  it("reports once that the client has left before the response", async () => {
    const [ended, asked, respond] = [signal(), signal(), signal()];
    const { connection } = await connected(name, async (raw, onClose) => {
      onClose(raw, ended.fire);
      asked.fire();
      await respond.promise;
      return "too late";
    });
    connection.write(GET);
    await asked.promise;
    connection.end();
    await ended.promise;
    respond.fire();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended.fire).toHaveBeenCalledTimes(1);
  });
});

describe.each(["node:http", "Fastify"] as const)(
  "%s without the listener or the plugin",
  (name) => {
    async function serve(isGuarded: boolean) {
      const ended = signal();
      const auth = name === "Fastify" ? fastify(UNREACHED_BY_ENV) : node(UNREACHED_BY_ENV);
      const adapter = made.at(-1)!;
      const watched = (raw: object) => {
        adapter.onClose?.(raw as never, ended.fire);
        return "done";
      };
      const server = createServer();
      if ("plugin" in auth) {
        const app = createFastify();
        app.get("/", { preHandler: isGuarded ? [auth.idpRequired] : [] }, (request, reply) =>
          reply.send(watched(request)),
        );
        await app.ready();
        server.on("request", app.routing);
      } else {
        const guarded = auth.idpRequired((request, response) => response.end(watched(request)));
        if (isGuarded) server.on("request", (request, response) => void guarded(request, response));
        else server.on("request", (request, response) => response.end(watched(request)));
      }
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const connection = new Connection((server.address() as AddressInfo).port);
      open.push({ server, connection });
      const cookie = await signedInAs(auth);
      // When the second response arrives, the first one is complete.
      for (let count = 0; count < 2; count += 1) {
        connection.write(`GET / HTTP/1.1\r\nHost: app.example\r\nCookie: ${cookie}\r\n\r\n`);
        expect((await connection.response()).text).toBe("done");
      }
      return { ended, connection };
    }

    it("reports that a guarded response is complete", async () => {
      const { ended, connection } = await serve(true);
      await expect.poll(() => ended.fire.mock.calls.length).toBe(2);
      expect(connection.socket.destroyed).toBe(false);
    });

    it("reports only that the connection has closed if the route is not guarded", async () => {
      const { ended, connection } = await serve(false);
      expect(ended.fire).not.toHaveBeenCalled();
      connection.end();
      await ended.promise;
      expect(ended.fire).toHaveBeenCalledTimes(2);
    });
  },
);

describe("node:http2", () => {
  it("reports that a stream has closed: after its response, and when the client resets it", async () => {
    node();
    const adapter = made.at(-1)!;
    const ends: Record<string, ReturnType<typeof signal>> = {
      "/complete": signal(),
      "/reset": signal(),
    };
    const asked = signal();
    const server = createHttp2Server((request, response) => {
      adapter.onClose?.(request as never, ends[request.url]!.fire);
      if (request.url === "/complete") response.end("done");
      else asked.fire();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    session.request({ ":path": "/complete" }).resume();
    await ends["/complete"]!.promise;
    const stream = session.request({ ":path": "/reset" });
    await asked.promise;
    stream.close();
    await ends["/reset"]!.promise;
    expect(Object.values(ends).map(({ fire }) => fire.mock.calls.length)).toEqual([1, 1]);
    session.destroy();
    server.close();
  });
});

describe("fetch: the response of a guard's handler reports it", () => {
  const request = () => new Request("https://app.example/");

  it("when its body was read to the end, and the response stays as it was", async () => {
    const [responses, raw, ended] = [new OpenResponses(), request(), signal()];
    responses.onClose(raw, raw.signal, ended.fire);
    const headers = new Headers({ "content-type": "text/event-stream" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const followed = responses.follow(raw, new Response("tick", { status: 202, headers }));
    expect([
      followed.status,
      followed.headers.getSetCookie(),
      ended.fire.mock.calls.length,
    ]).toEqual([202, ["a=1", "b=2"], 0]);
    expect([await followed.text(), ended.fire.mock.calls.length]).toEqual(["tick", 1]);
  });

  it("when its body was canceled, which the application's stream learns, or failed, or there is none, or the handler failed", async () => {
    const canceled = vi.fn();
    const broken = new Error("the application's own");
    const bodies: ((responses: OpenResponses, raw: Request) => Promise<unknown>)[] = [
      async (responses, raw) =>
        responses
          .follow(raw, new Response(new ReadableStream({ cancel: canceled })))
          .body?.cancel("left"),
      async (responses, raw) => {
        const body = new ReadableStream({ pull: () => Promise.reject(broken) });
        await expect(responses.follow(raw, new Response(body)).text()).rejects.toBe(broken);
      },
      (responses, raw) =>
        Promise.resolve(responses.follow(raw, new Response(null, { status: 204 }))),
      (responses, raw) => {
        responses.end(raw);
        return Promise.resolve();
      },
    ];
    for (const finish of bodies) {
      const [responses, raw, ended] = [new OpenResponses(), request(), signal()];
      responses.onClose(raw, raw.signal, ended.fire);
      await finish(responses, raw);
      expect(ended.fire).toHaveBeenCalledTimes(1);
    }
    expect(canceled).toHaveBeenCalledWith("left");
  });

  it("or by the request's signal, once, also if that has aborted already", async () => {
    const controller = new AbortController();
    const raw = new Request("https://app.example/", { signal: controller.signal });
    const [responses, ended, late] = [new OpenResponses(), signal(), signal()];
    responses.onClose(raw, raw.signal, ended.fire);
    controller.abort();
    responses.end(raw);
    responses.onClose(raw, raw.signal, late.fire);
    expect([ended.fire.mock.calls.length, late.fire.mock.calls.length]).toEqual([1, 0]);
    await late.promise;
  });

  it("and the response of a request that nobody watches is the very response", () => {
    const response = new Response("tick");
    expect(new OpenResponses().follow(request(), response)).toBe(response);
  });
});

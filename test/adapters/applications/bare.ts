import {
  createServer,
  ServerResponse,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { bodyParser } from "@koa/bodyparser";
import type express from "express";
import Fastify, { type FastifyInstance } from "fastify";
import { Hono, type Context } from "hono";
import Koa from "koa";
import { EXPRESS } from "./express.js";

/**
 * Handles a request: gets the object that the framework's adapter takes, and gives the response's
 * text, which the framework sends.
 */
export type Handle = (raw: never) => Promise<string>;

/**
 * An application of a framework without idpauth, for tests of what an adapter makes of the
 * framework's requests.
 */
export interface Bare {
  /**
   * @param parsed whether a body parser runs before the handler
   * @param mount registers idpauth in an application that takes plugins
   */
  listener(
    handle: Handle,
    parsed?: boolean,
    mount?: (app: FastifyInstance) => unknown,
  ): Promise<RequestListener>;
}

const FORM = "application/x-www-form-urlencoded";

function bareExpress(library: typeof express): Bare {
  return {
    listener(handle, parsed = false) {
      const app = library();
      if (parsed) app.use(library.json(), library.urlencoded({ extended: false }));
      app.use(
        (request, response, next) =>
          void handle(request as never).then((text) => response.send(text), next),
      );
      return Promise.resolve(app as RequestListener);
    },
  };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const bareNode: Bare = {
  listener(handle, parsed = false) {
    return Promise.resolve((request, response) => {
      void (async () => {
        if (parsed)
          Object.assign(request, {
            body: Object.fromEntries(new URLSearchParams(await textOf(request))),
          });
        response.end(await handle(request as never));
      })();
    });
  },
};

const bareFastify: Bare = {
  async listener(handle, parsed = false, mount = () => undefined) {
    const app = Fastify();
    await mount(app);
    if (parsed) {
      app.addContentTypeParser(FORM, { parseAs: "string" }, (_request, body, done) => {
        done(null, Object.fromEntries(new URLSearchParams(String(body))));
      });
      app.all("/", async (request) => handle(request as never));
    } else
      app.addHook("onRequest", async (request, reply) =>
        reply.send(await handle(request as never)),
      );
    await app.ready();
    return (request, response) => {
      app.routing(request, response);
    };
  },
};

const bareKoa: Bare = {
  listener(handle, parsed = false) {
    const app = new Koa();
    if (parsed) app.use(bodyParser());
    app.use(async (ctx) => {
      ctx.body = await handle(ctx as never);
    });
    const callback = app.callback();
    return Promise.resolve((request, response) => void callback(request, response));
  },
};

/** @param read how the application reads the body first */
export function bareHono(read: (c: Context) => Promise<unknown> = (c) => c.req.parseBody()): Bare {
  return {
    listener(handle, parsed = false) {
      const app = new Hono();
      app.use(async (c, next) => {
        if (parsed) await read(c);
        await next();
      });
      app.all("/", async (c) => c.text(await handle(c as never)));
      const listener = getRequestListener(app.fetch);
      return Promise.resolve((request, response) => void listener(request, response));
    },
  };
}

const bareFetch: Bare = {
  listener(handle, parsed = false) {
    const listener = getRequestListener(async (request) => {
      if (parsed) await request.text();
      return new Response(await handle(request as never));
    });
    return Promise.resolve((request, response) => void listener(request, response));
  },
};

export const BARE = {
  "node:http": bareNode,
  "Express 4": bareExpress(EXPRESS[4]),
  "Express 5": bareExpress(EXPRESS[5]),
  Fastify: bareFastify,
  Koa: bareKoa,
  Hono: bareHono(),
  fetch: bareFetch,
} as const;

/**
 * Serves on a free port of 127.0.0.1. Requests to upgrade a connection run through the application,
 * as its middleware expects.
 */
export async function serveBare(
  bare: Bare,
  handle: Handle,
  parsed = false,
): Promise<{ readonly server: Server; readonly port: number }> {
  const listener = await bare.listener(handle, parsed);
  const server = createServer(listener);
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    listener(request, response);
    // As a WebSocket does.
    socket.resume().on("end", () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

import { createServer, Server as HttpServer, type RequestListener } from "node:http";
import { Server as SocketServer, type AddressInfo } from "node:net";
import { Server as TlsServer } from "node:tls";
import { isLoopback } from "../loopback-hostname.js";
import { fetchListener, type FetchFunction } from "./fetch-listener.js";

type AnyFunction = (...parameters: never[]) => unknown;

/**
 * An application under test: one of Express, Koa, Fastify, Hono or NestJS; a listener or server of
 * node:http, listening or not; a function from `Request` to `Response`, or an object with such a
 * `fetch`; or the origin of one that runs elsewhere, such as `http://localhost:3000`. A function
 * that takes two parameters or more counts as a listener.
 */
export type TestedApplication =
  | string
  | URL
  | SocketServer
  | AnyFunction
  | {
      /** A function from `Request` to `Response`, as of Hono. */
      readonly fetch: AnyFunction;
    }
  | {
      /** Koa: returns the request listener. */
      callback(): AnyFunction;
    }
  | {
      /** Fastify: loads the plugins. */
      ready(): PromiseLike<unknown>;
      /** Fastify: the request listener. */
      readonly routing: AnyFunction;
    }
  | {
      /** NestJS: creates the controllers and routes. */
      init(): Promise<unknown>;
      /** NestJS: Express or Fastify, on which it runs. */
      getHttpAdapter(): {
        /** Returns the application of Express or Fastify. */
        getInstance(): unknown;
      };
    };

/** A reachable application. */
export interface Served {
  /** `http://127.0.0.1:port`, or what was given. */
  readonly origin: string;
  /** The port of the origin. */
  readonly port: number;
  /** The latest error that a function of the Fetch standard's style threw. */
  failure(): unknown;
  /** Releases the application. A server that was opened for tests closes at the last release. */
  release(): Promise<void>;
}

/** A server that was opened for tests. */
interface Opened {
  /** Settles when it listens. */
  readonly server: Promise<HttpServer>;
  /** The number of users of the server, including those that wait for it to listen. */
  users: number;
  failure: unknown;
}

const opened = new WeakMap<object, Opened>();

/**
 * Makes an application reachable, on a free port of 127.0.0.1 if it does not listen yet. All
 * browsers of one application share one server, which keeps no process alive.
 *
 * @throws TypeError if the application cannot be reached
 */
export async function serve(app: TestedApplication): Promise<Served> {
  if (typeof app === "string" || app instanceof URL) return runningElsewhere(app);
  assertReachable(app);
  const own = ownServer(app);
  if (own?.listening === true && !opened.has(app)) return listening(own);
  const entry = opened.get(app) ?? open(app);
  // Counted before the first await, so that a release meanwhile does not close the server.
  entry.users += 1;
  const server = await entry.server;
  let isReleased = false;
  return {
    ...addressOf(server),
    failure: () => entry.failure,
    async release() {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      if (entry.users > 0) return;
      opened.delete(app);
      const closed = new Promise((resolve) => server.close(resolve));
      // No browser is left, and a response that never comes must not delay the end of the test.
      server.closeAllConnections();
      await closed;
    },
  };
}

function open(app: Exclude<TestedApplication, string | URL>): Opened {
  const failed = (error: unknown): void => {
    entry.failure = error;
  };
  const entry: Opened = { server: listen(app, failed), users: 0, failure: undefined };
  opened.set(app, entry);
  entry.server.catch(() => opened.delete(app));
  return entry;
}

async function listen(
  app: Exclude<TestedApplication, string | URL>,
  failed: (error: unknown) => void,
): Promise<HttpServer> {
  const server = await serverOf(app, failed);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.unref();
  return server;
}

async function serverOf(app: unknown, failed: (error: unknown) => void): Promise<HttpServer> {
  const own = ownServer(app);
  if (own === undefined) return createServer(await listenerOf(app, failed));
  if (isFastify(app)) await app.ready();
  return own;
}

async function listenerOf(
  app: unknown,
  failed: (error: unknown) => void,
): Promise<RequestListener> {
  if (typeof app === "function")
    return app.length >= 2 ? (app as RequestListener) : fetchListener(app as FetchFunction, failed);
  if (typeof app === "object" && app !== null) {
    if (has(app, "init") && has(app, "getHttpAdapter")) {
      await app.init();
      return listenerOf((app.getHttpAdapter() as { getInstance(): unknown }).getInstance(), failed);
    }
    if (isFastify(app)) {
      await app.ready();
      return (request, response) => app.routing(request, response);
    }
    if (has(app, "callback")) return app.callback() as RequestListener;
    if (has(app, "fetch")) return fetchListener((request) => app.fetch(request), failed);
  }
  throw unreachable();
}

function unreachable(): TypeError {
  return new TypeError(
    "`signIn` doesn't know how to reach this application. Pass an Express, Koa, Fastify, Hono or NestJS application, a node:http listener " +
      "or server, a function from Request to Response, or the origin of a running application, such as http://localhost:3000. " +
      "Await a promise first. If an object contains the application, pass only the application.",
  );
}

function has<Name extends string>(
  value: object,
  name: Name,
): value is Record<Name, (...parameters: unknown[]) => unknown> {
  return typeof (value as Record<string, unknown>)[name] === "function";
}

/**
 * A server that belongs to the application. Fastify's also gets the upgrades to WebSockets, which a
 * listener doesn't.
 */
function ownServer(app: unknown): HttpServer | undefined {
  const server = isFastify(app) ? app.server : app;
  return server instanceof HttpServer ? server : undefined;
}

function isFastify(app: unknown): app is {
  readonly server: unknown;
  ready(): Promise<unknown>;
  routing: RequestListener;
} {
  return typeof app === "object" && app !== null && has(app, "ready") && has(app, "routing");
}

/** Checks the type for JavaScript tests. */
function assertReachable(app: unknown): void {
  if (typeof app !== "function" && (typeof app !== "object" || app === null)) throw unreachable();
  if (app instanceof SocketServer && (app instanceof TlsServer || !(app instanceof HttpServer))) {
    throw new TypeError(
      "Only plain HTTP/1.1 servers are supported. Pass the listener or application instead of its server, and set the option `origin` for https.",
    );
  }
}

function listening(server: HttpServer): Served {
  return { ...addressOf(server), failure: () => undefined, release: async () => undefined };
}

function addressOf(server: HttpServer): Pick<Served, "origin" | "port"> {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new TypeError("The server doesn't listen on a TCP port.");
  const { address: host, port } = address satisfies AddressInfo;
  const name = host === "::1" ? "[::1]" : host;
  // A server that listens at every address does so at this one.
  return { origin: `http://${isLoopback(name) ? name : "127.0.0.1"}:${port}`, port };
}

function runningElsewhere(given: string | URL): Served {
  const text = String(given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || !isLoopback(url.hostname)) {
    throw new TypeError(
      "Pass a running application as its http origin on this machine, such as http://localhost:3000.",
    );
  }
  if (url.pathname + url.search + url.hash !== "/") {
    throw new TypeError(
      `Pass only the origin, ${url.origin}. Set the endpoints' path in the option \`mountPath\`.`,
    );
  }
  return {
    origin: url.origin,
    port: Number(url.port || 80),
    failure: () => undefined,
    release: async () => undefined,
  };
}

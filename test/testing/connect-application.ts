import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  AdapterSetup,
  ApplicationRoute,
  RouteGuard,
  RunningApplication,
} from "idpauth-conformance";
import { listen } from "../adapters/applications/listen.js";
import {
  idpAuth,
  type ConnectIdpAuth,
  type GuardResponses,
  type Middleware,
} from "./connect-adapter.js";

const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, response, { reason, loginUrl }) => {
    answer(response, 418, { reason, loginUrl });
  },
  unauthenticated: (_request, response, { reason, loginUrl }) => {
    answer(response, 419, { reason, loginUrl });
  },
  unavailable: (_request, response, { error }) => {
    answer(response, 520, { code: error.code });
  },
  forbidden: (_request, response, { kind }) => {
    answer(response, 423, { kind });
  },
  stepUp: (_request, response, { isNavigation, loginUrl }) => {
    answer(response, 424, { isNavigation, loginUrl });
  },
};

const fail = () => Promise.reject(new Error("no response"));
const FAILING_ANSWERS: GuardResponses = {
  navigation: () => {
    throw new Error("no response");
  },
  unauthenticated: fail,
  unavailable: fail,
  forbidden: fail,
  stepUp: fail,
};

/** A framework that has middleware and error handlers, and nothing else. */
class Application {
  readonly #middleware: Middleware[] = [];
  readonly errorHandlers: ConnectIdpAuth["errorHandler"][] = [];

  use(middleware: Middleware): void {
    this.#middleware.push(middleware);
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const failed = (error: unknown, at = 0): void => {
      const handler = this.errorHandlers[at];
      if (handler !== undefined)
        handler(error, request, response, (next) => {
          failed(next, at + 1);
        });
      else if (response.headersSent) response.destroy();
      else answer(response, 500, {});
    };
    const run = (at: number): void => {
      const next = (error?: unknown): void => {
        if (error === undefined) run(at + 1);
        else failed(error);
      };
      try {
        const middleware = this.#middleware[at];
        if (middleware !== undefined) middleware(request, response, next);
        else answer(response, 404, { error: "there is nothing here" });
      } catch (error) {
        failed(error);
      }
    };
    run(0);
  };
}

/** The suite's application on that framework. */
export async function startConnect(setup: AdapterSetup): Promise<RunningApplication> {
  const app = new Application();
  const auths = setup.mounts.map((options) => idpAuth(options));
  app.use((_request, response, next) => {
    for (const [name, value] of setup.earlier) response.appendHeader(name, value);
    next();
  });
  const [first] = auths;
  if (setup.csrf && first) app.use(first.csrf);
  for (const auth of auths) auth.mount(app);
  for (const { api, rule, isAfterParser } of setup.proxied) {
    if (isAfterParser)
      app.use((request, _response, next) => {
        request.resume().on("end", () => {
          next();
        });
      });
    if (first) app.use(first.proxyApi(api, rule));
  }
  for (const route of setup.routes) app.use(routed(setup.basePath, route, auths));
  if (setup.handlesErrors)
    app.errorHandlers.push((error, _request, response) => {
      setup.caught(error);
      const { message, status = 500 } = error as Error & { status?: number };
      answer(response, status, { caught: message });
    });
  app.errorHandlers.push(...auths.map(({ errorHandler }) => errorHandler));
  return { auths, handle: app.handle, ...(await listen(app.handle)) };
}

function routed(
  basePath: string,
  route: ApplicationRoute,
  auths: readonly ConnectIdpAuth[],
): Middleware {
  const guard = guardOf(auths, route.guard);
  return (request, response, next) => {
    const { method, url = "/" } = request;
    const path = url.startsWith("/")
      ? url.split("?", 1)[0]
      : URL.canParse(url) && new URL(url).pathname;
    if ((method === "HEAD" ? "GET" : method) !== route.method || path !== basePath + route.path) {
      next();
      return;
    }
    guard(request, response, (error) => {
      if (error === undefined) handle(route, auths, request, response).catch(next);
      else next(error);
    });
  };
}

async function handle(
  route: ApplicationRoute,
  auths: readonly ConnectIdpAuth[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (route.kind === "echo") {
    request.pipe(response);
    return;
  }
  for (const [name, value] of Object.entries(route.headers ?? {})) response.setHeader(name, value);
  if (route.kind === "stream") {
    const stream = await auths[route.guard?.mount ?? 0]?.eventStream(request, response);
    if (stream) route.opened(stream);
    return;
  }
  answer(response, 200, await route.respond(auths, request));
}

function guardOf(auths: readonly ConnectIdpAuth[], guard: RouteGuard | undefined): Middleware {
  const auth = auths[guard?.mount ?? -1];
  if (auth === undefined)
    return (_request, _response, next) => {
      next();
    };
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.end(JSON.stringify(body));
}

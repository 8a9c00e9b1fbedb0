import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import {
  idpAuth,
  type GuardResponses,
  type Handler,
  type NodeIdpAuth,
} from "../../../src/adapters/node/node.js";
import type {
  ApplicationRoute,
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { listen } from "./listen.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

type Listener = Handler<IncomingMessage, ServerResponse>;

const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, response, { reason, loginUrl }) =>
    answer(response, 418, { reason, loginUrl }),
  unauthenticated: (_request, response, { reason, loginUrl }) =>
    answer(response, 419, { reason, loginUrl }),
  unavailable: (_request, response, { error }) => answer(response, 520, { code: error.code }),
  forbidden: (_request, response, { kind }) => answer(response, 423, { kind }),
  stepUp: (_request, response, { isNavigation, loginUrl }) =>
    answer(response, 424, { isNavigation, loginUrl }),
};

/** The suite's application as people write it without any framework. */
export async function startNode(setup: AdapterSetup): Promise<RunningApplication> {
  const auths = setup.mounts.map((options) => idpAuth(options));
  const routes = new Map(
    setup.routes.map((route) => [
      `${route.method} ${setup.basePath}${route.path}`,
      guarded(auths, route, handlerOf(route, auths)),
    ]),
  );

  const routed: Listener = (request, response) => {
    const { method, url = "/" } = request;
    const path = url.startsWith("/")
      ? url.split("?", 1)[0]
      : URL.canParse(url)
        ? new URL(url).pathname
        : url;
    const handler = routes.get(`${method === "HEAD" ? "GET" : String(method)} ${String(path)}`);
    if (handler !== undefined) return handler(request, response);
    answer(response, 404, { error: "there is nothing here" });
    return undefined;
  };

  const application = setup.proxied.reduceRight<Listener>((next, { api, rule, isAfterParser }) => {
    const proxy = auths[0]?.proxyApi(api, rule)(next) ?? next;
    return isAfterParser
      ? async (request, response) => (await text(request), proxy(request, response))
      : proxy;
  }, routed);
  const onError = (error: unknown, _request: IncomingMessage, response: ServerResponse): void => {
    setup.caught(error);
    const { message, status = 500 } = error as Error & { status?: number };
    answer(response, status, { caught: message });
  };
  // Each mount's listener leaves to the next one what is not its own.
  const all = auths.reduceRight<Listener>(
    (next, auth) => auth.listener(next, setup.handlesErrors ? { onError } : {}),
    application,
  );
  const listener = setup.csrf && auths[0] ? auths[0].csrf(all) : all;
  return {
    auths,
    handle: listener,
    ...(await listen((request, response) => {
      for (const [name, value] of setup.earlier) response.appendHeader(name, value);
      listener(request, response);
    })),
  };
}

function handlerOf(route: ApplicationRoute, auths: readonly NodeIdpAuth[]): Listener {
  if (route.kind === "echo") return (request, response) => request.pipe(response);
  return async (request, response) => {
    for (const [name, value] of Object.entries(route.headers ?? {}))
      response.setHeader(name, value);
    if (route.kind === "stream") {
      route.opened(await auths[route.guard?.mount ?? 0]!.eventStream(request, response));
      return;
    }
    answer(response, 200, await route.respond(auths, request));
  };
}

function guarded(
  auths: readonly NodeIdpAuth[],
  { guard }: { readonly guard?: RouteGuard },
  handler: Listener,
): Listener {
  const auth = auths[guard?.mount ?? -1];
  if (auth === undefined) return handler;
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired(handler);
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  })(handler);
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.end(JSON.stringify(body));
}

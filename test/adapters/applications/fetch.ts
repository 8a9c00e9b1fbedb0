import type {
  FetchIdpAuth,
  Guard,
  GuardResponses,
  idpAuth as createFetchIdpAuth,
} from "../../../src/adapters/fetch/fetch.js";
import type {
  ApplicationRoute,
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

/**
 * A server of the Fetch standard's style on a free port of 127.0.0.1: that of Node, Bun or Deno.
 */
export type Serve = (
  fetch: (request: Request, env?: unknown) => Response | Promise<Response>,
) => Promise<{ readonly port: number; stop(): Promise<void> }>;

const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, { reason, loginUrl }) =>
    Response.json({ reason, loginUrl }, { status: 418 }),
  unauthenticated: (_request, { reason, loginUrl }) =>
    Response.json({ reason, loginUrl }, { status: 419 }),
  unavailable: (_request, { error }) => Response.json({ code: error.code }, { status: 520 }),
  forbidden: (_request, { kind }) => Response.json({ kind }, { status: 423 }),
  stepUp: (_request, { isNavigation, loginUrl }) =>
    Response.json({ isNavigation, loginUrl }, { status: 424 }),
};

/**
 * The suite's application as people write it without a framework. Only types are imported, so that
 * Bun and Deno run this file over the built package.
 */
export async function startFetch(
  idpAuth: typeof createFetchIdpAuth,
  serve: Serve,
  setup: AdapterSetup,
): Promise<RunningApplication> {
  const auths = setup.mounts.map((options) => idpAuth(options));
  for (const auth of auths) auth.start();

  const handlers = new Map<string, (request: Request) => Response | Promise<Response>>();
  for (const route of setup.routes) {
    const guarding = auths[route.guard?.mount ?? -1];
    const handler = handlerOf(route, auths);
    handlers.set(
      `${route.method} ${setup.basePath}${route.path}`,
      guarding ? guardOf(guarding, route.guard)(handler) : handler,
    );
  }

  async function routed(request: Request): Promise<Response> {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const response = await handlers.get(`${method} ${new URL(request.url).pathname}`)?.(request);
    if (response === undefined) return new Response("not found", { status: 404 });
    return request.method === "HEAD" ? new Response(null, response) : response;
  }

  const application = setup.proxied.reduceRight<typeof routed>(
    (next, { api, rule, isAfterParser }) => {
      const proxy = auths[0]?.proxyApi(api, rule)(next) ?? next;
      return isAfterParser ? async (request) => (await request.text(), proxy(request)) : proxy;
    },
    routed,
  );
  async function answer(request: Request): Promise<Response> {
    for (const auth of auths) {
      const own = await auth.fetch(request);
      if (own !== undefined) return own;
    }
    return application(request);
  }

  const protectedAnswer = setup.csrf && auths[0] ? auths[0].csrf(answer) : answer;
  const server = await serve(async (request) => {
    // Some servers read headers when they are first asked for, and keep them on the request.
    request.headers.get("accept");
    let response: Response;
    try {
      response = await protectedAnswer(request);
    } catch (error) {
      if (!setup.handlesErrors) throw error;
      setup.caught(error);
      const { message, status = 500 } = error as Error & { status?: number };
      response = Response.json({ caught: message }, { status });
    }
    for (const [name, value] of setup.earlier) response.headers.append(name, value);
    return response;
  });
  return { auths, ...server };
}

function handlerOf(
  route: ApplicationRoute,
  auths: readonly FetchIdpAuth[],
): (request: Request) => Response | Promise<Response> {
  if (route.kind === "echo") return (request) => new Response(request.body);
  const { headers = {} } = route;
  if (route.kind === "stream")
    return async (request) => {
      const stream = await auths[route.guard?.mount ?? 0]!.eventStream(request);
      for (const [name, value] of Object.entries(headers)) stream.response.headers.set(name, value);
      route.opened(stream);
      return stream.response;
    };
  return async (request) =>
    Response.json((await route.respond(auths, request)) ?? null, { headers });
}

function guardOf(auth: FetchIdpAuth, guard: RouteGuard | undefined): Guard {
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}

import type { NextRequest } from "next/server";
import type { GuardResponses } from "idpauth/next";
import { auths, hostAuths } from "../../lib/auth";
import { setup } from "../../lib/setup";

const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, _context, { reason, loginUrl }) =>
    Response.json({ reason, loginUrl }, { status: 418 }),
  unauthenticated: (_request, _context, { reason, loginUrl }) =>
    Response.json({ reason, loginUrl }, { status: 419 }),
  unavailable: (_request, _context, { error }) =>
    Response.json({ code: error.code }, { status: 520 }),
  forbidden: (_request, _context, { kind }) => Response.json({ kind }, { status: 423 }),
  stepUp: (_request, _context, { isNavigation, loginUrl }) =>
    Response.json({ isNavigation, loginUrl }, { status: 424 }),
};

const FAILING_ANSWERS: GuardResponses = {
  navigation() {
    throw new Error("no response");
  },
  unauthenticated: () => Promise.reject(new Error("no response")),
  unavailable: () => Promise.reject(new Error("no response")),
  forbidden: () => Promise.reject(new Error("no response")),
  stepUp: () => Promise.reject(new Error("no response")),
};

type Handler = (request: NextRequest) => Promise<Response>;

/** Route handlers have no error handler above them; applications wrap theirs like this. */
function withErrors(handler: Handler): Handler {
  return async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      if (!setup().handlesErrors) throw error;
      setup().caught(error);
      const { status = 500, message } = error as Error & { status?: number };
      return Response.json({ caught: message }, { status });
    }
  };
}

/** As JavaScript without types lets one forget a `return`. */
const forgotten = (() => undefined) as unknown as () => Response;
const FORGETFUL_ANSWERS = {
  navigation: forgotten,
  unauthenticated: forgotten,
  unavailable: forgotten,
};

/** The routes of the setup, and the endpoints of mounts that have no folder of their own. */
const respond: Handler = async (request) => {
  const { routes, basePath, mounts } = setup();
  const all = auths();
  const { pathname } = new URL(request.url);
  const mount = mounts.findIndex(
    ({ mountPath }) => mountPath && `${pathname}/`.startsWith(mountPath),
  );
  const method = request.method as keyof (typeof all)[0]["handlers"];
  if (mount >= 0) return all[mount]!.handlers[method](request);

  const route = routes.find(
    (each) =>
      basePath + each.path === pathname &&
      (each.method === method || (method === "HEAD" && each.method === "GET")),
  );
  if (route === undefined) return new Response(null, { status: 404 });
  const handler: Handler = async () => {
    if (route.kind === "echo") return new Response(request.body);
    if (route.kind === "stream") {
      const stream = await all[route.guard?.mount ?? 0]!.eventStream(request);
      for (const [name, value] of Object.entries(route.headers ?? {}))
        stream.response.headers.set(name, value);
      route.opened(stream);
      return stream.response;
    }
    const body = (await route.respond(hostAuths(), request)) ?? null;
    return Response.json(body, route.headers && { headers: route.headers });
  };
  if (route.guard === undefined) return handler(request);
  const auth = all[route.guard.mount]!;
  const { ownResponses = false, rule } = route.guard;
  if (route.path === "/forgotten") return auth.idpRequiredWith(FORGETFUL_ANSWERS)(handler)(request);
  if (ownResponses === false && rule === undefined) return auth.idpRequired(handler)(request);
  const responses = ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS;
  return auth.idpRequiredWith({ ...responses, ...rule })(handler)(request);
};

const answer = withErrors(async (request) => {
  const [auth] = auths();
  return setup().csrf && auth ? auth.csrf(respond)(request) : respond(request);
});

export {
  answer as GET,
  answer as HEAD,
  answer as POST,
  answer as PUT,
  answer as PATCH,
  answer as DELETE,
  answer as OPTIONS,
};

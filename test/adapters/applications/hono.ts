import { Hono, type Context, type MiddlewareHandler } from "hono";
import type {
  GuardResponses,
  HonoIdpAuth,
  idpAuth as createHonoIdpAuth,
} from "../../../src/adapters/hono/hono.js";
import type {
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import type { Serve } from "./fetch.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

const OWN_ANSWERS: GuardResponses = {
  navigation: (c, { reason, loginUrl }) => c.json({ reason, loginUrl }, 418),
  unauthenticated: (c, { reason, loginUrl }) => c.json({ reason, loginUrl }, 419 as 418),
  unavailable: (c, { error }) => c.json({ code: error.code }, 520 as 500),
  forbidden: (c, { kind }) => c.json({ kind }, 423),
  stepUp: (c, { isNavigation, loginUrl }) => c.json({ isNavigation, loginUrl }, 424),
};

export interface HonoChoices {
  /** `auth.middleware` instead of `auth.routes`. */
  readonly asMiddleware?: boolean;
}

/**
 * The suite's application as people write it with Hono. As for `startFetch`, idpauth and the server
 * are handed in.
 */
export async function startHono(
  idpAuth: typeof createHonoIdpAuth,
  serve: Serve,
  setup: AdapterSetup,
  { asMiddleware = false }: HonoChoices = {},
): Promise<RunningApplication> {
  const app = new Hono();
  app.use(async (c, next) => {
    for (const [name, value] of setup.earlier) c.header(name, value, { append: true });
    await next();
  });
  const auths = setup.mounts.map((options) => idpAuth(options));
  const area = new Hono();
  if (setup.csrf && auths[0]) area.use(auths[0].csrf);
  for (const auth of auths) {
    if (asMiddleware) {
      auth.start();
      area.use(auth.middleware);
    } else auth.mount(area);
  }
  for (const { api, rule, isAfterParser } of setup.proxied) {
    if (isAfterParser) {
      area.use(async (c, next) => {
        await c.req.raw.text();
        await next();
      });
    }
    if (auths[0]) area.use(auths[0].proxyApi(api, rule));
  }
  for (const route of setup.routes) {
    const guarding = auths[route.guard?.mount ?? -1];
    const handler = async (c: Context): Promise<Response> => {
      if (route.kind === "echo") return c.newResponse(c.req.raw.body);
      for (const [name, value] of Object.entries(route.headers ?? {})) c.header(name, value);
      if (route.kind === "stream") {
        const stream = await (guarding ?? auths[0]!).eventStream(c);
        route.opened(stream);
        return stream.response;
      }
      return c.json((await route.respond(auths, c)) ?? null);
    };
    if (guarding !== undefined) area.on(route.method, route.path, guardOf(guarding, route.guard));
    area.on(route.method, route.path, handler);
  }
  app.route(setup.basePath, area);
  if (!setup.handlesErrors) return { auths, ...(await serve(app.fetch)) };
  app.onError((error: Error & { status?: number }, c) => {
    setup.caught(error);
    return c.json({ caught: error.message }, (error.status ?? 500) as 500);
  });
  return { auths, ...(await serve(app.fetch)) };
}

function guardOf(auth: HonoIdpAuth, guard: RouteGuard | undefined): MiddlewareHandler {
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}

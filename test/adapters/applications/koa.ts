import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";
import Koa, { type Middleware, type ParameterizedContext } from "koa";
import { idpAuth, type GuardResponses, type KoaIdpAuth } from "../../../src/adapters/koa/koa.js";
import type {
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { listen } from "./listen.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

const OWN_ANSWERS: GuardResponses = {
  navigation: (ctx, { reason, loginUrl }) => answer(ctx, 418, { reason, loginUrl }),
  unauthenticated: (ctx, { reason, loginUrl }) => answer(ctx, 419, { reason, loginUrl }),
  unavailable: (ctx, { error }) => answer(ctx, 520, { code: error.code }),
  forbidden: (ctx, { kind }) => answer(ctx, 423, { kind }),
  stepUp: (ctx, { isNavigation, loginUrl }) => answer(ctx, 424, { isNavigation, loginUrl }),
};

/** The suite's application as people write it with Koa. */
export async function startKoa(setup: AdapterSetup): Promise<RunningApplication> {
  const app = new Koa({ proxy: setup.trustsProxy });
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!setup.handlesErrors) throw error;
      setup.caught(error);
      const { message, status = 500 } = error as Error & { status?: number };
      answer(ctx, status, { caught: message });
    }
  });
  app.use(async (ctx, next) => {
    for (const [name, value] of setup.earlier) ctx.append(name, value);
    await next();
  });
  const auths = setup.mounts.map((options) => idpAuth(options));
  if (setup.csrf && auths[0]) app.use(auths[0].csrf);
  for (const auth of auths) auth.mount(app);
  for (const { api, rule, isAfterParser } of setup.proxied) {
    if (isAfterParser) app.use(bodyParser());
    if (auths[0]) app.use(auths[0].proxyApi(api, rule));
  }
  const router = new Router(setup.basePath === "" ? {} : { prefix: setup.basePath });
  for (const route of setup.routes) {
    const guarding = auths[route.guard?.mount ?? -1];
    const guards = guarding ? [guardOf(guarding, route.guard)] : [];
    router[route.method === "GET" ? "get" : "post"](route.path, ...guards, async (ctx) => {
      if (route.kind === "echo") {
        ctx.status = 200;
        ctx.body = ctx.req;
        return;
      }
      ctx.set(route.headers ?? {});
      if (route.kind === "stream") {
        const stream = await (guarding ?? auths[0])?.eventStream(ctx);
        if (stream) route.opened(stream);
        return;
      }
      ctx.body = JSON.stringify(await route.respond(auths, ctx));
    });
  }
  app.use(router.routes());
  const listener = app.callback();
  return {
    auths,
    handle: listener,
    ...(await listen((request, response) => void listener(request, response))),
  };
}

function guardOf(auth: KoaIdpAuth, guard: RouteGuard | undefined): Middleware {
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}

function answer(ctx: ParameterizedContext, status: number, body: object): void {
  ctx.status = status;
  ctx.body = body;
}

import { Readable } from "node:stream";
import Router from "@koa/router";
import Koa, { type Context, type Middleware } from "koa";
import { idpAuth } from "idpauth/koa";
import { errorAnswer, type DemoAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes, demoSocket } from "./routes.js";
import { accept } from "./web-socket.js";

/**
 * The demo as a Koa application.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function koaDemo(setup: DemoSetup): DemoApplication {
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      send(ctx, errorAnswer(error));
    }
  });

  const auth = idpAuth(authOptions(setup));
  auth.mount(app);
  if (setup.orders !== undefined) app.use(auth.proxyApi("orders"));
  app.use(auth.csrf);

  const router = new Router({ sensitive: true, strict: true });
  for (const { method, path, guard, answer } of demoRoutes(setup, auth, ({ req }) => textOf(req))) {
    if (guard !== undefined) router.register(path, [method], auth.idpRequiredWith(guard));
    router.register(path, [method], async (ctx) => {
      send(ctx, await answer(ctx));
    });
  }

  const { path, guard, refusal, plainAnswer, opened } = demoSocket(setup, auth);
  const checkOrigin: Middleware = async (ctx, next) => {
    const refused = refusal(ctx.req.headers);
    if (refused === undefined) await next();
    else send(ctx, refused);
  };
  router.get(path, checkOrigin, auth.idpRequiredWith(guard), (ctx) => {
    const accepted = accept(ctx.req, ctx.res, (socket) => {
      opened(socket, ctx);
    });
    if (accepted) ctx.respond = false;
    else send(ctx, plainAnswer());
  });
  app.use(router.routes());

  const unmatched = unmatchedAnswers(setup.env);
  app.use((ctx) => {
    send(ctx, unmatched(ctx.method, ctx.path));
  });
  return { listener: app.callback(), proxyUpgrade: auth.proxyUpgrade, close: () => auth.close() };
}

function send(ctx: Context, { status, headers, body }: DemoAnswer): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = typeof body === "string" ? body || null : Readable.from(body);
}

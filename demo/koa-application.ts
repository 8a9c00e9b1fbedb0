import { Readable } from "node:stream";
import Router from "@koa/router";
import Koa, { type Context } from "koa";
import { idpAuth } from "idpauth/koa";
import { errorAnswer, notFoundAnswer, type DemoAnswer } from "./answers.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { demoRoutes } from "./routes.js";

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

  const router = new Router({ sensitive: true, strict: true });
  for (const { method, path, guard, answer } of demoRoutes(setup, auth)) {
    if (guard !== undefined) router.register(path, [method], auth.idpRequiredWith(guard));
    router.register(path, [method], async (ctx) => {
      send(ctx, await answer(ctx));
    });
  }
  app.use(router.routes());

  app.use((ctx) => {
    send(ctx, notFoundAnswer());
  });
  return { listener: app.callback(), idle: () => auth.idle() };
}

function send(ctx: Context, { status, headers, body }: DemoAnswer): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = typeof body === "string" ? body || null : Readable.from(body);
}

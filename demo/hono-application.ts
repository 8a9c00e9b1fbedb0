import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";
import { errorAnswer, notFoundAnswer } from "./answers.js";
import { responseOf } from "./fetch-response.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { demoRoutes } from "./routes.js";

/**
 * The demo as a Hono application.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function honoDemo(setup: DemoSetup): DemoApplication {
  const app = new Hono();
  const auth = idpAuth(authOptions(setup));
  auth.mount(app);

  for (const { method, path, guard, answer } of demoRoutes(setup, auth)) {
    if (guard !== undefined) app.on(method, path, auth.idpRequiredWith(guard));
    app.on(method, path, async (c) => responseOf(await answer(c), c.req.method));
  }

  app.notFound(() => responseOf(notFoundAnswer()));
  app.onError((error) => responseOf(errorAnswer(error)));
  return { listener: getRequestListener(app.fetch), idle: () => auth.idle() };
}

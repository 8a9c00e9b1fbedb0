import { createAdaptorServer, upgradeWebSocket } from "@hono/node-server";
import { Hono } from "hono";
import { WebSocketServer, type WebSocket } from "ws";
import { idpAuth } from "idpauth/hono";
import { errorAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { responseOf } from "./fetch-response.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes, demoSocket } from "./routes.js";
import { SOCKET_OPTIONS } from "./web-socket.js";

/**
 * The demo as a Hono application.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function honoDemo(setup: DemoSetup): DemoApplication {
  const app = new Hono();
  const auth = idpAuth(authOptions(setup));
  auth.mount(app);
  if (setup.orders !== undefined) app.use(auth.proxyApi("orders"));
  app.use(auth.csrf);

  for (const { method, path, guard, answer } of demoRoutes(setup, auth, (c) =>
    textOf(c.req.raw.body),
  )) {
    if (guard !== undefined) app.on(method, path, auth.idpRequiredWith(guard));
    app.on(method, path, async (c) => responseOf(await answer(c), c.req.method));
  }

  const { path, guard, refusal, plainAnswer, opened } = demoSocket(setup, auth);
  app.get(
    path,
    async (c, next) => {
      const refused = refusal({ origin: c.req.header("origin"), host: c.req.header("host") });
      if (refused !== undefined) return responseOf(refused);
      await next();
      return undefined;
    },
    auth.idpRequiredWith(guard),
    upgradeWebSocket((c) => ({
      onOpen(_event, { raw }) {
        opened(raw as WebSocket, c);
      },
    })),
    () => responseOf(plainAnswer()),
  );

  const unmatched = unmatchedAnswers(setup.env);
  app.notFound((c) => responseOf(unmatched(c.req.method, c.req.path), c.req.method));
  app.onError((error) => responseOf(errorAnswer(error)));
  // With exactOptionalPropertyTypes, the types of ws and @hono/node-server disagree.
  const sockets = new WebSocketServer({ noServer: true, ...SOCKET_OPTIONS }) as never;
  const server = createAdaptorServer({ fetch: app.fetch, websocket: { server: sockets } });
  return {
    listener: (request, response) => server.emit("request", request, response),
    upgrade(request, socket, head) {
      server.emit("upgrade", request, socket, head);
    },
    proxyUpgrade: auth.proxyUpgrade,
    close: () => auth.close(),
  };
}

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import cookie from "@fastify/cookie";
import session from "@fastify/session";
import websocket from "@fastify/websocket";
import fastify, { type FastifyReply, type preHandlerAsyncHookHandler } from "fastify";
import { idpAuth } from "idpauth/fastify";
import { errorAnswer, type DemoAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { authOptions, sessionSecret, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes, demoSocket } from "./routes.js";
import { SOCKET_OPTIONS } from "./web-socket.js";

/**
 * The demo as a Fastify application.
 *
 * @throws ConfigurationError when a startup check fails
 */
export async function fastifyDemo(setup: DemoSetup): Promise<DemoApplication> {
  const app = fastify();

  if (setup.configuration.sessions.kind === "host") {
    const secret = sessionSecret(setup.env, "@fastify/session");
    await app.register(cookie);
    const options = { httpOnly: true, sameSite: "lax", secure: "auto" } as const;
    await app.register(session, {
      secret,
      rolling: false,
      saveUninitialized: false,
      cookie: options,
    });
  }

  // A body of any type is text, as on the other frameworks.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request: unknown, body: IncomingMessage) => textOf(body));

  await app.register(websocket, { options: SOCKET_OPTIONS });
  const auth = idpAuth(authOptions(setup));
  await app.register(auth.plugin);
  app.addHook("onRequest", auth.csrf);
  if (setup.orders !== undefined) app.addHook("onRequest", auth.proxyApi("orders"));

  for (const { method, path, guard, answer } of demoRoutes(
    setup,
    auth,
    async ({ body }) => body as string | undefined,
  )) {
    const preHandler = guard === undefined ? [] : [auth.idpRequiredWith(guard)];
    app.route({
      method,
      url: path,
      preHandler,
      handler: async (request, reply) => send(reply, await answer(request)),
    });
  }

  const { path, guard, refusal, plainAnswer, opened } = demoSocket(setup, auth);
  const checkOrigin: preHandlerAsyncHookHandler = async ({ headers }, reply) => {
    const refused = refusal(headers);
    return refused && send(reply, refused);
  };
  app.route({
    method: "GET",
    url: path,
    preHandler: [checkOrigin, auth.idpRequiredWith(guard)],
    handler: (_request, reply) => send(reply, plainAnswer()),
    wsHandler: opened,
  });

  const unmatched = unmatchedAnswers(setup.env);
  app.setNotFoundHandler(({ method, url }, reply) =>
    send(reply, unmatched(method, url.split("?", 1)[0])),
  );
  app.setErrorHandler((error, _request, reply) => send(reply, errorAnswer(error)));
  await app.ready();
  return {
    listener: app.routing,
    upgrade(request, socket, head) {
      app.server.emit("upgrade", request, socket, head);
    },
    proxyUpgrade: auth.proxyUpgrade,
    close: () => auth.close(),
  };
}

function send(reply: FastifyReply, { status, headers, body }: DemoAnswer): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(typeof body === "string" ? body || undefined : Readable.from(body));
}

import { pipeline } from "node:stream";
import express, {
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
  type Response,
} from "express";
import session from "express-session";
import { idpAuth, type ExpressIdpAuth } from "idpauth/express";
import { errorAnswer, type DemoAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { authOptions, sessionSecret, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes, demoSocket } from "./routes.js";
import type { DemoData } from "./sign-in-hook.js";
import { accept } from "./web-socket.js";

/**
 * The demo as an Express application.
 *
 * @param extend adds routes, which come before the demo's own
 * @throws ConfigurationError when a startup check fails
 */
export function expressDemo(
  setup: DemoSetup,
  extend: (app: Express, auth: ExpressIdpAuth<object, DemoData>) => void = () => {},
): DemoApplication {
  const app = express();
  app
    .disable("x-powered-by")
    .disable("etag")
    .enable("case sensitive routing")
    .enable("strict routing");

  if (setup.configuration.sessions.kind === "host") {
    const secret = sessionSecret(setup.env, "express-session");
    app.use(
      session({
        secret,
        resave: false,
        saveUninitialized: false,
        cookie: { httpOnly: true, sameSite: "lax", secure: "auto" },
      }),
    );
  }

  const auth = idpAuth(authOptions(setup));
  auth.mount(app);
  if (setup.orders !== undefined) app.use(auth.proxyApi("orders"));
  app.use(auth.csrf);
  extend(app, auth);

  for (const { method, path, guard, answer } of demoRoutes(setup, auth, textOf)) {
    const before = guard === undefined ? [] : [auth.idpRequiredWith(guard)];
    app[method === "GET" ? "get" : "post"](path, ...before, async (request, response) => {
      send(response, await answer(request));
    });
  }

  const { path, guard, refusal, plainAnswer, opened } = demoSocket(setup, auth);
  const checkOrigin: RequestHandler = ({ headers }, response, next) => {
    const refused = refusal(headers);
    if (refused === undefined) next();
    else send(response, refused);
  };
  app.get(path, checkOrigin, auth.idpRequiredWith(guard), (request, response) => {
    const accepted = accept(request, response, (socket) => {
      opened(socket, request);
    });
    if (!accepted) send(response, plainAnswer());
  });

  const unmatched = unmatchedAnswers(setup.env);
  app.use(({ method, path: at }, response) => {
    send(response, unmatched(method, at));
  });
  app.use(onError);
  return { listener: app, proxyUpgrade: auth.proxyUpgrade, close: () => auth.close() };
}

export function send(response: Response, { status, headers, body }: DemoAnswer): void {
  response.status(status).set(headers);
  if (typeof body === "string") response.send(body);
  else if (response.req.method === "HEAD") response.end();
  else pipeline(body, response, () => {});
}

const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) next(error);
  else send(response, errorAnswer(error));
};

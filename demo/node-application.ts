import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { idpAuth } from "idpauth/node";
import { errorAnswer, type DemoAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes, demoSocket } from "./routes.js";
import { accept } from "./web-socket.js";

/**
 * The demo as a listener for node:http, without a framework.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function nodeDemo(setup: DemoSetup): DemoApplication {
  const auth = idpAuth(authOptions(setup));

  const routes = new Map<
    string,
    (request: IncomingMessage, response: ServerResponse) => Promise<unknown>
  >(
    demoRoutes(setup, auth, textOf).map(({ method, path, guard, answer }) => {
      const handler = async (request: IncomingMessage, response: ServerResponse) => {
        send(response, await answer(request));
      };
      return [
        `${method} ${path}`,
        guard === undefined ? handler : auth.idpRequiredWith(guard)(handler),
      ];
    }),
  );

  const { path, guard, refusal, plainAnswer, opened } = demoSocket(setup, auth);
  const openSocket = auth.idpRequiredWith(guard)((request, response) => {
    const accepted = accept(request, response, (socket) => {
      opened(socket, request);
    });
    if (!accepted) send(response, plainAnswer());
  });
  routes.set(`GET ${path}`, async (request, response) => {
    const refused = refusal(request.headers);
    if (refused === undefined) await openSocket(request, response);
    else send(response, refused);
  });

  const unmatched = unmatchedAnswers(setup.env);
  const routed = auth.csrf(async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/" } = request;
    const at = url.split("?", 1)[0] ?? "";
    const route = routes.get(`${method === "HEAD" ? "GET" : method} ${at}`);
    if (route === undefined) send(response, unmatched(method, at));
    else await route(request, response);
  });
  const listener = auth.listener(
    setup.orders === undefined ? routed : auth.proxyApi("orders")(routed),
    {
      onError(error, _request, response) {
        if (response.headersSent) response.destroy();
        else send(response, errorAnswer(error));
      },
    },
  );
  return { listener, proxyUpgrade: auth.proxyUpgrade, close: () => auth.close() };
}

function send(response: ServerResponse, { status, headers, body }: DemoAnswer): void {
  response.writeHead(status, headers);
  if (typeof body === "string" || response.req.method === "HEAD")
    response.end(typeof body === "string" ? body : undefined);
  else pipeline(body, response, () => {});
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { idpAuth } from "idpauth/node";
import { errorAnswer, notFoundAnswer, type DemoAnswer } from "./answers.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { demoRoutes } from "./routes.js";

/**
 * The demo as a listener for node:http, without a framework.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function nodeDemo(setup: DemoSetup): DemoApplication {
  const auth = idpAuth(authOptions(setup));

  const routes = new Map(
    demoRoutes(setup.env, auth).map(({ path, isGuarded, answer }) => {
      const handler = async (request: IncomingMessage, response: ServerResponse) => {
        send(response, await answer(request));
      };
      return [path, isGuarded ? auth.idpRequired(handler) : handler];
    }),
  );

  const listener = auth.listener(
    async (request, response) => {
      const { method, url = "/" } = request;
      const route = method === "GET" || method === "HEAD" ? routes.get(url.split("?", 1)[0] ?? "") : undefined;
      if (route === undefined) send(response, notFoundAnswer());
      else await route(request, response);
    },
    {
      onError(error, _request, response) {
        if (response.headersSent) response.destroy();
        else send(response, errorAnswer(error));
      },
    },
  );
  return { listener, idle: () => auth.idle() };
}

function send(response: ServerResponse, { status, headers, body }: DemoAnswer): void {
  response.writeHead(status, headers).end(body);
}

import { getRequestListener } from "@hono/node-server";
import { idpAuth } from "idpauth/fetch";
import { errorAnswer } from "./answers.js";
import { unmatchedAnswers } from "./app-files.js";
import { responseOf } from "./fetch-response.js";
import { authOptions, type DemoApplication, type DemoSetup } from "./application.js";
import { textOf } from "./request-text.js";
import { demoRoutes } from "./routes.js";

/**
 * The demo as one function from a `Request` to a `Response`, as Bun.serve, Deno.serve and many
 * frameworks take it; here Node serves it.
 *
 * @throws ConfigurationError when a startup check fails
 */
export function fetchDemo(setup: DemoSetup): DemoApplication {
  const auth = idpAuth(authOptions(setup));
  auth.start();

  const routes = new Map(
    demoRoutes(setup, auth, ({ body }) => textOf(body), false).map(
      ({ method, path, guard, answer }) => {
        const answered = async (raw: Request) => answer(raw);
        // An error is answered inside the guard, which keeps every response about the user private.
        const handler = async (request: Request) =>
          responseOf(await answered(request).catch(errorAnswer), request.method);
        return [
          `${method} ${path}`,
          guard === undefined ? handler : auth.idpRequiredWith(guard)(handler),
        ];
      },
    ),
  );

  const unmatched = unmatchedAnswers(setup.env);
  const routed = auth.csrf(async (request) => {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const { pathname } = new URL(request.url);
    const route = routes.get(`${method} ${pathname}`);
    return route === undefined
      ? responseOf(unmatched(request.method, pathname), request.method)
      : route(request);
  });

  const behindEndpoints = setup.orders === undefined ? routed : auth.proxyApi("orders")(routed);
  const answer = async (request: Request) =>
    (await auth.fetch(request)) ?? behindEndpoints(request);
  const listener = getRequestListener((request) =>
    answer(request).catch((error: unknown) => responseOf(errorAnswer(error), request.method)),
  );
  return { listener, close: () => auth.close() };
}

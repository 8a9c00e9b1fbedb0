import { Hono, type Context, type MiddlewareHandler, type Next } from "hono";
import {
  assertGuardResponses,
  createIdpAuth,
  guardCalledError,
  respondToBlocked,
  type GuardResponsesOf,
  type IdpAuth,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate } from "../fetch/fetch.js";
import { requestOf } from "./request.js";
import { respond } from "./response.js";

/** Your own responses to blocked requests. The protected handler does not run. */
export type GuardResponses = GuardResponsesOf<[c: Context], [], Response | Promise<Response>>;

/** idpauth for Hono 4. */
export interface HonoIdpAuth extends Omit<IdpAuth<Context>, "start" | "handle" | "guard"> {
  /**
   * The endpoints, for `app.route("/", auth.routes)`. Taking them runs the startup checks.
   *
   * @throws ConfigurationError with every finding at once
   */
  readonly routes: Hono;
  /**
   * The endpoints as middleware, for `app.use(auth.middleware)` in applications whose own `getPath` gives Hono's router other
   * paths than those of the URL. Taking it runs the startup checks.
   *
   * @throws ConfigurationError with every finding at once
   */
  readonly middleware: MiddlewareHandler;
  /** Middleware that lets only users pass who are signed in within the session limits. */
  readonly idpRequired: MiddlewareHandler;
  /** As `idpRequired`, with your own responses. */
  idpRequiredWith(responses: GuardResponses): MiddlewareHandler;
}

/**
 * Creates the sign-in for a Hono application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * app.route("/", auth.routes);
 * app.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth(options: IdpAuthOptions = {}): HonoIdpAuth {
  const { start, handle, guard, ...accessors } = createIdpAuth<Context>(options, { name: "Hono", request: requestOf });

  let routes: Hono | undefined;

  const endpoints: MiddlewareHandler = (c, next) => {
    const handled = handle(c);
    return handled === undefined ? next() : handled.then((reply) => respond(c, reply));
  };

  function routed(): Hono {
    start();
    const routes = new Hono();
    for (const path of pathsBelowAnyBase(accessors.mountPath())) routes.all(`${path}*`, endpoints);
    return routes;
  }

  function idpRequiredWith(responses: GuardResponses): MiddlewareHandler {
    assertGuardResponses(responses);

    async function guarded(c: Context, next: Next): Promise<Response | undefined> {
      const blocked = await guard(c);
      if (blocked !== undefined) return respondToBlocked(blocked, responses, [c], [], (reply) => respond(c, reply));
      await next();
      const response = keepPrivate(c.res);
      if (response !== c.res) {
        // Otherwise Hono copies the headers of the old response over those of the new one.
        c.res = undefined;
        c.res = response;
      }
      return undefined;
    }

    // Not async, so that the error is thrown at the line with the mistake.
    return function idpRequired(c, next) {
      if (typeof next !== "function") throw guardCalledError("app.get(path, auth.idpRequired, handler)");
      return guarded(c, next);
    };
  }

  return {
    ...accessors,
    get routes() {
      return (routes ??= routed());
    },
    get middleware() {
      start();
      return endpoints;
    },
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
  };
}

/**
 * The paths that the mount path may have below the application's base path: `/area/idpauth/` is `/idpauth/` below `/area`. So Hono's
 * router selects the requests for the endpoints, and other requests cost nothing.
 */
function pathsBelowAnyBase(mountPath: string): string[] {
  const parts = mountPath.split("/").slice(1, -1);
  return parts.map((_, start) => `/${parts.slice(start).join("/")}/`);
}

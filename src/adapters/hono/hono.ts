import { Hono, type Context, type Env, type MiddlewareHandler, type Next, type Schema } from "hono";
import {
  createIdpAuth,
  csrfCalledError,
  guardCalledError,
  onFirstClose,
  respondToBlocked,
  type AdapterAuth,
  type Finding,
  type GuardResponsesOf,
  type GuardRule,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate, OpenResponses } from "../fetch/fetch.js";
import { closablesOf, requestOf } from "./request.js";
import { respond } from "./response.js";

/** Your own responses to blocked requests. The protected handler does not run. */
export type GuardResponses = GuardResponsesOf<[c: Context], [], Response | Promise<Response>>;

/** idpauth for Hono 4. */
export interface HonoIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  Context,
  OwnClaims,
  Data
> {
  /**
   * Runs the startup checks and mounts the endpoints. Hono's router then selects their requests, so other requests cost nothing.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount<E extends Env, S extends Schema, BasePath extends string>(app: Hono<E, S, BasePath>): readonly Finding[];
  /** The endpoints as an application, for `app.route("/", auth.routes)`. For applications that mount by hand and call `start`. */
  readonly routes: Hono;
  /**
   * The endpoints as middleware, for `app.use(auth.middleware)` in applications whose `getPath` gives Hono's router other paths than
   * those of the URL. Such an application calls `start`.
   */
  readonly middleware: MiddlewareHandler;
  /** Middleware that lets only users pass who are signed in within the session limits. */
  readonly idpRequired: MiddlewareHandler;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): MiddlewareHandler;
  /**
   * Middleware against cross-site request forgery: `app.use(auth.csrf)`. A request that may change something gets 403 `cross_origin`, unless
   * it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  readonly csrf: MiddlewareHandler;
}

/**
 * Creates the sign-in for a Hono application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * app.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): HonoIdpAuth<OwnClaims, Data> {
  const open = new OpenResponses();
  const {
    handle,
    guard,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<Context, OwnClaims, Data>(options, {
    name: "Hono",
    request: requestOf,
    onClose(c, closed) {
      const closables = closablesOf(c);
      if (closables === undefined) open.onClose(c, c.req.raw.signal, closed);
      else onFirstClose(closables, closed);
    },
  });

  const middleware: MiddlewareHandler = (c, next) => {
    const handled = handle(c);
    return handled === undefined ? next() : handled.then((reply) => respond(c, reply));
  };

  const routes = new Hono();
  routes.use(middleware);

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): MiddlewareHandler {
    declareGuard(route);
    const responses: GuardResponses = route;

    async function guarded(c: Context, next: Next): Promise<Response | undefined> {
      const blocked = await guard(c, route);
      if (blocked !== undefined) return respondToBlocked(blocked, responses, [c], [], (reply) => respond(c, reply));
      await next();
      const response = keepPrivate(open.follow(c, c.res));
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

  const csrf: MiddlewareHandler = function idpauthCsrf(c, next) {
    if (typeof next !== "function") throw csrfCalledError("app.use(auth.csrf)");
    const refused = refuse(c);
    return refused === undefined ? next() : Promise.resolve(respond(c, refused));
  };

  return {
    ...auth,
    mount(app) {
      const findings = auth.start();
      for (const path of pathsBelowAnyBase(auth.mountPath())) app.all(`${path}*`, middleware);
      return findings;
    },
    routes,
    middleware,
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
    csrf,
  };
}

/**
 * The paths that the mount path may have below the application's base path: `/area/idpauth/` is `/idpauth/` below `/area`.
 */
function pathsBelowAnyBase(mountPath: string): string[] {
  const parts = mountPath.split("/").slice(1, -1);
  return parts.map((_, start) => `/${parts.slice(start).join("/")}/`);
}

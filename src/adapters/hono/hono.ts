import { Hono, type Context, type MiddlewareHandler, type Next } from "hono";
import {
  assertGuardResponses,
  createIdpAuth,
  guardCalledError,
  type Blocked,
  type BlockedByOutage,
  type BlockedUser,
  type IdpAuth,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate } from "../fetch/fetch.js";
import { requestOf } from "./request.js";
import { respond } from "./response.js";

/** Answers one kind of blocked request. The protected handler does not run. */
export type GuardResponse<Blocked> = (c: Context, blocked: Blocked) => Response | Promise<Response>;

/** Answers in place of the guard's own ones. */
export interface GuardResponses {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage>;
}

/** idpauth, at home in Hono 4. */
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
  /** Lets only visitors through who are signed in within policy. */
  readonly idpRequired: MiddlewareHandler;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith(answers: GuardResponses): MiddlewareHandler;
}

/**
 * Sign-in for a Hono application. Settings come from the environment; options override them.
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
    const answer = handle(c);
    return answer === undefined ? next() : answer.then((reply) => respond(c, reply));
  };

  function routed(): Hono {
    start();
    const routes = new Hono();
    for (const path of pathsBelowAnyBase(accessors.mountPath())) routes.all(`${path}*`, endpoints);
    return routes;
  }

  function idpRequiredWith(answers: GuardResponses): MiddlewareHandler {
    assertGuardResponses(answers);

    function turnAway(c: Context, blocked: Blocked): Response | Promise<Response> {
      if (blocked.kind === "navigation" && answers.navigation) return answers.navigation(c, blocked);
      if (blocked.kind === "unauthenticated" && answers.unauthenticated) return answers.unauthenticated(c, blocked);
      if (blocked.kind === "unavailable" && answers.unavailable) return answers.unavailable(c, blocked);
      return respond(c, blocked.reply);
    }

    async function guarded(c: Context, next: Next): Promise<Response | undefined> {
      const blocked = await guard(c);
      if (blocked !== undefined) return turnAway(c, blocked);
      await next();
      const response = keepPrivate(c.res);
      if (response !== c.res) {
        // Hono would put the headers of the response that it has over those of the new one.
        c.res = undefined;
        c.res = response;
      }
      return undefined;
    }

    // Not async: the error must reach the line with the mistake.
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
 * The mount path as it may look below the base path under which the application routes us: `/area/idpauth/` is `/idpauth/`
 * below `/area`. So the router itself tells our requests from others, which then cost nothing.
 */
function pathsBelowAnyBase(mountPath: string): string[] {
  const parts = mountPath.split("/").slice(1, -1);
  return parts.map((_, start) => `/${parts.slice(start).join("/")}/`);
}

import type { Application, NextFunction, Request, RequestHandler, Response, Router } from "express";
import {
  createIdpAuth,
  csrfCalledError,
  guardCalledError,
  respondToBlocked,
  type AdapterAuth,
  type Finding,
  type GuardResponsesOf,
  type GuardRule,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate, onClose, writeReply } from "../node/node.js";
import { ExpressRequest } from "./request.js";
import { frameworkSessionOf } from "./session.js";
import { sessionMiddlewareOf } from "./session-middleware.js";

/** Your own responses to blocked requests. Each ends the response or calls `next`; the protected handler does not run by itself. */
export type GuardResponses = GuardResponsesOf<[request: Request, response: Response], [next: NextFunction]>;

/** idpauth for Express 4 and 5. */
export interface ExpressIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  Request,
  OwnClaims,
  Data
> {
  /**
   * Runs the startup checks and mounts the endpoints. Call it after the session middleware, if there is one, and before the guarded
   * routes. Unlike `start`, it knows whether the session middleware is installed.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount(app: Application | Router): readonly Finding[];
  /** The endpoints as middleware, for applications that mount by hand and call `start`. */
  readonly routes: RequestHandler;
  /** Middleware that lets only users pass who are signed in within the session limits. */
  readonly idpRequired: RequestHandler;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): RequestHandler;
  /**
   * Middleware against cross-site request forgery: `app.use(auth.csrf)`. A request that may change something gets 403 `cross_origin`, unless
   * it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  readonly csrf: RequestHandler;
}

/**
 * Creates the sign-in for an Express application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * app.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): ExpressIdpAuth<OwnClaims, Data> {
  const {
    handle,
    guard,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<Request, OwnClaims, Data>(options, {
    name: "Express",
    request: (raw) => new ExpressRequest(raw),
    session: frameworkSessionOf,
    onClose: (raw, closed) => {
      onClose(raw, closed, raw.res);
    },
    middlewareRemedy: 'Call app.use(session({ … })) of express-session before auth.mount(app), or leave out session: "host".',
  });

  const routes: RequestHandler = function idpauth(request, response, next) {
    const handled = handle(request);
    if (handled === undefined) {
      next();
      return;
    }
    handled
      .then((reply) => {
        writeReply(response, reply);
      })
      .catch(next);
  };

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): RequestHandler {
    declareGuard(route);
    const responses: GuardResponses = route;
    return function idpRequired(request, response, next) {
      if (typeof next !== "function") throw guardCalledError("app.get(path, auth.idpRequired, handler)");
      guard(request, route).then((blocked) => {
        if (blocked === undefined) {
          keepPrivate(response);
          next();
          return;
        }
        respondToBlocked(blocked, responses, [request, response], [next], (reply) => {
          writeReply(response, reply);
        }).catch(next);
      }, next);
    };
  }

  const csrf: RequestHandler = function idpauthCsrf(request, response, next) {
    if (typeof next !== "function") throw csrfCalledError("app.use(auth.csrf)");
    const refused = refuse(request);
    if (refused === undefined) next();
    else writeReply(response, refused);
  };

  return {
    ...auth,
    mount(app) {
      const findings = auth.start({ sessionMiddleware: sessionMiddlewareOf(app) });
      app.use(routes);
      return findings;
    },
    routes,
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
    csrf,
  };
}

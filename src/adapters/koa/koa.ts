import type Koa from "koa";
import type { DefaultContext, DefaultState, ExtendableContext, Next, ParameterizedContext } from "koa";
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
import { keepPrivate, onClose } from "../node/node.js";
import { KoaRequest, setReply } from "./message.js";

/** The context of any Koa application, with any state and properties. */
export type AnyContext = ExtendableContext;

/** Middleware for any Koa application and router. It adds nothing to the types of context and state. */
export type KoaMiddleware = <StateT = DefaultState, ContextT = DefaultContext>(
  ctx: ParameterizedContext<StateT, ContextT>,
  next: Next,
) => Promise<unknown>;

/** Your own responses to blocked requests, set on `ctx`. The protected handler runs only if a response function calls `next`. */
export type GuardResponses<StateT = DefaultState, ContextT = DefaultContext> = GuardResponsesOf<
  [ctx: ParameterizedContext<StateT, ContextT>],
  [next: Next]
>;

/** idpauth for Koa 3. */
export interface KoaIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  AnyContext,
  OwnClaims,
  Data
> {
  /**
   * Runs the startup checks and mounts the endpoints: `app.use(auth.routes)`. Mount on the application itself, because middleware of a
   * router runs only where a route matches.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount<StateT, ContextT>(app: Koa<StateT, ContextT>): readonly Finding[];
  /** The endpoints as middleware, for applications that mount by hand and call `start`. */
  readonly routes: KoaMiddleware;
  /** Middleware that lets only users pass who are signed in within the session limits. */
  readonly idpRequired: KoaMiddleware;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith<StateT = DefaultState, ContextT = DefaultContext>(
    route: GuardResponses<StateT, ContextT> & GuardRule<OwnClaims, Data>,
  ): (ctx: ParameterizedContext<StateT, ContextT>, next: Next) => Promise<unknown>;
  /**
   * Middleware against cross-site request forgery: `app.use(auth.csrf)`. A request that may change something gets 403 `cross_origin`, unless
   * it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  readonly csrf: KoaMiddleware;
}

/**
 * Creates the sign-in for a Koa application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * router.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): KoaIdpAuth<OwnClaims, Data> {
  const {
    handle,
    guard,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<AnyContext, OwnClaims, Data>(options, {
    name: "Koa",
    request: (ctx) => new KoaRequest(ctx),
    onClose: (ctx, closed) => {
      onClose(ctx.req, closed, ctx.res);
    },
    middlewareRemedy:
      'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions, beside which koa-session stays as it is.',
  });

  const routes: KoaMiddleware = function idpauth(ctx, next) {
    const handled = handle(ctx);
    if (handled === undefined) return next();
    return handled.then((reply) => {
      setReply(ctx, reply);
    });
  };

  function idpRequiredWith<StateT, ContextT>(route: GuardResponses<StateT, ContextT> & GuardRule<OwnClaims, Data>) {
    type Context = ParameterizedContext<StateT, ContextT>;
    declareGuard(route);
    const responses: GuardResponses<StateT, ContextT> = route;

    async function guarded(ctx: Context, next: Next): Promise<unknown> {
      const blocked = await guard(ctx, route);
      if (blocked === undefined) {
        keepPrivate(ctx.res);
        return next();
      }
      await respondToBlocked(blocked, responses, [ctx], [next], (reply) => {
        setReply(ctx, reply);
      });
      return undefined;
    }

    // Not async, so that the error is thrown at the line with the mistake.
    return function idpRequired(ctx: Context, next: Next): Promise<unknown> {
      if (typeof next !== "function") throw guardCalledError("router.get(path, auth.idpRequired, handler)");
      return guarded(ctx, next);
    };
  }

  const csrf: KoaMiddleware = function idpauthCsrf(ctx, next) {
    if (typeof next !== "function") throw csrfCalledError("app.use(auth.csrf)");
    const refused = refuse(ctx);
    if (refused === undefined) return next();
    setReply(ctx, refused);
    return Promise.resolve();
  };

  return {
    ...auth,
    mount(app) {
      const findings = auth.start();
      app.use(routes);
      return findings;
    },
    routes,
    idpRequired: idpRequiredWith({}) as KoaMiddleware,
    idpRequiredWith,
    csrf,
  };
}

import type Koa from "koa";
import type {
  DefaultContext,
  DefaultState,
  ExtendableContext,
  Next,
  ParameterizedContext,
} from "koa";
import {
  createAdapterAuth,
  keepPrivate,
  onClose,
  sourceOf,
  upgradesOf,
  type AnyReply,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
  type UpgradeProxy,
} from "../../adapter.js";
import type {
  AdapterAuth,
  EventStream,
  Finding,
  RouteRule,
  IdpAuthNames,
  IdpAuthOptions,
} from "../../index.js";
import { errorHandlerOf, replaceOnError } from "./koa-errors.js";
import { KoaRequest, setReply } from "./koa-message.js";

/** The context of any Koa application, with any state and properties. */
export type AnyContext = ExtendableContext;

/**
 * Middleware for any Koa application and router. It adds nothing to the types of context and state.
 */
export type KoaMiddleware = <StateT = DefaultState, ContextT = DefaultContext>(
  ctx: ParameterizedContext<StateT, ContextT>,
  next: Next,
) => Promise<unknown>;

/**
 * Your own responses to blocked requests, set on `ctx`. The protected handler runs only if a
 * response function calls `next`.
 */
export type GuardResponses<StateT = DefaultState, ContextT = DefaultContext> = GuardResponsesOf<
  [ctx: ParameterizedContext<StateT, ContextT>],
  [next: Next]
>;

/**
 * idpauth for Koa 3. Guards are middleware. In a router of @koa/router with a prefix, pass
 * `auth.idpRequired` to each route, or create the router with `sensitive: true`: otherwise
 * `router.use(auth.idpRequired)` doesn't run for `/API/…`.
 */
export interface KoaIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<AnyContext, OwnClaims, Data, Names>,
    UpgradeProxy,
    Guards<KoaMiddleware, GuardResponses, OwnClaims, Data, Names, AnyContext> {
  /**
   * Runs the startup checks and mounts the endpoints: `app.use(auth.routes)`. Mount on the
   * application itself, because middleware of a router runs only where a route matches.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount<StateT, ContextT>(app: Koa<StateT, ContextT>): readonly Finding[];
  /** The endpoints as middleware, for applications that mount by hand and call `start`. */
  readonly routes: KoaMiddleware;
  /**
   * Responds with an event stream that ends with the user's session. The route needs a guard.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(ctx: AnyContext): Promise<EventStream>;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith<StateT = DefaultState, ContextT = DefaultContext>(
    route: GuardResponses<StateT, ContextT> &
      RouteRule<OwnClaims, Data, Names["provider"], ParameterizedContext<StateT, ContextT>>,
  ): (ctx: ParameterizedContext<StateT, ContextT>, next: Next) => Promise<unknown>;
}

/** What an error says about a wrong use. */
const GUARD_USAGE = {
  takes: "next",
  idpRequired: "router.get(path, auth.idpRequired, handler)",
  csrf: "app.use(auth.csrf)",
} as const;

/**
 * Creates the sign-in for a Koa application. Settings come from the environment; options override
 * them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * router.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: IdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): KoaIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  /** Its settings tell which proxies are trusted. Without `mount`, of the first request. */
  let application: AnyContext["app"] | undefined;
  const { auth, gates, proxyUpgrade, openEventStream, uncaught } = createAdapterAuth<
    AnyContext,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "Koa",
      request(ctx) {
        application ??= ctx.app;
        return new KoaRequest(ctx);
      },
      source: (ctx) => sourceOf(ctx.req, (ctx.socket as unknown) ? ctx.ip : undefined),
      onClose: (ctx, closed) => onClose(ctx.req, closed, ctx.res),
      keepPrivate: ({ res }) => {
        keepPrivate(res);
      },
      middlewareRemedy:
        'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions, beside which koa-session stays as it is.',
    },
    GUARD_USAGE,
  );

  const onerror = errorHandlerOf(uncaught);

  function middleware(gate: Gate<AnyContext>): KoaMiddleware {
    // Not async, so that the error of a wrong use is thrown at the line with the mistake.
    return function idpauth(ctx, next) {
      gate.assertCalledWith(next);
      const proceed = (stopped: Stopped | undefined): Promise<unknown> => {
        if (stopped === undefined) {
          if (gate.keepsPrivate) keepPrivate(ctx.res);
          replaceOnError(ctx, onerror);
          return next();
        }
        const responded = gate.respond(stopped, [ctx, stopped, next], replyTo(ctx));
        return responded.then(() => undefined);
      };
      const entered = gate.enter(ctx, ctx.res);
      return entered === undefined ? proceed(undefined) : entered.then(proceed);
    };
  }

  const routes = middleware(gates.endpoints);
  return {
    ...auth,
    ...gates.guards<KoaMiddleware, GuardResponses>(middleware),
    mount(app) {
      const findings = auth.start();
      app.use(routes);
      application = app as unknown as AnyContext["app"];
      return findings;
    },
    routes,
    eventStream: (ctx) => openEventStream(ctx, replyTo(ctx)),
    proxyUpgrade: upgradesOf(proxyUpgrade, (message) => {
      // Nothing writes to the response: the application gets no upgrade.
      const ctx = application?.createContext(message, {} as never);
      return ctx && { request: new KoaRequest(ctx), client: ctx.ip };
    }),
  };
}

/** Returns a function that sends a reply as the response of a context. */
function replyTo(ctx: AnyContext): (reply: AnyReply) => void {
  return (reply) => {
    setReply(ctx, reply);
  };
}

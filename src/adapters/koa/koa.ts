import type { DefaultContext, DefaultState, ExtendableContext, Next, ParameterizedContext } from "koa";
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
import { answerWith, KoaRequest } from "./message.js";
import { keepPrivate } from "../node/node.js";

/** Any Koa application's context, whatever its own state and properties. */
export type AnyContext = ExtendableContext;

/** Middleware for any Koa application and router, which adds nothing to the types of context and state. */
export type KoaMiddleware = <StateT = DefaultState, ContextT = DefaultContext>(
  ctx: ParameterizedContext<StateT, ContextT>,
  next: Next,
) => Promise<unknown>;

/** Answers one kind of blocked request through `ctx`. The protected handler runs only if this calls `next`. */
export type GuardResponse<Blocked, StateT = DefaultState, ContextT = DefaultContext> = (
  ctx: ParameterizedContext<StateT, ContextT>,
  blocked: Blocked,
  next: Next,
) => unknown;

/** Answers in place of the guard's own ones. */
export interface GuardResponses<StateT = DefaultState, ContextT = DefaultContext> {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">, StateT, ContextT>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">, StateT, ContextT>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage, StateT, ContextT>;
}

/** idpauth, at home in Koa 3. */
export interface KoaIdpAuth extends Omit<IdpAuth<AnyContext>, "start" | "handle" | "guard"> {
  /**
   * The endpoints, for `app.use(auth.routes)`. Taking them runs the startup checks. For the application itself: middleware of
   * a router runs only where a route matches.
   *
   * @throws ConfigurationError with every finding at once
   */
  readonly routes: KoaMiddleware;
  /** Lets only visitors through who are signed in within policy. */
  readonly idpRequired: KoaMiddleware;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith<StateT = DefaultState, ContextT = DefaultContext>(
    answers: GuardResponses<StateT, ContextT>,
  ): (ctx: ParameterizedContext<StateT, ContextT>, next: Next) => Promise<unknown>;
}

/**
 * Sign-in for a Koa application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * app.use(auth.routes);
 * router.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth(options: IdpAuthOptions = {}): KoaIdpAuth {
  const { start, handle, guard, ...accessors } = createIdpAuth<AnyContext>(options, {
    name: "Koa",
    request: (ctx) => new KoaRequest(ctx),
  });

  let isStarted = false;

  const routes: KoaMiddleware = function idpauth(ctx, next) {
    const answer = handle(ctx);
    if (answer === undefined) return next();
    return answer.then((reply) => {
      answerWith(ctx, reply);
    });
  };

  function idpRequiredWith<StateT, ContextT>(answers: GuardResponses<StateT, ContextT>) {
    type Context = ParameterizedContext<StateT, ContextT>;
    assertGuardResponses(answers);

    async function turnAway(ctx: Context, blocked: Blocked, next: Next): Promise<void> {
      if (blocked.kind === "navigation" && answers.navigation) await answers.navigation(ctx, blocked, next);
      else if (blocked.kind === "unauthenticated" && answers.unauthenticated) await answers.unauthenticated(ctx, blocked, next);
      else if (blocked.kind === "unavailable" && answers.unavailable) await answers.unavailable(ctx, blocked, next);
      else answerWith(ctx, blocked.reply);
    }

    async function guarded(ctx: Context, next: Next): Promise<unknown> {
      const blocked = await guard(ctx);
      if (blocked !== undefined) return turnAway(ctx, blocked, next);
      keepPrivate(ctx.res);
      return next();
    }

    // Not async: the error must reach the line with the mistake.
    return function idpRequired(ctx: Context, next: Next): Promise<unknown> {
      if (typeof next !== "function") throw guardCalledError("router.get(path, auth.idpRequired, handler)");
      return guarded(ctx, next);
    };
  }

  return {
    ...accessors,
    get routes() {
      if (!isStarted) start({ sessionMiddleware: "not-applicable", middlewareRemedy: SESSIONS_REMEDY });
      isStarted = true;
      return routes;
    },
    idpRequired: idpRequiredWith({}) as KoaMiddleware,
    idpRequiredWith,
  };
}

const SESSIONS_REMEDY =
  'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions, beside which koa-session stays as it is.';

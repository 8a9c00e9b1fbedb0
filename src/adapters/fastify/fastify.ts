import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from "fastify";
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
import { endpoints, notEncapsulated, pathBelow } from "./endpoints.js";
import { FastifyMessage, keepReplyPrivate, sendReply, type AnyFastifyReply, type AnyFastifyRequest } from "./message.js";
import { FastifySessions, sessionPluginOf } from "./session.js";

export type { AnyFastifyReply, AnyFastifyRequest } from "./message.js";

/**
 * Answers one kind of blocked request: through `reply`, or by what it returns, as a handler does. The protected handler does
 * not run.
 */
export type GuardResponse<Blocked> = (request: FastifyRequest, reply: FastifyReply, blocked: Blocked) => unknown;

/** Answers in place of the guard's own ones. */
export interface GuardResponses {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage>;
}

/** A hook for `onRequest`, `preValidation` and `preHandler`, of a route or of a whole scope. */
export type GuardHook = (request: AnyFastifyRequest, reply: AnyFastifyReply, done: (error?: Error) => void) => void;

export interface PluginOptions {
  /** What the mount path begins with. Nothing but a check: the mount path is the whole path anyway. */
  readonly prefix?: string;
}

/** A plugin for any Fastify server. It is not encapsulated: it belongs to the scope in which it is registered. */
export type IdpAuthPlugin = <Server extends RawServerBase, Provider extends FastifyTypeProvider, Logger extends FastifyBaseLogger>(
  scope: FastifyInstance<Server, RawRequestDefaultExpression<Server>, RawReplyDefaultExpression<Server>, Logger, Provider>,
  options: PluginOptions,
  done: (error?: Error) => void,
) => void;

/** idpauth, at home in Fastify 5. */
export interface FastifyIdpAuth extends Omit<IdpAuth<AnyFastifyRequest>, "start" | "handle" | "guard"> {
  /**
   * Runs the startup checks and serves the endpoints: `await app.register(auth.plugin)`. Register it after the session plugin,
   * when there is one. In a scope with a prefix, the mount path is still the whole path: `{ mountPath: "/area/idpauth/" }`.
   *
   * Registering rejects, and so does `app.ready()`, with a ConfigurationError that has every finding at once.
   */
  readonly plugin: IdpAuthPlugin;
  /** Lets only visitors through who are signed in within policy: `{ preHandler: auth.idpRequired }`. */
  readonly idpRequired: GuardHook;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith(answers: GuardResponses): GuardHook;
}

/**
 * Sign-in for a Fastify application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * await app.register(auth.plugin);
 * app.get("/reports", { preHandler: auth.idpRequired }, handler);
 */
export function idpAuth(options: IdpAuthOptions = {}): FastifyIdpAuth {
  const sessions = options.session === "host" ? new FastifySessions() : undefined;
  const { start, handle, guard, ...accessors } = createIdpAuth<AnyFastifyRequest>(options, {
    name: "Fastify",
    request: (request) => new FastifyMessage(request),
    // No `locals`: Fastify has no place for the length of a request but the request itself, to which nothing is added.
    session: (request) => sessions?.of(request),
  });

  function answer(request: AnyFastifyRequest, reply: AnyFastifyReply, done: (error?: Error) => void): void {
    sessions?.meet(request, reply);
    const answered = handle(request);
    if (answered === undefined) {
      done();
      return;
    }
    // One promise less than with a catch at the end; this is the hot path.
    answered.then((ours) => {
      try {
        sessions?.leaveEnded(request);
        sendReply(reply, ours);
      } catch (error) {
        done(error as Error);
      }
    }, done);
  }

  const plugin: IdpAuthPlugin = (scope, { prefix = "" }, done) => {
    try {
      start({ sessionMiddleware: sessionPluginOf(scope), middlewareRemedy: MIDDLEWARE_REMEDY });
      const path = pathBelow(scope.prefix, prefix, accessors.mountPath());
      scope.addHook("onRequest", answer);
      scope.register(endpoints, { prefix: path });
      done();
    } catch (error) {
      done(error as Error);
    }
  };

  function idpRequiredWith(answers: GuardResponses): GuardHook {
    assertGuardResponses(answers);

    async function turnAway(request: FastifyRequest, reply: FastifyReply, blocked: Blocked): Promise<void> {
      let answered: unknown;
      if (blocked.kind === "navigation" && answers.navigation) answered = await answers.navigation(request, reply, blocked);
      else if (blocked.kind === "unauthenticated" && answers.unauthenticated)
        answered = await answers.unauthenticated(request, reply, blocked);
      else if (blocked.kind === "unavailable" && answers.unavailable) answered = await answers.unavailable(request, reply, blocked);
      else sendReply(reply, blocked.reply);
      if (answered !== undefined && !reply.sent) reply.send(answered);
    }

    return function idpRequired(request, reply, done) {
      if (typeof done !== "function") throw guardCalledError("app.get(path, { preHandler: auth.idpRequired }, handler)");
      sessions?.meet(request, reply);
      guard(request).then((blocked) => {
        if (blocked === undefined) {
          keepReplyPrivate(reply);
          done();
          // Also what an answer of the application's own throws, or rejects with.
        } else turnAway(request as FastifyRequest, reply as FastifyReply, blocked).catch(done);
      }, done);
    };
  }

  return { ...accessors, plugin: notEncapsulated(plugin), idpRequired: idpRequiredWith({}), idpRequiredWith };
}

const MIDDLEWARE_REMEDY =
  'Register @fastify/cookie and @fastify/session before idpauth, in the same scope or an outer one, or leave out session: "host".';

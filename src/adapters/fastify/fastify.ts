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
  createIdpAuth,
  csrfCalledError,
  guardCalledError,
  respondToBlocked,
  type AdapterAuth,
  type Blocked,
  type GuardResponsesOf,
  type GuardRule,
  type IdpAuthOptions,
} from "../../index.js";
import { endpoints, notEncapsulated, pathBelow } from "./endpoints.js";
import { FastifyMessage, keepReplyPrivate, sendReply, type AnyFastifyReply, type AnyFastifyRequest } from "./message.js";
import { onClose, rememberResponse } from "../node/node.js";
import { isRolling } from "./rolling.js";
import { FastifySessions, sessionPluginOf } from "./session.js";

export type { AnyFastifyReply, AnyFastifyRequest } from "./message.js";

/**
 * Your own responses to blocked requests. Each responds through `reply` or by its return value, as a handler does. The protected
 * handler does not run.
 */
export type GuardResponses = GuardResponsesOf<[request: FastifyRequest, reply: FastifyReply]>;

/** A hook for `onRequest`, `preValidation` and `preHandler`, of a route or of a whole scope. */
export type GuardHook = (request: AnyFastifyRequest, reply: AnyFastifyReply, done: (error?: Error) => void) => void;

export interface PluginOptions {
  /** The beginning of the mount path. It is only checked, because the mount path is always the whole path. */
  readonly prefix?: string;
}

/** A plugin for any Fastify server. It is not encapsulated: it belongs to the scope in which it is registered. */
export type IdpAuthPlugin = <Server extends RawServerBase, Provider extends FastifyTypeProvider, Logger extends FastifyBaseLogger>(
  scope: FastifyInstance<Server, RawRequestDefaultExpression<Server>, RawReplyDefaultExpression<Server>, Logger, Provider>,
  options: PluginOptions,
  done: (error?: Error) => void,
) => void;

/** idpauth for Fastify 5. */
export interface FastifyIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  AnyFastifyRequest,
  OwnClaims,
  Data
> {
  /**
   * Runs the startup checks and serves the endpoints: `await app.register(auth.plugin)`. Register it after the session plugin, if there
   * is one. In a scope with a prefix, the mount path is still the whole path: `{ mountPath: "/area/idpauth/" }`.
   *
   * On a mistake, registering and `app.ready()` reject with a ConfigurationError that contains every finding.
   */
  readonly plugin: IdpAuthPlugin;
  /** Lets only users pass who are signed in within the session limits: `{ preHandler: auth.idpRequired }`. */
  readonly idpRequired: GuardHook;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): GuardHook;
  /**
   * Hook against cross-site request forgery: `app.addHook("onRequest", auth.csrf)`. A request that may change something gets 403
   * `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  readonly csrf: GuardHook;
}

/**
 * Creates the sign-in for a Fastify application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * await app.register(auth.plugin);
 * app.get("/reports", { preHandler: auth.idpRequired }, handler);
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): FastifyIdpAuth<OwnClaims, Data> {
  const sessions = options.session === "host" ? new FastifySessions() : undefined;
  const {
    handle,
    guard,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<AnyFastifyRequest, OwnClaims, Data>(options, {
    name: "Fastify",
    request: (request) => new FastifyMessage(request),
    session: (request) => sessions?.of(request),
    onClose: (request, closed) => {
      onClose(request.raw, closed);
    },
    middlewareRemedy:
      'Register @fastify/cookie and @fastify/session before idpauth, in the same scope or an outer one, or leave out session: "host".',
  });

  function onRequest(request: AnyFastifyRequest, reply: AnyFastifyReply, done: (error?: Error) => void): void {
    sessions?.meet(request, reply);
    const handled = handle(request);
    if (handled === undefined) {
      rememberReply(request, reply);
      done();
      return;
    }
    // One promise less than with `catch` at the end; most probes take this way.
    handled.then((own) => {
      try {
        sessions?.leaveEnded(request);
        sendReply(reply, own);
      } catch (error) {
        done(error as Error);
      }
    }, done);
  }

  const plugin: IdpAuthPlugin = (scope, { prefix = "" }, done) => {
    try {
      auth.start({ sessionMiddleware: sessionPluginOf(scope), rewritesSessions: isRolling(scope) });
      const path = pathBelow(scope.prefix, prefix, auth.mountPath());
      scope.addHook("onRequest", onRequest);
      scope.register(endpoints, { prefix: path });
      done();
    } catch (error) {
      done(error as Error);
    }
  };

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): GuardHook {
    declareGuard(route);
    const responses: GuardResponses = route;

    async function turnAway(request: FastifyRequest, reply: FastifyReply, blocked: Blocked): Promise<void> {
      const sent = await respondToBlocked(blocked, responses, [request, reply], [], (own) => {
        sendReply(reply, own);
      });
      if (sent !== undefined && !reply.sent) reply.send(sent);
    }

    return function idpRequired(request, reply, done) {
      if (typeof done !== "function") throw guardCalledError("app.get(path, { preHandler: auth.idpRequired }, handler)");
      sessions?.meet(request, reply);
      guard(request, route).then((blocked) => {
        if (blocked === undefined) {
          rememberReply(request, reply);
          keepReplyPrivate(reply);
          done();
        } else turnAway(request as FastifyRequest, reply as FastifyReply, blocked).catch(done);
      }, done);
    };
  }

  const csrf: GuardHook = function idpauthCsrf(request, reply, done) {
    if (typeof done !== "function") throw csrfCalledError('app.addHook("onRequest", auth.csrf)');
    const refused = refuse(request);
    if (refused === undefined) done();
    else sendReply(reply, refused);
  };

  return { ...auth, plugin: notEncapsulated(plugin), idpRequired: idpRequiredWith({}), idpRequiredWith, csrf };
}

function rememberReply(request: AnyFastifyRequest, reply: AnyFastifyReply): void {
  rememberResponse(request.raw, (reply as FastifyReply).raw);
}

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
  createAdapterAuth,
  keepPrivate,
  onClose,
  rememberResponse,
  responseTo,
  sourceOf,
  upgradesOf,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
  type UpgradeProxy,
} from "../../adapter.js";
import type { AdapterAuth, EventStream, IdpAuthNames, IdpAuthOptions } from "../../index.js";
import { errorHooks } from "./fastify-errors.js";
import {
  FastifyMessage,
  keepReplyPrivate,
  sendReply,
  sendReplyHead,
  upgradeLike,
  type AnyFastifyReply,
  type AnyFastifyRequest,
} from "./fastify-message.js";
import { FastifySessions, sessionPluginOf } from "./fastify-session.js";
import { endpoints, notEncapsulated, pathBelow } from "./mount-endpoints.js";

export type { AnyFastifyReply, AnyFastifyRequest } from "./fastify-message.js";

/**
 * Your own responses to blocked requests. Each responds through `reply` or by its return value, as
 * a handler does. The protected handler does not run.
 */
export type GuardResponses = GuardResponsesOf<[request: FastifyRequest, reply: FastifyReply]>;

/** A hook for `onRequest`, `preValidation` and `preHandler`, of a route or of a whole scope. */
export type GuardHook = (
  request: AnyFastifyRequest,
  reply: AnyFastifyReply,
  done: (error?: Error) => void,
) => void;

/** The second argument of `app.register(auth.plugin)`. */
export interface PluginOptions {
  /**
   * The beginning of the mount path. It is only checked, because the mount path is always the whole
   * path.
   */
  readonly prefix?: string;
}

/**
 * A plugin for any Fastify server. It is not encapsulated: it belongs to the scope in which it is
 * registered.
 */
export type IdpAuthPlugin = <
  Server extends RawServerBase,
  Provider extends FastifyTypeProvider,
  Logger extends FastifyBaseLogger,
>(
  scope: FastifyInstance<
    Server,
    RawRequestDefaultExpression<Server>,
    RawReplyDefaultExpression<Server>,
    Logger,
    Provider
  >,
  options: PluginOptions,
  done: (error?: Error) => void,
) => void;

/**
 * idpauth for Fastify 5. Guards are hooks: `{ preHandler: auth.idpRequired }`,
 * `app.addHook("onRequest", auth.csrf)`.
 */
export interface FastifyIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<AnyFastifyRequest, OwnClaims, Data, Names>,
    UpgradeProxy,
    Guards<GuardHook, GuardResponses, OwnClaims, Data, Names, FastifyRequest> {
  /**
   * Runs the startup checks and serves the endpoints: `await app.register(auth.plugin)`. Register
   * it after the session plugin, if there is one. In a scope with a prefix, the mount path is still
   * the whole path: `{ mountPath: "/area/idpauth/" }`.
   *
   * On a mistake, registering and `app.ready()` reject with a ConfigurationError that contains
   * every finding.
   */
  readonly plugin: IdpAuthPlugin;
  /**
   * Responds with an event stream that ends with the user's session. The route needs a guard. Call
   * it in an async handler that returns nothing.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(request: AnyFastifyRequest, reply: AnyFastifyReply): Promise<EventStream>;
}

/**
 * Creates the sign-in for a Fastify application. Settings come from the environment; options
 * override them.
 *
 * @example
 * const auth = idpAuth();
 * await app.register(auth.plugin);
 * app.get("/reports", { preHandler: auth.idpRequired }, handler);
 */

export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: IdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): FastifyIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  const sessions = options.session === "host" ? new FastifySessions() : undefined;
  /** The class of this server's requests, learned from the first one. */
  let prototype: object | undefined;
  const { auth, gates, mountPath, proxyUpgrade, openEventStream, uncaught } = createAdapterAuth<
    AnyFastifyRequest,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "Fastify",
      request: (request) => new FastifyMessage(request),
      source: (request) => sourceOf(request.raw, (request as FastifyRequest).ip),
      session: (request) => sessions?.of(request),
      onClose: (request, closed) => onClose(request.raw, closed),
      keepPrivate(request) {
        const response = responseTo(request.raw);
        // A reply gives the headers of the response below it, and replaces them by its own.
        if (response !== undefined) keepPrivate(response);
      },
      middlewareRemedy:
        'Register @fastify/cookie and @fastify/session before idpauth, in the same scope or an outer one, or leave out session: "host".',
    },
    {
      takes: "next",
      idpRequired: "app.get(path, { preHandler: auth.idpRequired }, handler)",
      csrf: 'app.addHook("onRequest", auth.csrf)',
    },
  );

  function hook(gate: Gate<AnyFastifyRequest>): GuardHook {
    return function idpauth(request, reply, done) {
      gate.assertCalledWith(done);
      prototype ??= Object.getPrototypeOf(request) as object;
      sessions?.meet(request, reply);
      const proceed = (stopped: Stopped | undefined): void => {
        if (stopped === undefined) {
          rememberResponse(request.raw, (reply as FastifyReply).raw);
          if (gate.keepsPrivate) keepReplyPrivate(reply);
          done();
          return;
        }
        const responded = gate.respond(stopped, [request, reply, stopped], (own) => {
          if (stopped.kind === "endpoint") sessions?.leaveEnded(request);
          sendReply(reply, own);
        });
        responded
          .then((sent) => {
            if (sent !== undefined && !reply.sent) (reply as FastifyReply).send(sent);
          })
          .catch(done);
      };
      if (gate.streams === true) rememberResponse(request.raw, (reply as FastifyReply).raw);
      const entered = gate.enter(request, (reply as FastifyReply).raw);
      if (entered !== undefined) entered.then(proceed).catch(done);
      else proceed(undefined);
    };
  }

  const plugin: IdpAuthPlugin = (scope, { prefix = "" }, done) => {
    try {
      auth.start({ sessionMiddleware: sessionPluginOf(scope) });
      const path = pathBelow(scope.prefix, prefix, mountPath());
      scope.addHook("onRequest", hook(gates.endpoints));
      const { onError, onSend } = errorHooks(uncaught);
      scope.addHook("onError", onError);
      scope.addHook("onSend", onSend);
      scope.register(endpoints, { prefix: path });
      done();
    } catch (error) {
      done(error as Error);
    }
  };

  return {
    ...auth,
    ...gates.guards<GuardHook, GuardResponses>(hook),
    plugin: notEncapsulated(plugin),
    eventStream: (request, reply) => openEventStream(request, (own) => sendReplyHead(reply, own)),
    proxyUpgrade: upgradesOf(proxyUpgrade, (message) => {
      const raw = prototype && upgradeLike(prototype, message);
      return raw && { request: new FastifyMessage(raw), client: raw.ip };
    }),
  };
}

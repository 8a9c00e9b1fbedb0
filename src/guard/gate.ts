import type { IdpAuthNames } from "../config/inferred-names.js";
import type { AnyReply, Reply } from "../http/reply.js";
import type { GuardRule, RouteRule } from "../record/guard-requirements.js";
import type { Blocked } from "./blocked-responses.js";
import { respondToBlocked, type AnyGuardResponses } from "./custom-responses.js";
import { assertUsage, type Usage } from "./guard-usage.js";

/**
 * A request that goes no further: a guard blocked it, it may be forged, or an endpoint responds to
 * it.
 */
export type Stopped =
  | Blocked
  | {
      /** `forged`: `auth.csrf` refused it. `endpoint`: an endpoint responds. */
      readonly kind: "forged" | "endpoint";
      /** The response to send as it is. */
      readonly reply: AnyReply;
    };

/**
 * What stands before a handler. An adapter makes the middleware of its framework from it, the same
 * for each gate.
 */
export interface Gate<FrameworkRequest extends object> {
  /**
   * @param response of node:http; during a shutdown, it closes its connection. Without it, a client
   *   that keeps sending requests would keep the server open
   * @returns undefined, at once or as a promise: the request may pass. Otherwise the handler must
   *   not run
   */
  enter(raw: FrameworkRequest, response?: object): Promise<Stopped | undefined> | undefined;
  /** Whether no cache may store the response to a request that passed. */
  readonly keepsPrivate: boolean;
  /**
   * Whether the response that stops a request goes on until the session ends or the browser leaves,
   * so that the adapter must tell when.
   */
  readonly streams?: boolean;
  /**
   * Checks what the framework, or the application, passed to the middleware.
   *
   * @throws TypeError it is not a function
   */
  assertCalledWith(given: unknown): void;
  /**
   * Responds to a stopped request with the application's own function, or with `byDefault` if there
   * is none.
   *
   * @param args what the application's function gets: the arguments of the framework, and `stopped`
   *   among them
   * @returns what the function returns; rejects with what it throws
   */
  respond(
    stopped: Stopped,
    args: readonly unknown[],
    byDefault: (reply: AnyReply) => unknown,
  ): Promise<unknown>;
}

/** The guards of an `auth` object, as the framework's own kind of middleware. */
export interface Guards<
  Middleware,
  OwnResponses,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
  FrameworkRequest = never,
> {
  /** Lets only users pass who are signed in within the session limits. */
  readonly idpRequired: Middleware;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(
    route: OwnResponses & RouteRule<OwnClaims, Data, Names["provider"], FrameworkRequest>,
  ): Middleware;
  /**
   * Protects against cross-site request forgery. A request that may change something gets 403
   * `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have
   * their own rules.
   */
  readonly csrf: Middleware;
  /**
   * Passes requests below an API's `path` on to the API, with the user's access token, and leaves
   * all others to what comes next. Mount it before middleware that reads bodies.
   *
   * @param api its name in the option `apis`
   * @param rule what the API requires besides a signed-in user
   */
  proxyApi(api: Names["api"], rule?: GuardRule<OwnClaims, Data, Names["provider"]>): Middleware;
}

/** The functions of the core that gates stand for. */
export interface GateParts<FrameworkRequest extends object> {
  /** Whether a shutdown has begun. */
  isClosing(): boolean;
  handle(raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /** Undefined: the request may pass. */
  guard(
    raw: FrameworkRequest,
    rule?: RouteRule<object, Record<string, unknown>, string, FrameworkRequest>,
  ): Promise<Blocked | undefined>;
  declareGuard(options: RouteRule): void;
  /** The reply to a request that may be forged. Undefined: the request may pass. */
  csrf(raw: FrameworkRequest): Promise<Reply | undefined> | undefined;
  /** Undefined: the request is no API's. */
  proxyApi(api: string, rule?: GuardRule): (raw: FrameworkRequest) => Promise<AnyReply> | undefined;
}

/** The gates of one `auth` object, for its adapter. */
export interface Gates<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
> {
  /** Stops the requests for the endpoints. Every request of the application passes it. */
  readonly endpoints: Gate<FrameworkRequest>;
  /**
   * The guard of a route.
   *
   * @throws TypeError a value that the options cannot have
   */
  guard(
    route: RouteRule<OwnClaims, Data, Names["provider"], FrameworkRequest> & AnyGuardResponses,
  ): Gate<FrameworkRequest>;
  /**
   * The guards that an adapter adds to its `auth` object.
   * @param middleware makes the framework's middleware from a gate
   */
  guards<Middleware, OwnResponses>(
    middleware: (gate: Gate<FrameworkRequest>) => Middleware,
  ): Guards<Middleware, OwnResponses, OwnClaims, Data, Names, FrameworkRequest>;
}

/**
 * @param usage how applications of the framework write their guards, for the errors of wrong uses
 */
export function createGates<FrameworkRequest extends object>(
  { isClosing, handle, guard, declareGuard, csrf, proxyApi }: GateParts<FrameworkRequest>,
  usage: Usage,
): Gates<FrameworkRequest> {
  function meet(response: { shouldKeepAlive?: boolean } | undefined): void {
    if (isClosing() && response?.shouldKeepAlive === true) response.shouldKeepAlive = false;
  }

  /** The gate that sends a reply as it is. */
  const gateOf = (
    kind: "forged" | "endpoint",
    replyTo: (raw: FrameworkRequest) => Promise<AnyReply | undefined> | undefined,
  ): Gate<FrameworkRequest> => ({
    enter(raw, response) {
      meet(response);
      return replyTo(raw)?.then((reply) => {
        // The shutdown may have begun since.
        meet(response);
        return reply && { kind, reply };
      });
    },
    keepsPrivate: false,
    assertCalledWith: (given) => assertUsage("csrf", usage, given),
    respond: async (stopped, _args, respond) => respond(stopped.reply),
  });

  function guardOf(
    route: RouteRule<object, Record<string, unknown>, string, FrameworkRequest> & AnyGuardResponses,
  ): Gate<FrameworkRequest> {
    declareGuard(route);
    return {
      enter(raw, response) {
        meet(response);
        return guard(raw, route);
      },
      keepsPrivate: true,
      assertCalledWith: (given) => assertUsage("idpRequired", usage, given),
      respond: (stopped, args, respond) =>
        respondToBlocked(stopped.kind, route, args, () => respond(stopped.reply)),
    };
  }

  function proxyOf(api: string, rule?: GuardRule): Gate<FrameworkRequest> {
    return { ...gateOf("endpoint", proxyApi(api, rule)), streams: true };
  }

  return {
    endpoints: { ...gateOf("endpoint", handle), assertCalledWith: () => undefined },
    guard: guardOf,
    guards: (middleware) => ({
      idpRequired: middleware(guardOf({})),
      idpRequiredWith: (route) => middleware(guardOf(route)),
      csrf: middleware(gateOf("forged", csrf)),
      proxyApi: (api, rule) => middleware(proxyOf(api, rule)),
    }),
  };
}

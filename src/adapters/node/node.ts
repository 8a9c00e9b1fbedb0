import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createAdapterAuth,
  eventStreamTo,
  keepPrivate,
  NodeRequest,
  onClose,
  rememberResponse,
  responseTo,
  sourceOf,
  upgradesOf,
  writeFresh,
  writeReply,
  type AnyRequest,
  type AnyResponse,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
  type UpgradeProxy,
} from "../../adapter.js";
import type {
  AdapterAuth,
  EventStream,
  RouteRule,
  IdpAuthNames,
  IdpAuthOptions,
} from "../../index.js";
import { respondToError } from "./respond-to-error.js";

export type { AnyRequest, AnyResponse, UpgradeProxy } from "../../adapter.js";

/**
 * Your own responses to blocked requests. Each ends the response; the protected handler does not
 * run by itself.
 */
export type GuardResponses<Request = IncomingMessage, Response = ServerResponse> = GuardResponsesOf<
  [request: Request, response: Response]
>;

/**
 * A request listener; a router may pass more arguments than the first two. If it returns a promise,
 * idpauth waits for it.
 */
export type Handler<Request, Response, Rest extends readonly unknown[] = [], Result = unknown> = (
  request: Request,
  response: Response,
  ...rest: Rest
) => Result;

/**
 * A handler behind a guard. It resolves to what the handler returns, and rejects with what the
 * handler throws.
 */
export type Guarded<Request, Response, Rest extends readonly unknown[]> = Handler<
  Request,
  Response,
  Rest,
  Promise<unknown>
>;

/** Options of `auth.listener`. */
export interface ListenerOptions<Request = IncomingMessage, Response = ServerResponse> {
  /**
   * Called with every error that the handler throws or rejects with; it ends the response. Default:
   * an error of idpauth becomes a page or a problem document with its status. For any other error:
   * 500, and the error on stderr. The response contains nothing of an error.
   */
  readonly onError?: (error: unknown, request: Request, response: Response) => unknown;
}

/** Puts a gate before a handler. */
export type HandlerWrapper = <
  Request extends AnyRequest = IncomingMessage,
  Response extends AnyResponse = ServerResponse,
  Rest extends readonly unknown[] = [],
>(
  handler: Handler<Request, Response, Rest>,
) => Handler<Request, Response, Rest>;

/**
 * idpauth for node:http, node:https, and node:http2 by its compatibility API. Guards take the
 * protected handler: `auth.idpRequired((request, response) => …)`,
 * `auth.listener(auth.csrf((request, response) => …))`.
 */
export interface NodeIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<AnyRequest, OwnClaims, Data, Names>,
    UpgradeProxy,
    Omit<Guards<HandlerWrapper, GuardResponses, OwnClaims, Data, Names>, "idpRequiredWith"> {
  /**
   * Runs the startup checks and returns a listener for a server. The listener serves the endpoints
   * and passes every other request to the handler. It catches the errors of the handler, which
   * would otherwise end the process.
   *
   * @throws ConfigurationError with every finding at once
   */
  listener<
    Request extends AnyRequest = IncomingMessage,
    Response extends AnyResponse = ServerResponse,
  >(
    handler: Handler<Request, Response>,
    options?: ListenerOptions<Request, Response>,
  ): (request: Request, response: Response) => void;
  /**
   * Responds to a request for one of the endpoints:
   * `if (await auth.handle(request, response)) return;`
   *
   * @returns false if the path is not an endpoint's; nothing was done then. A rejection is a bug;
   *   the caller catches it.
   */
  handle(request: AnyRequest, response: AnyResponse): false | Promise<true>;
  /**
   * Responds with an event stream that ends with the user's session. The handler needs a guard.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(request: AnyRequest, response: AnyResponse): Promise<EventStream>;
  /**
   * Lets only users pass who are signed in within the session limits:
   * `const reports = auth.idpRequired((request, response) => …)`.
   */
  idpRequired<
    Request extends AnyRequest = IncomingMessage,
    Response extends AnyResponse = ServerResponse,
    Rest extends readonly unknown[] = [],
  >(
    handler: Handler<Request, Response, Rest>,
  ): Guarded<Request, Response, Rest>;
  /**
   * As `idpRequired`, with a rule for the route and your own responses:
   * `auth.idpRequiredWith({ … })(handler)`.
   */
  idpRequiredWith<
    Request extends AnyRequest = IncomingMessage,
    Response extends AnyResponse = ServerResponse,
  >(
    route: GuardResponses<Request, Response> &
      RouteRule<OwnClaims, Data, Names["provider"], Request>,
  ): <Rest extends readonly unknown[] = []>(
    handler: Handler<Request, Response, Rest>,
  ) => Guarded<Request, Response, Rest>;
}

/**
 * Creates the sign-in for a server of node:http. Settings come from the environment; options
 * override them.
 *
 * @example
 * import { createServer } from "node:http";
 * const auth = idpAuth();
 * const reports = auth.idpRequired((request, response) => response.end("reports"));
 * createServer(auth.listener(reports)).listen(3000);
 */

export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: IdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): NodeIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  const { auth, gates, proxyUpgrade, openEventStream, uncaught } = createAdapterAuth<
    AnyRequest,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "node:http",
      request: (message) => new NodeRequest(message),
      source: sourceOf,
      onClose,
      keepPrivate(message) {
        const response = responseTo(message);
        if (response !== undefined) keepPrivate(response);
      },
      middlewareRemedy:
        'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions.',
    },
    {
      takes: "handler",
      idpRequired: "const reports = auth.idpRequired((request, response) => …)",
      csrf: "auth.csrf((request, response) => …)",
    },
  );

  function handle(request: AnyRequest, response: AnyResponse): false | Promise<true> {
    const entered = gates.endpoints.enter(request, response);
    if (entered === undefined) {
      rememberResponse(request, response);
      return false;
    }
    return entered.then((stopped) => {
      writeReply(response, (stopped as Stopped).reply);
      return true;
    });
  }

  function listener<Request extends AnyRequest, Response extends AnyResponse>(
    handler: Handler<Request, Response>,
    { onError }: ListenerOptions<Request, Response> = {},
  ): (request: Request, response: Response) => void {
    auth.start();

    async function respond(error: unknown, request: Request, response: Response): Promise<void> {
      const reply = response.headersSent ? undefined : await uncaught(error, request);
      if (reply === undefined) respondToError(error, request, response);
      else writeFresh(response, reply);
    }

    function failed(error: unknown, request: Request, response: Response): void {
      // If `onError` fails itself, the default responds.
      Promise.resolve()
        .then(() => (onError ?? respond)(error, request, response))
        .catch((again: unknown) => {
          respondToError(again, request, response);
        })
        .catch(() => {
          // Nothing can be sent. Unhandled, this error would end the process.
          (response as Partial<AnyResponse>).destroy?.();
        });
    }

    return (request, response) => {
      try {
        const handled = handle(request, response) || handler(request, response);
        if (!isPromise(handled)) return;
        handled.then(undefined, (error: unknown) => {
          failed(error, request, response);
        });
      } catch (error) {
        failed(error, request, response);
      }
    };
  }

  return {
    ...auth,
    ...(gates.guards<HandlerWrapper, GuardResponses>(wrapper) as Pick<
      NodeIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }>,
      "idpRequired" | "idpRequiredWith" | "csrf" | "proxyApi"
    >),
    handle,
    listener,
    eventStream: eventStreamTo(openEventStream),
    proxyUpgrade: upgradesOf(proxyUpgrade),
  };
}

/** Makes the function that puts a gate before a handler. */
function wrapper(gate: Gate<AnyRequest>): HandlerWrapper {
  return (handler) => {
    gate.assertCalledWith(handler);
    return function idpauth(request, response, ...rest) {
      const proceed = (stopped: Stopped | undefined): unknown => {
        if (stopped === undefined) {
          rememberResponse(request, response);
          if (gate.keepsPrivate) keepPrivate(response);
          return handler(request, response, ...rest);
        }
        const responded = gate.respond(stopped, [request, response, stopped], (reply) => {
          writeReply(response, reply);
        });
        return responded.then(() => undefined);
      };
      if (gate.streams === true) rememberResponse(request, response);
      const entered = gate.enter(request, response);
      return entered === undefined ? proceed(undefined) : entered.then(proceed);
    };
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}

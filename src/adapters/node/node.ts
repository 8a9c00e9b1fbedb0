import type { IncomingMessage, ServerResponse } from "node:http";
import {
  assertHandler,
  createIdpAuth,
  respondToBlocked,
  type AdapterAuth,
  type GuardResponsesOf,
  type GuardRule,
  type IdpAuthOptions,
} from "../../index.js";
import { onClose, rememberResponse } from "./close.js";
import { respondToError } from "./error.js";
import { NodeRequest, type AnyRequest, type AnyResponse } from "./message.js";
import { keepPrivate } from "./private-response.js";
import { writeReply } from "./reply.js";

export { onClose, rememberResponse } from "./close.js";
export { NodeRequest, soleHost, type AnyRequest, type AnyResponse } from "./message.js";
export { keepHeadPrivate, keepPrivate } from "./private-response.js";
export { cancelStream, headerText, readableOf, sendStream, writeReply } from "./reply.js";

/** Your own responses to blocked requests. Each ends the response; the protected handler does not run by itself. */
export type GuardResponses<Request = IncomingMessage, Response = ServerResponse> = GuardResponsesOf<[request: Request, response: Response]>;

/** A request listener; a router may pass more arguments than the first two. If it returns a promise, idpauth waits for it. */
export type Handler<Request, Response, Rest extends readonly unknown[] = []> = (
  request: Request,
  response: Response,
  ...rest: Rest
) => unknown;

/** A handler behind a guard. It resolves to what the handler returns, and rejects with what the handler throws. */
export type Guarded<Request, Response, Rest extends readonly unknown[]> = (
  request: Request,
  response: Response,
  ...rest: Rest
) => Promise<unknown>;

export interface ListenerOptions<Request = IncomingMessage, Response = ServerResponse> {
  /**
   * Called with every error that the handler throws or rejects with; it ends the response. Default: 503 with Retry-After in an
   * outage of the provider or the store. For any other error: 500, and the error on stderr. The response contains nothing of an error.
   */
  readonly onError?: (error: unknown, request: Request, response: Response) => unknown;
}

/** idpauth for node:http, node:https, and node:http2 by its compatibility API. */
export interface NodeIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  AnyRequest,
  OwnClaims,
  Data
> {
  /**
   * Runs the startup checks and returns a listener for a server. The listener serves the endpoints and passes every other request to
   * the handler. It catches the errors of the handler, which would otherwise end the process.
   *
   * @throws ConfigurationError with every finding at once
   */
  listener<Request extends AnyRequest = IncomingMessage, Response extends AnyResponse = ServerResponse>(
    handler: Handler<Request, Response>,
    options?: ListenerOptions<Request, Response>,
  ): (request: Request, response: Response) => void;
  /**
   * Responds to a request for one of the endpoints: `if (await auth.handle(request, response)) return;`
   *
   * @returns false if the path is not an endpoint's; nothing was done then. A rejection is a bug; the caller catches it.
   */
  handle(request: AnyRequest, response: AnyResponse): false | Promise<true>;
  /** Lets only users pass who are signed in within the session limits: `const reports = auth.idpRequired((request, response) => …)`. */
  idpRequired<
    Request extends AnyRequest = IncomingMessage,
    Response extends AnyResponse = ServerResponse,
    Rest extends readonly unknown[] = [],
  >(
    handler: Handler<Request, Response, Rest>,
  ): Guarded<Request, Response, Rest>;
  /** As `idpRequired`, with a rule for the route and your own responses: `auth.idpRequiredWith({ … })(handler)`. */
  idpRequiredWith<Request extends AnyRequest = IncomingMessage, Response extends AnyResponse = ServerResponse>(
    route: GuardResponses<Request, Response> & GuardRule<OwnClaims, Data>,
  ): <Rest extends readonly unknown[] = []>(handler: Handler<Request, Response, Rest>) => Guarded<Request, Response, Rest>;
  /**
   * Protects a handler against cross-site request forgery: `auth.listener(auth.csrf((request, response) => …))`. A request that may change
   * something gets 403 `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  csrf<Request extends AnyRequest = IncomingMessage, Response extends AnyResponse = ServerResponse, Rest extends readonly unknown[] = []>(
    handler: Handler<Request, Response, Rest>,
  ): Handler<Request, Response, Rest>;
}

/**
 * Creates the sign-in for a server of node:http. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * const reports = auth.idpRequired((request, response) => …);
 * createServer(auth.listener((request, response) => …)).listen(3000);
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): NodeIdpAuth<OwnClaims, Data> {
  const {
    handle: replyTo,
    guard,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<AnyRequest, OwnClaims, Data>(options, {
    name: "node:http",
    request: (message) => new NodeRequest(message),
    onClose,
    middlewareRemedy: 'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions.',
  });

  function handle(request: AnyRequest, response: AnyResponse): false | Promise<true> {
    const handled = replyTo(request);
    if (handled === undefined) {
      rememberResponse(request, response);
      return false;
    }
    return handled.then((reply) => {
      writeReply(response, reply);
      return true;
    });
  }

  function idpRequiredWith<Request extends AnyRequest, Response extends AnyResponse>(
    route: GuardResponses<Request, Response> & GuardRule<OwnClaims, Data>,
  ) {
    declareGuard(route);
    const responses: GuardResponses<Request, Response> = route;
    return <Rest extends readonly unknown[]>(handler: Handler<Request, Response, Rest>): Guarded<Request, Response, Rest> => {
      assertHandler(handler, "const reports = auth.idpRequired((request, response) => …)");
      return async function idpRequired(request, response, ...rest) {
        const blocked = await guard(request, route);
        if (blocked !== undefined) {
          await respondToBlocked(blocked, responses, [request, response], [], (reply) => {
            writeReply(response, reply);
          });
          return undefined;
        }
        rememberResponse(request, response);
        keepPrivate(response);
        return handler(request, response, ...rest);
      };
    };
  }

  function listener<Request extends AnyRequest, Response extends AnyResponse>(
    handler: Handler<Request, Response>,
    { onError = respondToError }: ListenerOptions<Request, Response> = {},
  ): (request: Request, response: Response) => void {
    auth.start();

    function failed(error: unknown, request: Request, response: Response): void {
      // If `onError` fails itself, the default responds.
      Promise.resolve()
        .then(() => onError(error, request, response))
        .catch((again: unknown) => {
          respondToError(again, request, response);
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
    handle,
    listener,
    idpRequired: <Request extends AnyRequest, Response extends AnyResponse, Rest extends readonly unknown[]>(
      handler: Handler<Request, Response, Rest>,
    ) => idpRequiredWith<Request, Response>({})(handler),
    idpRequiredWith,
    csrf(handler) {
      assertHandler(handler, "auth.csrf((request, response) => …)", "csrf");
      return function idpauthCsrf(request, response, ...rest) {
        const refused = refuse(request);
        if (refused === undefined) return handler(request, response, ...rest);
        writeReply(response, refused);
        return undefined;
      };
    },
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}

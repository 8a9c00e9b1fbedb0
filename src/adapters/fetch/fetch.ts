import {
  createAdapterAuth,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
} from "../../adapter.js";
import type {
  AdapterAuth,
  EventStream,
  RouteRule,
  IdpAuthNames,
  IdpAuthOptions,
} from "../../index.js";
import { OpenResponses } from "./fetch-close.js";
import { responseOf, toResponse, WebRequest } from "./fetch-message.js";
import { keepPrivate } from "./private-fetch-response.js";

export { OpenResponses } from "./fetch-close.js";
export { responseOf, toResponse, WebRequest } from "./fetch-message.js";
export { keepPrivate } from "./private-fetch-response.js";

/** An event stream with the response that the handler returns. */
export interface EventStreamWithResponse extends EventStream {
  /** Return it from the handler, unchanged or as the body of your own. */
  readonly response: Response;
}

/** Responds to a request. `Rest`: what the server passes beside it, such as `info` or `context`. */
export type Handler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>;

/** Puts the guard before a handler, which does not run for a blocked request. */
export type Guard = <Rest extends readonly unknown[]>(
  handler: Handler<Rest>,
) => (request: Request, ...rest: Rest) => Promise<Response>;

/** Your own responses to blocked requests. The protected handler does not run. */
export type GuardResponses = GuardResponsesOf<[request: Request], [], Response | Promise<Response>>;

/**
 * idpauth for servers that turn a `Request` of the Fetch standard into a `Response`. Guards take
 * the protected handler: `auth.idpRequired((request) => …)`, `auth.csrf((request) => …)`.
 */
export interface FetchIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<Request, OwnClaims, Data, Names>,
    Guards<Guard, GuardResponses, OwnClaims, Data, Names, Request> {
  /**
   * Responds to a request for one of the endpoints. It rejects with any error, for the
   * application's own error handling.
   *
   * @returns undefined if the path is not an endpoint's
   * @throws ConfigurationError synchronously, if `start` was not called and a check fails
   */
  fetch(request: Request): Promise<Response> | undefined;
  /**
   * Opens an event stream that ends with the user's session: `return stream.response`. The handler
   * needs a guard.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(request: Request): Promise<EventStreamWithResponse>;
  /**
   * The guard for hooks, loaders and middleware. It returns the response for a user who must not
   * pass, and undefined if the user may pass. Pass your own response to `keepPrivate` then, so that
   * no cache stores it: `return keepPrivate(await resolve(event))`.
   */
  guard(
    request: Request,
    route?: GuardResponses & RouteRule<OwnClaims, Data, Names["provider"], Request>,
  ): Promise<Response | undefined>;
}

/**
 * Creates the sign-in for a fetch-style server. Settings come from the environment; options
 * override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.start();
 * const reports = auth.idpRequired((request) => Response.json({ path: new URL(request.url).pathname }));
 * const response = (await auth.fetch(request)) ?? (await reports(request));
 */
export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: IdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): FetchIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  const responses = new OpenResponses();
  const { auth, gates, openEventStream, uncaught } = createAdapterAuth<
    Request,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "a fetch-style server",
      request: (raw) => new WebRequest(raw),
      source: (raw) => ({ web: raw }),
      onClose: (raw, closed) => responses.onClose(raw, raw.signal, closed),
    },
    {
      takes: "handler",
      idpRequired: "const reports = auth.idpRequired((request) => Response.json({ … }))",
      csrf: "auth.csrf((request) => Response.json({ … }))",
    },
  );

  function wrapper(gate: Gate<Request>): Guard {
    return (handler) => {
      gate.assertCalledWith(handler);
      return async (request, ...rest) => {
        let stopped: Stopped | undefined;
        try {
          stopped = await gate.enter(request);
        } catch (error) {
          responses.end(request);
          throw error;
        }
        if (stopped !== undefined) {
          const response = await stoppedResponse(gate, stopped, request);
          return gate.streams === true ? responses.follow(request, response) : response;
        }
        try {
          const response = await handler(request, ...rest);
          return gate.keepsPrivate ? keepPrivate(responses.follow(request, response)) : response;
        } catch (error) {
          if (gate.keepsPrivate) responses.end(request);
          const reply = await uncaught(error, request);
          if (reply === undefined) throw error;
          return toResponse(reply, request.method);
        }
      };
    };
  }

  return {
    ...auth,
    ...gates.guards<Guard, GuardResponses>(wrapper),
    fetch(request) {
      return gates.endpoints
        .enter(request)
        ?.then((stopped) => stoppedResponse(gates.endpoints, stopped as Stopped, request));
    },
    eventStream: (request) =>
      openEventStream(request, (reply) => toResponse(reply, request.method)),
    async guard(request, route = {}) {
      const gate = gates.guard(route);
      const stopped = await gate.enter(request);
      return stopped && stoppedResponse(gate, stopped, request);
    },
  };
}

function stoppedResponse(
  gate: Gate<Request>,
  stopped: Stopped,
  request: Request,
): Promise<Response> {
  return responseOf(stopped, request.method, (byDefault) =>
    gate.respond(stopped, [request, stopped], byDefault),
  );
}

import { assertHandler, createIdpAuth, type AdapterAuth, type GuardResponsesOf, type GuardRule, type IdpAuthOptions } from "../../index.js";
import { OpenResponses } from "./close.js";
import { blockedResponse, toResponse, WebRequest } from "./message.js";
import { keepPrivate } from "./private-response.js";

export { OpenResponses } from "./close.js";
export { blockedResponse, toResponse, WebRequest } from "./message.js";
export { keepPrivate } from "./private-response.js";

/** Responds to a request. `Rest`: what the server passes beside it, such as `info` or `context`. */
export type Handler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>;

/** Puts the guard before a handler, which does not run for a blocked request. */
export type Guard = <Rest extends readonly unknown[]>(handler: Handler<Rest>) => (request: Request, ...rest: Rest) => Promise<Response>;

/** Your own responses to blocked requests. The protected handler does not run. */
export type GuardResponses = GuardResponsesOf<[request: Request], [], Response | Promise<Response>>;

/** idpauth for servers that turn a `Request` of the Fetch standard into a `Response`. */
export interface FetchIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends AdapterAuth<
  Request,
  OwnClaims,
  Data
> {
  /**
   * Responds to a request for one of the endpoints. It rejects with any error, for the application's own error handling.
   *
   * @returns undefined if the path is not an endpoint's
   * @throws ConfigurationError synchronously, if `start` was not called and a check fails
   */
  fetch(request: Request): Promise<Response> | undefined;
  /** Lets only users pass to the handler who are signed in within the session limits. */
  readonly idpRequired: Guard;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): Guard;
  /**
   * The guard for hooks, loaders and middleware. It returns the response for a user who must not pass, and undefined if the user may
   * pass. Pass your own response to `keepPrivate` then, so that no cache stores it: `return keepPrivate(await resolve(event))`.
   */
  guard(request: Request, route?: GuardResponses & GuardRule<OwnClaims, Data>): Promise<Response | undefined>;
  /**
   * Protects a handler against cross-site request forgery: `auth.csrf((request) => …)`. A request that may change something gets 403
   * `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have their own rules.
   */
  readonly csrf: Guard;
}

/**
 * Creates the sign-in for a fetch-style server. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.start();
 * const reports = auth.idpRequired((request) => Response.json({ … }));
 * const response = (await auth.fetch(request)) ?? (await reports(request));
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: IdpAuthOptions<OwnClaims, Data> = {},
): FetchIdpAuth<OwnClaims, Data> {
  const responses = new OpenResponses();
  const {
    handle,
    guard: decide,
    declareGuard,
    csrf: refuse,
    ...auth
  } = createIdpAuth<Request, OwnClaims, Data>(options, {
    name: "a fetch-style server",
    request: (raw) => new WebRequest(raw),
    onClose: (raw, closed) => {
      responses.onClose(raw, raw.signal, closed);
    },
  });

  async function guard(request: Request, route: GuardResponses & GuardRule<OwnClaims, Data> = {}): Promise<Response | undefined> {
    declareGuard(route);
    const own: GuardResponses = route;
    const blocked = await decide(request, route);
    return blocked === undefined ? undefined : blockedResponse(blocked, own, [request], []);
  }

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): Guard {
    declareGuard(route);
    return (handler) => {
      assertHandler(handler, "const reports = auth.idpRequired((request) => Response.json({ … }))");
      return async (request, ...rest) => {
        const blocked = await guard(request, route);
        if (blocked !== undefined) return blocked;
        try {
          return keepPrivate(responses.follow(request, await handler(request, ...rest)));
        } catch (error) {
          responses.end(request);
          throw error;
        }
      };
    };
  }

  return {
    ...auth,
    fetch: (request) => handle(request)?.then((reply) => toResponse(reply, request.method)),
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
    guard,
    csrf(handler) {
      assertHandler(handler, "auth.csrf((request) => Response.json({ … }))", "csrf");
      return async (request, ...rest) => {
        const refused = refuse(request);
        return refused === undefined ? handler(request, ...rest) : toResponse(refused, request.method);
      };
    },
  };
}

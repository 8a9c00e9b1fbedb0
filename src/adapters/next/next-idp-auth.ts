import type { NextRequest } from "next/server.js";
import type {
  GuardResponsesOf,
  IdpAuth,
  REQUEST_ACCESSORS,
  OBSERVE,
  SESSION_FOR_TESTS,
  SETTLED,
  STARTUP_CHECKS,
} from "../../adapter.js";
import type {
  ClientState,
  IdpAuthNames,
  Finding,
  GuardRule,
  RouteRule,
  ListedSession,
  LoginUrlOptions,
  Session,
  Subject,
} from "../../index.js";
import type { EventStreamWithResponse } from "../fetch/fetch.js";

/** The second argument of the proxy: the `NextFetchEvent` of Next.js. */
export interface ProxyEvent {
  /** Keeps the function running until the promise settles. */
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * A route handler, or the function of `proxy.ts`. `More`: its further arguments, such as
 * `{ params }`.
 */
export type NextHandler<More extends readonly unknown[], Result> = (
  request: NextRequest,
  ...context: More
) => Result | Promise<Result>;

/** Your own responses to blocked requests. `context`: what Next.js passes beside the request. */
export type GuardResponses = GuardResponsesOf<
  [request: NextRequest, context: unknown],
  [],
  Response | Promise<Response>
>;

/**
 * Puts the guard before a route handler or a proxy. The handler does not run for a blocked request.
 */
export type RouteGuard = <More extends readonly unknown[], Result>(
  handler: NextHandler<More, Result>,
) => (request: NextRequest, ...context: More) => Promise<Result | Response>;

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** What a page or a server action requires besides a signed-in user, and what others get. */
export interface PageRule<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Provider extends string = string,
> extends GuardRule<OwnClaims, Data, Provider> {
  /**
   * Path and query to return to after a login. Default: the page of the request if `auth.proxy`
   * guards it. Otherwise the login leads to IDP_AUTH_FINAL_REDIRECT_URL, since a component does not
   * know its own address.
   */
  readonly returnTo?: string;
  /**
   * Ends the page for a user whom `allow` does not let pass: `forbidden`, `notFound`, or a function
   * that calls `redirect`, all of next/navigation. Default: an error whose `digest` is `forbidden`,
   * for the nearest `error.tsx`.
   */
  readonly forbidden?: () => never;
}

/**
 * An accessor whose request can be left out. Default: the current request. It is a method, as the
 * accessors of every framework, so that code that takes a `NextIdpAuth` also takes one whose names
 * are known.
 */
type WithOptionalRequest<Accessor> = Accessor extends (
  raw: Request,
  ...more: infer More
) => infer Result
  ? { method(...args: More): Result; method(request: Request, ...args: More): Result }["method"]
  : never;

/** The accessors that only need a request, as Next.js has them. */
export type RequestAccessors<
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
> = {
  [
    Name in keyof Pick<IdpAuth<Request, OwnClaims, Data, Names>, (typeof REQUEST_ACCESSORS)[number]>
  ]: WithOptionalRequest<IdpAuth<Request, OwnClaims, Data, Names>[Name]>;
};

/**
 * idpauth for the App Router of Next.js 16. Without a request, a function reads the current one
 * from `headers()`. That works in server components, server actions, route handlers and the proxy,
 * and makes a page dynamic.
 */
export interface NextIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    RequestAccessors<OwnClaims, Data, Names>,
    Pick<
      IdpAuth<Request, OwnClaims, Data, Names>,
      | "endSession"
      | "revokeIdpToken"
      | "forgetProvider"
      | "checkProvider"
      | "providerAddresses"
      | "isValidIdpUrl"
      | "close"
      | "on"
      | typeof OBSERVE
      | typeof SESSION_FOR_TESTS
      | typeof SETTLED
      | typeof STARTUP_CHECKS
    > {
  /**
   * Runs the startup checks; call it in `register()` of `instrumentation.ts`. On a mistake Next.js
   * logs every finding and serves nothing, but its process does not end. Without the call, the
   * checks run at the first request.
   *
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /**
   * The endpoints, for `app/idpauth/[[...path]]/route.ts`. Next.js responds itself to methods that
   * the file does not export.
   */
  readonly handlers: Readonly<
    Record<(typeof METHODS)[number], (request: NextRequest) => Promise<Response>>
  >;
  /**
   * For `proxy.ts`: guards the paths of its matcher, and tells `requireSession` the page of the
   * request.
   */
  readonly proxy: (request: NextRequest, event: ProxyEvent) => Promise<Response>;
  /** Lets only users pass to the handler who are signed in within the session limits. */
  readonly idpRequired: RouteGuard;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(
    route: GuardResponses & RouteRule<OwnClaims, Data, Names["provider"], NextRequest>,
  ): RouteGuard;
  /**
   * Protects a route handler against cross-site request forgery, or all routes of the matcher:
   * `export const proxy = auth.csrf(auth.proxy)`. A request that may change something gets 403
   * `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have
   * their own rules.
   */
  readonly csrf: RouteGuard;
  /**
   * A route handler that passes requests below an API's `path` on to the API:
   * `export const GET = auth.proxyApi("orders")` in `app/api/orders/[[...path]]/route.ts`. Without
   * WebSockets.
   */
  proxyApi(
    api: Names["api"],
    rule?: GuardRule<OwnClaims, Data, Names["provider"]>,
  ): (request: NextRequest) => Promise<Response>;
  /**
   * The session of the user, never null. In a server component or server action, it is the guard: a
   * user who is not signed in, or does not meet the rule, is redirected to a login. Behind
   * `idpRequired` or `idpRequiredWith`, it is the session that the guard saw.
   *
   * @param from the request of a route handler, or the rule of a component or an action
   * @throws GuardMissingError (500) `from` is a request that no guard let pass
   * @throws IdpAuthError `forbidden`: the rule's `allow` does not let the user pass, and the rule
   *   has no `forbidden`
   * @throws ProviderUnavailableError | StoreUnavailableError in a component for the nearest
   *   `error.tsx`, where `digest` is the code
   * @throws TypeError an unknown key in the rule, which nothing checks
   */
  requireSession(
    from?: Request | PageRule<OwnClaims, Data, Names["provider"]>,
  ): Promise<Session<OwnClaims, Data>>;

  /**
   * The session of a signed-in user: user, verified claims and times, read-only; null when signed
   * out. It applies the same policy.
   */
  getSession<const Value>(options: {
    readonly ifUnavailable: Value;
  }): Promise<Session<OwnClaims, Data> | Value | null>;
  /** The same for the request of a route handler. */
  getSession<const Value>(
    request: Request,
    options: { readonly ifUnavailable: Value },
  ): Promise<Session<OwnClaims, Data> | Value | null>;
  /** Without `ifUnavailable`, an outage rejects. */
  getSession(request?: Request): Promise<Session<OwnClaims, Data> | null>;
  /**
   * What the browser may see of the session, for the page's client.
   *
   * @param options `ifUnavailable`: what it returns in an outage. In the root layout, whose errors
   *   only `global-error` shows, pass null: the client then starts as `loading`
   */
  clientState<const Value>(options: {
    readonly ifUnavailable: Value;
  }): Promise<ClientState | Value>;
  /** The same for the request of a route handler. */
  clientState<const Value>(
    request: Request,
    options: { readonly ifUnavailable: Value },
  ): Promise<ClientState | Value>;
  /** Without `ifUnavailable`, an outage rejects. */
  clientState(request?: Request): Promise<ClientState>;
  /**
   * The session that the first gate of this request found, for a log; see `Accessors`.
   * @param request the request that the handler or the proxy got
   */
  seenSession(request: Request): Session<OwnClaims, Data> | null;
  /**
   * The path and query of a login that returns to a page, for `<a href>`. Without `returnTo`, it
   * returns to the page of the request if `auth.proxy` guards it. Below a `basePath`, `Link` and
   * `redirect` would add the `basePath` once more.
   *
   * @throws TypeError for a parameter that a login does not pass on, or a `returnTo` that is not
   *   text
   */
  loginUrl(options?: LoginUrlOptions<Names["provider"]>): Promise<string>;
  /** The same for the request of a route handler. */
  loginUrl(request: Request, options?: LoginUrlOptions<Names["provider"]>): Promise<string>;
  /**
   * For route handlers that stream a response; see `Accessors`.
   * @param request the request that the handler got
   */
  whenEnded(request: Request): AbortSignal;
  /**
   * For a guarded route handler: opens an event stream that ends with the user's session. The
   * handler returns its `response`.
   *
   * @param request the request that the handler got
   * @throws GuardMissingError (500) no guard let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(request: Request): Promise<EventStreamWithResponse>;
  /**
   * A user's sessions, newest first.
   * @param current the request whose own session is marked; default the current request
   */
  listSessions(subject: Subject, current?: Request): Promise<readonly ListedSession[]>;
  /**
   * Ends all sessions of a user and returns their number.
   *
   * @param options `except`: the request whose own session stays; `"current"`: the current request,
   *   where you have no `Request`
   */
  endAllSessions(
    subject: Subject,
    options?: { readonly except?: Request | "current" },
  ): Promise<number>;
}

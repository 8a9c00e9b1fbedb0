import { headers } from "next/headers.js";
import { NextResponse, type NextRequest } from "next/server.js";
import {
  assertGuardOptions,
  assertHandler,
  SESSION_FOR_TESTS,
  type AccessTokenOptions,
  type Blocked,
  type Credentials,
  type Explanation,
  type Finding,
  type ProbeDetails,
  type GuardResponsesOf,
  type GuardRule,
  type IdpAuth,
  type LoginUrlOptions,
  type Session,
  type Subject,
  type UserPayload,
} from "../../index.js";
import { blockedResponse, keepPrivate, toResponse } from "../fetch/fetch.js";
import { withDigest } from "./digest.js";
import { absoluteLoginUrl, pageLoginUrl } from "./login-url.js";
import { openResponses } from "./open-responses.js";
import { redirect } from "./redirect.js";
import { ComponentRequest, RouteRequest, TARGET_HEADER, type Incoming } from "./request.js";
import { processComponent, type NextIdpAuthOptions } from "./process-component.js";

export type { NextIdpAuthOptions } from "./process-component.js";

/** The second argument of the proxy: the `NextFetchEvent` of Next.js. */
interface ProxyEvent {
  waitUntil(promise: Promise<unknown>): void;
}

/** The further arguments of a route handler, such as `{ params }`, or of the proxy. */
type Context = readonly unknown[];

/** A route handler, or the function of `proxy.ts`. */
export type NextHandler<More extends Context, Result> = (request: NextRequest, ...context: More) => Result | Promise<Result>;

/** Your own responses to blocked requests. `context`: what Next.js passes beside the request. */
export type GuardResponses = GuardResponsesOf<[request: NextRequest, context: unknown], [], Response | Promise<Response>>;

/** Puts the guard before a route handler or a proxy. The handler does not run for a blocked request. */
export type RouteGuard = <More extends Context, Result>(
  handler: NextHandler<More, Result>,
) => (request: NextRequest, ...context: More) => Promise<Result | Response>;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/**
 * idpauth for the App Router of Next.js 16. Without a request, a function reads the current one from `headers()`. That works in server
 * components, server actions, route handlers and the proxy, and makes a page dynamic.
 */
export interface NextIdpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>> extends Pick<
  IdpAuth<Incoming, OwnClaims, Data>,
  "endSession" | "revokeIdpToken" | "isValidIdpUrl" | "mountPath" | "idle" | "on" | typeof SESSION_FOR_TESTS
> {
  /**
   * Runs the startup checks; call it in `register()` of `instrumentation.ts`. On a mistake Next.js logs every finding and serves nothing,
   * but its process does not end. Without the call, the checks run at the first request.
   *
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /** The endpoints, for `app/idpauth/[[...path]]/route.ts`. Next.js responds itself to methods that the file does not export. */
  readonly handlers: Readonly<Record<(typeof METHODS)[number], (request: NextRequest) => Promise<Response>>>;
  /** For `proxy.ts`: guards the paths of its matcher, and tells `requireUser` the page of the request. */
  readonly proxy: (request: NextRequest, event: ProxyEvent) => Promise<Response>;
  /** Lets only users pass to the handler who are signed in within the session limits. */
  readonly idpRequired: RouteGuard;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): RouteGuard;
  /**
   * The user of a server component or server action. A user who is not signed in is redirected to the login.
   *
   * @param options `returnTo`: path and query to return to. Default: the page of the request if `auth.proxy` guards it. Otherwise the
   *   login leads to IDP_AUTH_FINAL_REDIRECT_URL, since a component does not know its own address
   * @throws ProviderUnavailableError | StoreUnavailableError for the nearest `error.tsx`, where `digest` is the code
   */
  requireUser(options?: { readonly returnTo?: string }): Promise<UserPayload>;

  /**
   * The user's credentials, refreshed when the ID token has expired; null when signed out. It does not look at the expiry of the
   * access token in them: for a token that an API still accepts, use `getAccessToken`. The result contains the client secret and
   * tokens, so it must never reach a browser.
   *
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be signed in
   */
  getCredentials(request?: Request): Promise<Credentials | null>;
  /** The user's email, name and picture, after the same gate as `getCredentials`; null when signed out. */
  getUser(request?: Request): Promise<UserPayload | null>;
  /** The session of a signed-in user: user, verified claims and times, read-only; null when signed out. It applies the same gate. */
  getSession(request?: Request): Promise<Session<OwnClaims, Data> | null>;
  /** What the browser may see of the session: the body of `GET /idpauth/session?details=true`. It does not count as activity. */
  clientState(request?: Request): Promise<ProbeDetails>;
  /** The application's own data, read-only; undefined when signed out. */
  getData(request?: Request): Promise<Readonly<Data> | undefined>;
  /**
   * Changes the application's own data by compare-and-swap.
   *
   * @param change a pure function from the newest data to the next data; it may run again
   * @returns the new data; undefined when signed out, or if the session has ended meanwhile
   * @throws TypeError the result is not JSON, or larger than `dataLimit`; nothing changes
   */
  updateData(change: (data: Readonly<Data>) => Data, request?: Request): Promise<Readonly<Data> | undefined>;
  /** The record's specified keys as stored, for debugging. It applies no gate: never authorize by it; use `getSession`. */
  readSessionRecord(request?: Request): Promise<Readonly<Record<string, unknown>> | null>;
  /** As `getCredentials`, but also looks at the access token's own expiry. */
  getAccessToken(options?: AccessTokenOptions, request?: Request): Promise<string | null>;
  /**
   * Whether the session is valid at this moment without a refresh. It is false for a signed-in user whose ID token has just
   * expired. To learn whether a user is signed in, use `getUser` or `getSession`.
   */
  checkIdpAuthentication(request?: Request): Promise<boolean>;
  /** As `checkIdpAuthentication`, with the reason. */
  explainIdpAuthentication(request?: Request): Promise<Explanation>;
  /**
   * The path and query of a login that returns to a page, for `<a href>`. Without `returnTo`, it returns to the page of the request if
   * `auth.proxy` guards it. Below a `basePath`, `Link` and `redirect` would add the `basePath` once more.
   *
   * @throws TypeError for a parameter that a login does not pass on, or a `returnTo` that is not text
   */
  loginUrl(options?: LoginUrlOptions, request?: Request): Promise<string>;
  /** For route handlers that stream a response; see `Accessors`. @param request the request that the handler got */
  whenEnded(request: Request): AbortSignal;
  /** @param current the request whose own session is marked in the list; default the current request */
  listSessions(subject: Subject, current?: Request): ReturnType<IdpAuth<Incoming>["listSessions"]>;
  /** @param options `except`: the request whose own session stays; `"current"`: the current request, where you have no `Request` */
  endAllSessions(subject: Subject, options?: { readonly except?: Request | "current" }): Promise<number>;
}

/**
 * Creates the sign-in for a Next.js application. Settings come from the environment; options override them. Nothing is read or opened
 * before `start` or the first request, so `next build` needs no secrets.
 *
 * @example
 * // lib/auth.ts
 * export const auth = idpAuth();
 * // app/idpauth/[[...path]]/route.ts
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = auth.handlers;
 * // a server component
 * const user = await auth.requireUser();
 */
export function idpAuth<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
  options: NextIdpAuthOptions<OwnClaims, Data> = {},
): NextIdpAuth<OwnClaims, Data> {
  const open = openResponses();
  const component = processComponent<OwnClaims, Data>(options, {
    name: "Next.js",
    request: (raw) => (raw instanceof Request ? new RouteRequest(raw) : raw),
    onClose(raw, closed) {
      // Components and the proxy do not know when the response ends.
      if (raw instanceof Request) open.onClose(raw, raw.signal, closed);
    },
  });

  /** By the object of `headers()`, of which a request has one: so the guard and the accessors share one read of the session. */
  const guardedRequests = new WeakMap<object, Incoming>();
  const components = new WeakMap<object, ComponentRequest>();

  /** The current request, for functions that were called without one. */
  async function current(): Promise<Incoming> {
    const seen = await headers();
    const known = guardedRequests.get(seen) ?? components.get(seen) ?? new ComponentRequest(seen);
    if (known instanceof ComponentRequest) components.set(seen, known);
    return known;
  }

  async function forRequest<Result>(
    call: (auth: IdpAuth<Incoming, OwnClaims, Data>, raw: Incoming) => Promise<Result>,
    request?: Request,
  ): Promise<Result> {
    const raw = request ?? (await current());
    return withDigests(() => call(component(), raw));
  }

  async function withDigests<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      throw withDigest(error);
    }
  }

  async function endpoint(request: NextRequest): Promise<Response> {
    // Makes the route dynamic: Next.js neither prerenders nor caches the response.
    await headers();
    const reply = await component().handle(request);
    // Next.js matches decoded paths. A path that is an endpoint's only when decoded is not found.
    return reply === undefined ? new Response(null, { status: 404 }) : toResponse(reply, request.method);
  }

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): RouteGuard {
    assertGuardOptions(route);
    const responses: GuardResponses = route;

    async function turnAway(request: NextRequest, context: unknown, blocked: Blocked): Promise<Response> {
      const response = await blockedResponse(blocked, responses, [request, context], []);
      // The redirect of a proxy must be absolute.
      const isNavigation = blocked.kind === "navigation" || (blocked.kind === "stepUp" && blocked.isNavigation);
      if (isNavigation && responses[blocked.kind] === undefined && isProxyEvent(context)) {
        response.headers.set("Location", absoluteLoginUrl(blocked, request.url));
      }
      return response;
    }

    return (handler) => {
      assertHandler(handler, "export const GET = auth.idpRequired(async (request) => Response.json({ … }))");
      return async (request, ...context) => {
        const raw = isProxyEvent(context[0]) ? proxied(request) : request;
        guardedRequests.set(await headers(), raw);
        const blocked = await component().guard(raw, route);
        if (blocked !== undefined) return turnAway(request, context[0], blocked);
        try {
          const result = await handler(request, ...context);
          return result instanceof Response ? keepPrivate(open.follow(request, result)) : result;
        } catch (error) {
          open.end(request);
          throw error;
        }
      };
    };
  }

  async function requireUser(page: { readonly returnTo?: string } = {}): Promise<UserPayload> {
    const user = await forRequest((auth, raw) => auth.getUser(raw));
    if (user !== null) return user;
    const raw = await current();
    const blocked = await component().guard(raw);
    // The user signed in, or a refresh ended, between the two calls.
    if (blocked === undefined) return requireUser(page);
    if (blocked.kind === "unavailable") throw withDigest(blocked.error);
    if (blocked.kind === "forbidden" || blocked.kind === "stepUp") throw new TypeError("A guard without a rule blocked by a rule.");
    return redirect(pageLoginUrl(blocked, raw, page.returnTo));
  }

  const idpRequired = idpRequiredWith({});
  const guarded = idpRequired((request, _event: ProxyEvent) => {
    const headers = new Headers(request.headers);
    headers.set(TARGET_HEADER, proxied(request).target);
    return NextResponse.next({ request: { headers } });
  });

  return {
    start: () => component().start(),
    handlers: Object.fromEntries(METHODS.map((method) => [method, endpoint])) as NextIdpAuth["handlers"],
    async proxy(request, event) {
      // The endpoints are never guarded, even if the matcher includes them.
      const { pathname } = request.nextUrl;
      return `${pathname}/`.startsWith(component().mountPath()) ? NextResponse.next() : guarded(request, event);
    },
    idpRequired,
    idpRequiredWith,
    requireUser,

    getCredentials: (request) => forRequest((auth, raw) => auth.getCredentials(raw), request),
    getUser: (request) => forRequest((auth, raw) => auth.getUser(raw), request),
    getSession: (request) => forRequest((auth, raw) => auth.getSession(raw), request),
    clientState: (request) => forRequest((auth, raw) => auth.clientState(raw), request),
    getData: (request) => forRequest((auth, raw) => auth.getData(raw), request),
    updateData: (change, request) => forRequest((auth, raw) => auth.updateData(raw, change), request),
    readSessionRecord: (request) => forRequest((auth, raw) => auth.readSessionRecord(raw), request),
    getAccessToken: (options, request) => forRequest((auth, raw) => auth.getAccessToken(raw, options), request),
    checkIdpAuthentication: (request) => forRequest((auth, raw) => auth.checkIdpAuthentication(raw), request),
    explainIdpAuthentication: (request) => forRequest((auth, raw) => auth.explainIdpAuthentication(raw), request),
    loginUrl: (options = {}, request) =>
      forRequest(async (auth, raw) => {
        // Without the proxy, a component does not know its page.
        const isUnplaced = raw instanceof ComponentRequest && !raw.isPlaced;
        return auth.loginUrl(raw, options.returnTo === undefined && isUnplaced ? { ...options, returnTo: null } : options);
      }, request),
    listSessions: (subject, request) => forRequest((auth, raw) => auth.listSessions(subject, raw), request),
    endAllSessions: (subject, { except } = {}) =>
      except === undefined
        ? withDigests(() => component().endAllSessions(subject))
        : forRequest((auth, raw) => auth.endAllSessions(subject, { except: raw }), except === "current" ? undefined : except),
    whenEnded: (request) => component().whenEnded(request),
    endSession: (subject, id) => component().endSession(subject, id),
    revokeIdpToken: (token, hint) => component().revokeIdpToken(token, hint),
    isValidIdpUrl: (url) => component().isValidIdpUrl(url),
    mountPath: () => component().mountPath(),
    idle: () => component().idle(),
    on: (name, listener) => component().on(name, listener),
    [SESSION_FOR_TESTS]: async (asked) => component()[SESSION_FOR_TESTS](asked),
  };
}

/** The request of the proxy. Not for route handlers: reading `nextUrl` makes Next.js write to their request. */
function proxied(request: NextRequest): RouteRequest {
  return new RouteRequest(request, request.nextUrl.basePath);
}

function isProxyEvent(context: unknown): context is ProxyEvent {
  return typeof context === "object" && context !== null && "waitUntil" in context;
}

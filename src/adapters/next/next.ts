import { headers } from "next/headers.js";
import { NextResponse, type NextRequest } from "next/server.js";
import {
  assertGuardOptions,
  assertUsage,
  REQUEST_ACCESSORS,
  respondToBlocked,
  SESSION_FOR_TESTS,
  SETTLED,
  STARTUP_CHECKS,
  type Blocked,
  type GuardRule,
  type IdpAuth,
  type SessionOptions,
  type Usage,
} from "../../index.js";
import { keepPrivate, responseOf, toResponse } from "../fetch/fetch.js";
import {
  METHODS,
  type Context,
  type GuardResponses,
  type NextIdpAuth,
  type ProxyEvent,
  type RouteGuard,
} from "./next-idp-auth.js";
import { absoluteLoginUrl, pageLoginUrl, redirect, withDigest } from "./next-redirects.js";
import { ComponentRequest, RouteRequest, TARGET_HEADER, type Incoming } from "./next-request.js";
import { openResponses, processComponent, type NextIdpAuthOptions } from "./process-component.js";

export type { GuardResponses, NextHandler, NextIdpAuth, RouteGuard } from "./next-idp-auth.js";
export type { NextIdpAuthOptions } from "./process-component.js";

/** How an application of Next.js writes its guards. */
const USAGE: Usage = {
  takes: "handler",
  idpRequired: "export const GET = auth.idpRequired(async (request) => Response.json({ … }))",
  csrf: "export const POST = auth.csrf(async (request) => Response.json({ … }))",
};

/**
 * Creates the sign-in for a Next.js application. Settings come from the environment; options
 * override them. Nothing is read or opened before `start` or the first request, so `next build`
 * needs no secrets.
 *
 * @example
 * // lib/auth.ts
 * export const auth = idpAuth();
 * // app/idpauth/[[...path]]/route.ts
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = auth.handlers;
 * // a server component
 * const user = await auth.requireUser();
 */
export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
>(options: NextIdpAuthOptions<OwnClaims, Data> = {}): NextIdpAuth<OwnClaims, Data> {
  const open = openResponses();
  const component = processComponent<OwnClaims, Data>(options, {
    name: "Next.js",
    mountsLate: true,
    request: (raw) => (raw instanceof Request ? new RouteRequest(raw) : raw),
    source: (raw) => (raw instanceof Request ? { web: raw } : {}),
    onClose(raw, closed) {
      // Components and the proxy do not know when the response ends.
      if (raw instanceof Request) open.onClose(raw, raw.signal, closed);
    },
  });

  /**
   * By the handler's request, and by the object of `headers()`, of which a request has one: so the
   * guard and the accessors share one read.
   */
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
    const raw = request === undefined ? await current() : (guardedRequests.get(request) ?? request);
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
    return reply === undefined
      ? new Response(null, { status: 404 })
      : toResponse(reply, request.method);
  }

  /** An error of ours that a route handler doesn't catch. Next.js itself would send an empty 500. */
  async function respondToError(
    error: unknown,
    request: NextRequest,
    raw: Incoming,
  ): Promise<Response> {
    const reply = await component().uncaught(error, raw);
    if (reply === undefined) throw error;
    return toResponse(reply, request.method);
  }

  function idpRequiredWith(route: GuardResponses & GuardRule<OwnClaims, Data>): RouteGuard {
    assertGuardOptions(route);
    const responses: GuardResponses = route;

    async function turnAway(
      request: NextRequest,
      context: unknown,
      blocked: Blocked,
    ): Promise<Response> {
      const response = await responseOf(blocked, request.method, (byDefault) =>
        respondToBlocked(blocked.kind, responses, [request, context, blocked], () =>
          byDefault(blocked.reply),
        ),
      );
      // The redirect of a proxy must be absolute.
      const isRedirect = "origin" in blocked && blocked.reply.status === 302;
      if (isRedirect && responses[blocked.kind] === undefined && isProxyEvent(context)) {
        response.headers.set("Location", absoluteLoginUrl(blocked, request.url));
      }
      if (
        blocked.kind === "unauthenticated" &&
        responses.unauthenticated === undefined &&
        isAction(request, context)
      ) {
        // A server action fails if its response is no component. But the router of Next.js first
        // follows this header.
        response.headers.set(
          "x-action-redirect",
          `${component().loginUrl(new ComponentRequest(placed(request)))};replace`,
        );
      }
      return response;
    }

    return (handler) => {
      assertUsage("idpRequired", USAGE, handler);
      return async (request, ...context) => {
        const raw = incoming(request, context);
        guardedRequests.set(request, raw).set(await headers(), raw);
        const blocked = await component().guard(raw, route);
        if (blocked !== undefined) return turnAway(request, context[0], blocked);
        try {
          const result = await handler(request, ...context);
          return result instanceof Response ? keepPrivate(open.follow(request, result)) : result;
        } catch (error) {
          open.end(request);
          return respondToError(error, request, raw);
        }
      };
    };
  }

  /**
   * Sends a user who isn't signed in from a component to the login.
   * @param read returns null if the user isn't signed in
   */
  async function required<Result>(
    read: (auth: IdpAuth<Incoming, OwnClaims, Data>, raw: Incoming) => Promise<Result | null>,
    page: { readonly returnTo?: string } = {},
  ): Promise<Result> {
    const found = await forRequest(read);
    if (found !== null) return found;
    const raw = await current();
    const blocked = await component().guard(raw);
    // The user signed in, or a refresh ended, between the two calls.
    if (blocked === undefined) return required(read, page);
    if (blocked.kind === "unavailable") throw withDigest(blocked.error);
    if (blocked.kind !== "navigation" && blocked.kind !== "unauthenticated")
      throw new TypeError("A guard without a rule blocked by a rule.");
    return redirect(pageLoginUrl(blocked, raw, page.returnTo));
  }

  const accessors = Object.fromEntries(
    Object.entries(REQUEST_ACCESSORS).map(([name, usage]) => [name, accessor(name, usage)]),
  ) as unknown as Pick<NextIdpAuth<OwnClaims, Data>, keyof typeof REQUEST_ACCESSORS>;

  /**
   * One of {@link REQUEST_ACCESSORS}.
   * @param usage its parameters, the last of which is the request
   */
  function accessor(name: string, usage: string) {
    const place = usage.split(", ").length - 1;
    return async (...args: unknown[]): Promise<unknown> => {
      if (place > 0) assertRequestLast(`${name}(${usage})`, args[0]);
      return forRequest(
        async (auth, raw) => {
          const functions = auth as unknown as Record<string, (...args: unknown[]) => unknown>;
          return functions[name]?.(raw, ...args.slice(0, place));
        },
        args[place] as Request | undefined,
      );
    };
  }

  const idpRequired = idpRequiredWith({});
  const guarded = idpRequired((request, _event: ProxyEvent) => {
    return NextResponse.next({ request: { headers: placed(request) } });
  });

  return {
    start: () => component().start(),
    [STARTUP_CHECKS]: () => component()[STARTUP_CHECKS](),
    handlers: Object.fromEntries(
      METHODS.map((method) => [method, endpoint]),
    ) as NextIdpAuth["handlers"],
    async proxy(request, event) {
      // The endpoints are never guarded, even if the matcher includes them.
      const { pathname } = request.nextUrl;
      return `${pathname}/`.startsWith(component().mountPath())
        ? NextResponse.next()
        : guarded(request, event);
    },
    idpRequired,
    idpRequiredWith,
    csrf(handler) {
      assertUsage("csrf", USAGE, handler);
      return async (request, ...context) => {
        const raw = incoming(request, context);
        const refused = component().csrf(raw);
        if (refused !== undefined) return toResponse(await refused, request.method);
        try {
          return await handler(request, ...context);
        } catch (error) {
          return respondToError(error, request, raw);
        }
      };
    },
    proxyApi(api, rule) {
      let proxy: ReturnType<IdpAuth<Incoming>["proxyApi"]> | undefined;
      return async (request) => {
        // Makes the route dynamic, as the endpoints.
        await headers();
        proxy ??= component().proxyApi(api, rule);
        const reply = await proxy(request)?.catch((error: unknown) => {
          open.end(request);
          throw error;
        });
        return reply === undefined
          ? new Response(null, { status: 404 })
          : open.follow(request, toResponse(reply, request.method));
      };
    },
    requireUser: (page) => required((auth, raw) => auth.getUser(raw), page),
    requireSession: (from) =>
      from instanceof Request
        ? forRequest((auth, raw) => auth.requireSession(raw), from)
        : required(
            (auth, raw) =>
              raw instanceof ComponentRequest ? auth.getSession(raw) : auth.requireSession(raw),
            from,
          ),

    ...accessors,
    getSession<Value>(from?: Request | SessionOptions<Value>, given?: SessionOptions<Value>) {
      const [request, options] = from instanceof Request ? [from, given] : [undefined, from];
      return forRequest(
        (auth, raw) => auth.getSession(raw, options as SessionOptions<Value>),
        request,
      );
    },
    seenSession: (request) => component().seenSession(guardedRequests.get(request) ?? request),
    async loginUrl(options = {}, request) {
      assertRequestLast("loginUrl({ returnTo }, request)", options);
      return forRequest(async (auth, raw) => {
        // Without the proxy, a component does not know its page.
        const isUnplaced = raw instanceof ComponentRequest && !raw.isPlaced;
        return auth.loginUrl(
          raw,
          options.returnTo === undefined && isUnplaced ? { ...options, returnTo: null } : options,
        );
      }, request);
    },
    async listSessions(subject, request) {
      assertRequestLast("listSessions({ iss, sub }, request)", subject);
      return forRequest((auth, raw) => auth.listSessions(subject, raw), request);
    },
    endAllSessions: (subject, { except } = {}) =>
      except === undefined
        ? withDigests(() => component().endAllSessions(subject))
        : forRequest(
            (auth, raw) => auth.endAllSessions(subject, { except: raw }),
            except === "current" ? undefined : except,
          ),
    whenEnded: (request) => component().whenEnded(request),
    endSession: (subject, id) => component().endSession(subject, id),
    revokeIdpToken: (...token) => component().revokeIdpToken(...token),
    isValidIdpUrl: (url) => component().isValidIdpUrl(url),
    mountPath: () => component().mountPath(),
    close: (limits) => component().close(limits),
    [SETTLED]: () => component()[SETTLED](),
    on: (name, listener) => component().on(name, listener),
    [SESSION_FOR_TESTS]: async (asked) => component()[SESSION_FOR_TESTS](asked),
  };
}

/**
 * Checks that a call has the request last, since components leave it out; in the other adapters, it
 * comes first.
 *
 * @param usage how the call is written
 */
function assertRequestLast(usage: string, first: unknown): void {
  if (!(first instanceof Request)) return;
  throw new TypeError(
    `In idpauth/next, the request is the last argument: \`auth.${usage}\`. In a component, leave it out.`,
  );
}

/**
 * The request of the proxy. Not for route handlers: reading `nextUrl` makes Next.js write to their
 * request.
 */
function proxied(request: NextRequest): RouteRequest {
  return new RouteRequest(request, request.nextUrl.basePath);
}

/** The headers of the proxy's request, with the page for components. */
function placed(request: NextRequest): Headers {
  const headers = new Headers(request.headers);
  headers.set(TARGET_HEADER, proxied(request).target);
  return headers;
}

/** The request of a route handler or of the proxy, by what Next.js passes beside it. */
function incoming(request: NextRequest, [first]: Context): Incoming {
  return isProxyEvent(first) ? proxied(request) : request;
}

/** Whether a page's script calls a server action. */
function isAction(request: NextRequest, context: unknown): boolean {
  return isProxyEvent(context) && request.headers.has("next-action");
}

function isProxyEvent(context: unknown): context is ProxyEvent {
  return typeof context === "object" && context !== null && "waitUntil" in context;
}

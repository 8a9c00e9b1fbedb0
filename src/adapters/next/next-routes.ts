/** What an application exports from its `route.ts` and `proxy.ts`: endpoints, guards and proxies. */
import { headers } from "next/headers.js";
import { NextResponse, type NextRequest } from "next/server.js";
import {
  assertGuardOptions,
  assertUsage,
  respondToBlocked,
  type IdpAuth,
  type Usage,
} from "../../adapter.js";
import type { IdpAuthNames, Blocked, RouteRule } from "../../index.js";
import { keepPrivate, responseOf, toResponse, type OpenResponses } from "../fetch/fetch.js";
import {
  METHODS,
  type GuardResponses,
  type NextIdpAuth,
  type ProxyEvent,
  type RouteGuard,
} from "./next-idp-auth.js";
import { absoluteLoginUrl } from "./next-redirects.js";
import { ComponentRequest, RouteRequest, TARGET_HEADER, type Incoming } from "./next-request.js";

/** How an application of Next.js writes its guards. */
const USAGE: Usage = {
  takes: "handler",
  idpRequired: "export const GET = auth.idpRequired(async (request) => Response.json({ … }))",
  csrf: "export const POST = auth.csrf(async (request) => Response.json({ … }))",
};

export interface RouteParts<
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
> {
  readonly component: () => IdpAuth<Incoming, OwnClaims, Data, Names>;
  readonly open: OpenResponses;
  /** Gets each request that a guard has seen, for the accessors. */
  readonly guardedRequests: WeakMap<object, Incoming>;
}

/** The functions of the `auth` object that get the request of a route handler or of the proxy. */
type Routes<OwnClaims extends object, Data extends object, Names extends IdpAuthNames> = Pick<
  NextIdpAuth<OwnClaims, Data, Names>,
  "handlers" | "proxy" | "idpRequired" | "idpRequiredWith" | "csrf" | "proxyApi"
>;

export function createRoutes<
  OwnClaims extends object,
  Data extends object,
  Names extends IdpAuthNames,
>({
  component,
  open,
  guardedRequests,
}: RouteParts<OwnClaims, Data, Names>): Routes<OwnClaims, Data, Names> {
  async function endpoint(request: NextRequest): Promise<Response> {
    // Makes the route dynamic: Next.js neither prerenders nor caches the response.
    await headers();
    const reply = await component().handle(request);
    // Next.js matches decoded paths. A path that is an endpoint's only when decoded is not found.
    if (reply === undefined) return new Response(null, { status: 404 });
    const response = toResponse(reply, request.method);
    cancelIfLeft(response, request.signal);
    return response;
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

  function idpRequiredWith(
    route: GuardResponses & RouteRule<OwnClaims, Data, Names["provider"], NextRequest>,
  ): RouteGuard {
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
        // A rule before `auth.proxy` shares its read of the session.
        const raw = guardedRequests.get(request) ?? incoming(request, context);
        guardedRequests.set(request, raw).set(await headers(), raw);
        const { provider } = route;
        const rule =
          typeof provider === "function" ? { ...route, provider: () => provider(request) } : route;
        const blocked = await component().guard(raw, rule);
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

  const idpRequired = idpRequiredWith({});
  const guarded = idpRequired((request, _event: ProxyEvent) => {
    return NextResponse.next({ request: { headers: placed(request) } });
  });

  return {
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
        try {
          const refused = await component().csrf(raw);
          if (refused !== undefined) return toResponse(refused, request.method);
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
  };
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
function incoming(request: NextRequest, [first]: readonly unknown[]): Incoming {
  return isProxyEvent(first) ? proxied(request) : request;
}

/** Whether a page's script calls a server action. */
function isAction(request: NextRequest, context: unknown): boolean {
  return isProxyEvent(context) && request.headers.has("next-action");
}

function isProxyEvent(context: unknown): context is ProxyEvent {
  return typeof context === "object" && context !== null && "waitUntil" in context;
}

/**
 * Ends the stream of a response whose browser has left before Next.js reads it, because Next.js then
 * never does.
 */
function cancelIfLeft({ body }: Response, signal: AbortSignal): void {
  if (body === null) return;
  // Rejects if Next.js reads it, which then cancels it itself.
  const cancel = () => void body.cancel().catch(() => undefined);
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

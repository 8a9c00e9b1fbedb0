import { headers } from "next/headers.js";
import {
  REQUEST_ACCESSORS,
  SESSION_FOR_TESTS,
  SETTLED,
  STARTUP_CHECKS,
  type FrameworkAdapter,
  type IdpAuth,
} from "../../adapter.js";
import type { Session } from "../../index.js";
import { toResponse, type OpenResponses } from "../fetch/fetch.js";
import type { NextIdpAuth, RequestAccessors } from "./next-idp-auth.js";
import { pageLoginUrl, redirect, withDigest } from "./next-redirects.js";
import { ComponentRequest, RouteRequest, type Incoming } from "./next-request.js";
import { createRoutes } from "./next-routes.js";
import { openResponses, processComponent, type NextIdpAuthOptions } from "./process-component.js";

export type {
  GuardResponses,
  NextHandler,
  NextIdpAuth,
  ProxyEvent,
  RouteGuard,
} from "./next-idp-auth.js";
export type { EventStreamWithResponse } from "../fetch/fetch.js";
export type { NextIdpAuthOptions } from "./process-component.js";

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
 * const { user } = await auth.requireSession();
 */
export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: NextIdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): NextIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  type Auth = IdpAuth<Incoming, OwnClaims, Data, { api: Api; provider: Provider }>;

  const open = openResponses();
  const component = processComponent(options, adapterOf(open));

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
    call: (auth: Auth, raw: Incoming) => Promise<Result>,
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

  /** Sends a user who isn't signed in from a component to the login. */
  async function requiredSession(
    page: { readonly returnTo?: string } = {},
  ): Promise<Session<OwnClaims, Data>> {
    const found = await forRequest((auth, raw) =>
      raw instanceof ComponentRequest ? auth.getSession(raw) : auth.requireSession(raw),
    );
    if (found !== null) return found;
    const raw = await current();
    const blocked = await component().guard(raw);
    // The user signed in, or a refresh ended, between the two calls.
    if (blocked === undefined) return requiredSession(page);
    if (blocked.kind === "unavailable") throw withDigest(blocked.error);
    if (blocked.kind !== "navigation" && blocked.kind !== "unauthenticated")
      throw new TypeError("A guard without a rule blocked by a rule.");
    return redirect(pageLoginUrl(blocked, raw, page.returnTo));
  }

  const accessors = Object.fromEntries(
    Object.entries(REQUEST_ACCESSORS).map(([name, usage]) => [name, accessor(name, usage)]),
  ) as unknown as RequestAccessors<OwnClaims, Data, { api: Api; provider: Provider }>;

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

  return {
    start: () => component().start(),
    [STARTUP_CHECKS]: () => component()[STARTUP_CHECKS](),
    ...createRoutes({ component, open, guardedRequests }),
    requireSession: (from) =>
      from instanceof Request
        ? forRequest((auth, raw) => auth.requireSession(raw), from)
        : requiredSession(from),
    ...accessors,
    getSession<Value>(
      from?: Request | { readonly ifUnavailable: Value },
      given?: { readonly ifUnavailable: Value },
    ) {
      const [request, options] = from instanceof Request ? [from, given] : [undefined, from];
      return forRequest(
        (auth, raw) => auth.getSession(raw, options as { readonly ifUnavailable: Value }),
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
    eventStream: (request) =>
      component().openEventStream(guardedRequests.get(request) ?? request, (reply) =>
        toResponse(reply, request.method),
      ),
    endSession: (subject, id) => component().endSession(subject, id),
    revokeIdpToken: (...token) => component().revokeIdpToken(...token),
    isValidIdpUrl: (url) => component().isValidIdpUrl(url),
    close: (limits) => component().close(limits),
    [SETTLED]: () => component()[SETTLED](),
    on: (name, listener) => component().on(name, listener),
    [SESSION_FOR_TESTS]: async (asked) => component()[SESSION_FOR_TESTS](asked),
  };
}

function adapterOf(open: OpenResponses): FrameworkAdapter<Incoming> {
  return {
    name: "Next.js",
    mountsLate: true,
    request: (raw) => (raw instanceof Request ? new RouteRequest(raw) : raw),
    source: (raw) => (raw instanceof Request ? { web: raw } : {}),
    onClose(raw, closed) {
      // Components and the proxy do not know when the response ends.
      if (raw instanceof Request) open.onClose(raw, raw.signal, closed);
    },
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

import { headers } from "next/headers.js";
import {
  assertGuardOptions,
  REQUEST_ACCESSORS,
  OBSERVE,
  SESSION_FOR_TESTS,
  SETTLED,
  STARTUP_CHECKS,
  type FrameworkAdapter,
  type IdpAuth,
} from "../../adapter.js";
import {
  IdpAuthError,
  type IdpAuthNames,
  type LoginUrlOptions,
  type Session,
} from "../../index.js";
import { toResponse, type OpenResponses } from "../fetch/fetch.js";
import type { NextIdpAuth, PageRule, RequestAccessors } from "./next-idp-auth.js";
import { pageLoginUrl, redirect, withDigest } from "./next-redirects.js";
import { ComponentRequest, RouteRequest, type Incoming } from "./next-request.js";
import { createRoutes } from "./next-routes.js";
import { openResponses, processComponent, type NextIdpAuthOptions } from "./process-component.js";

export type {
  GuardResponses,
  NextHandler,
  NextIdpAuth,
  PageRule,
  ProxyEvent,
  RouteGuard,
} from "./next-idp-auth.js";
export type { EventStreamWithResponse } from "../fetch/fetch.js";
export type { NextIdpAuthOptions } from "./process-component.js";

async function withDigests<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw withDigest(error);
  }
}

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

  /** The guard of components and actions, and the session of a guarded route. */
  async function guardedSession({
    returnTo,
    forbidden,
    ...rule
  }: PageRule<OwnClaims, Data, Provider> = {}): Promise<Session<OwnClaims, Data>> {
    assertGuardOptions({ ...rule, ...(forbidden && { forbidden }) }, "requireSession");
    const raw = await current();
    const isRoute = !(raw instanceof ComponentRequest) && Object.keys(rule).length === 0;
    const blocked = isRoute ? undefined : await component().guard(raw, rule);
    if (blocked === undefined) return component().requireSession(raw);
    if (blocked.kind === "unavailable") throw blocked.error;
    if (blocked.kind === "misdirected")
      throw new IdpAuthError("origin_unknown", "The request's host isn't the application's.");
    if (blocked.kind !== "forbidden") return redirect(pageLoginUrl(blocked, raw, returnTo));
    forbidden?.();
    throw new IdpAuthError("forbidden", "The rule of this page doesn't let the user pass.");
  }

  const accessors = Object.fromEntries(
    REQUEST_ACCESSORS.map((name) => [name, accessor(name)]),
  ) as unknown as RequestAccessors<OwnClaims, Data, { api: Api; provider: Provider }>;

  /** One of {@link REQUEST_ACCESSORS}. */
  function accessor(name: (typeof REQUEST_ACCESSORS)[number]) {
    return async (...args: unknown[]): Promise<unknown> => {
      const [request, more] = fromRequest(args);
      return forRequest(async (auth, raw) => {
        const functions = auth as unknown as Record<string, (...args: unknown[]) => unknown>;
        return functions[name]?.(raw, ...more);
      }, request);
    };
  }

  /** An accessor that may get a request, and what it gives in an outage. */
  function withUnavailable<Result>(
    call: (
      auth: Auth,
      raw: Incoming,
      options: { readonly ifUnavailable: never },
    ) => Promise<Result>,
  ) {
    return (...args: unknown[]): Promise<Result> => {
      const [request, [options]] = fromRequest(args);
      return forRequest(
        (auth, raw) => call(auth, raw, options as { readonly ifUnavailable: never }),
        request,
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
        : withDigests(() => guardedSession(from)),
    ...accessors,
    getSession: withUnavailable((auth, raw, options) => auth.getSession(raw, options)),
    clientState: withUnavailable((auth, raw, options) => auth.clientState(raw, options)),
    seenSession: (request) => component().seenSession(guardedRequests.get(request) ?? request),
    async loginUrl(...args: unknown[]) {
      const [request, [given]] = fromRequest(args);
      const options = (given ?? {}) as LoginUrlOptions<Provider>;
      return forRequest(async (auth, raw) => {
        // Without the proxy, a component does not know its page.
        const isUnplaced = raw instanceof ComponentRequest && !raw.isPlaced;
        return auth.loginUrl(
          raw,
          options.returnTo === undefined && isUnplaced ? { ...options, returnTo: null } : options,
        );
      }, request);
    },
    listSessions: (subject, request) =>
      forRequest((auth, raw) => auth.listSessions(subject, raw), request),
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
    ...forwarded(component),
  };
}

/** The functions that are the same as on every framework. */
function forwarded<OwnClaims extends object, Data extends object, Names extends IdpAuthNames>(
  component: () => IdpAuth<Incoming, OwnClaims, Data, Names>,
) {
  return {
    endSession: (subject, id) => component().endSession(subject, id),
    revokeIdpToken: (...token) => component().revokeIdpToken(...token),
    forgetProvider(key) {
      component().forgetProvider(key);
    },
    checkProvider: (given, more) => component().checkProvider(given, more),
    providerAddresses: (key, more) => component().providerAddresses(key, more),
    isValidIdpUrl: (url) => component().isValidIdpUrl(url),
    close: (limits) => component().close(limits),
    [SETTLED]: () => component()[SETTLED](),
    on: (name, listener) => component().on(name, listener),
    [OBSERVE]: (observer) => component()[OBSERVE](observer),
    [SESSION_FOR_TESTS]: async (asked) => component()[SESSION_FOR_TESTS](asked),
  } satisfies Partial<NextIdpAuth<OwnClaims, Data, Names>>;
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

/** The request that a call begins with, and its other arguments. Undefined: the current request. */
function fromRequest(args: readonly unknown[]): [request: Request | undefined, more: unknown[]] {
  const [first, ...more] = args;
  return first instanceof Request ? [first, more] : [undefined, [...args]];
}

import { headers } from "next/headers.js";
import { NextResponse, type NextRequest } from "next/server.js";
import {
  assertGuardResponses,
  assertHandler,
  ERRORS,
  SESSION_FOR_TESTS,
  type AccessTokenOptions,
  type Blocked,
  type BlockedByOutage,
  type BlockedUser,
  type Credentials,
  type Explanation,
  type Finding,
  type IdpAuth,
  type Session,
  type Subject,
  type UserPayload,
} from "../../index.js";
import { keepPrivate, toResponse } from "../fetch/fetch.js";
import { absoluteLoginUrl, pageLoginUrl } from "./login-url.js";
import { redirect } from "./redirect.js";
import { ComponentRequest, RouteRequest, TARGET_HEADER, type Incoming } from "./request.js";
import { sharedComponent, type NextIdpAuthOptions } from "./shared.js";

export type { NextIdpAuthOptions } from "./shared.js";

/** What Next.js hands to the proxy beside the request: its `NextFetchEvent`. */
interface ProxyEvent {
  waitUntil(promise: Promise<unknown>): void;
}

/** What Next.js hands to a route handler beside the request, such as `{ params }`; the proxy's event. */
type Context = readonly unknown[];

/** A route handler, or the function of `proxy.ts`. */
export type NextHandler<More extends Context, Result> = (request: NextRequest, ...context: More) => Result | Promise<Result>;

/** Answers one kind of blocked request. `context` is what Next.js hands over beside the request. */
export type GuardResponse<Blocked> = (request: NextRequest, context: unknown, blocked: Blocked) => Response | Promise<Response>;

/** Answers in place of the guard's own ones. */
export interface GuardResponses {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage>;
}

/** Puts the guard before a route handler, or before a proxy's own work. A handler that is blocked does not run. */
export type RouteGuard = <More extends Context, Result>(
  handler: NextHandler<More, Result>,
) => (request: NextRequest, ...context: More) => Promise<Result | Response>;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/**
 * idpauth, at home in the App Router of Next.js 16. What takes a request takes it from `headers()` when none is given; that
 * works in server components, server actions, route handlers and the proxy, and makes a page dynamic.
 */
export interface NextIdpAuth extends Pick<
  IdpAuth<Incoming>,
  "endSession" | "revokeIdpToken" | "isValidIdpUrl" | "mountPath" | "idle" | "on" | typeof SESSION_FOR_TESTS
> {
  /**
   * Runs the startup checks; for `register()` in `instrumentation.ts`. Next.js then logs every mistake and serves nothing, but does
   * not end by itself. Without it they run at the first request.
   *
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /** The endpoints, for `app/idpauth/[[...path]]/route.ts`. What is not exported there, Next.js answers its own way. */
  readonly handlers: Readonly<Record<(typeof METHODS)[number], (request: NextRequest) => Promise<Response>>>;
  /** For `proxy.ts`: guards what its matcher names, and tells `requireUser` which page was asked for. */
  readonly proxy: (request: NextRequest, event: ProxyEvent) => Promise<Response>;
  readonly idpRequired: RouteGuard;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith(answers: GuardResponses): RouteGuard;
  /**
   * The visitor of a server component or server action. Somebody who is not signed in is redirected to the login.
   *
   * @param options `returnTo`: path and query to come back to. Default: the page asked for where `auth.proxy` stands before
   *   it; otherwise the login leads to IDP_AUTH_FINAL_REDIRECT_URL, since a component does not know its own address
   * @throws ProviderUnavailableError | StoreUnavailableError for the nearest `error.tsx`, which finds the code as `digest`
   */
  requireUser(options?: { readonly returnTo?: string }): Promise<UserPayload>;

  /**
   * The user's credentials, refreshed when the ID token has expired; null when signed out. It does not look at the expiry of the
   * access token in them: for a token that an API still accepts, use `getAccessToken`.
   *
   * @throws ProviderUnavailableError | StoreUnavailableError an outage (503); the user may still be signed in
   */
  getCredentials(request?: Request): Promise<Credentials | null>;
  /** The user's email, name and picture, after the same gate as `getCredentials`; null when signed out. */
  getUser(request?: Request): Promise<UserPayload | null>;
  /** The session of a signed-in user: user, verified claims and times, read-only; null when signed out. It applies the same gate. */
  getSession(request?: Request): Promise<Session | null>;
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
  /** @param current the request whose own session is marked in the list; default the current request */
  listSessions(subject: Subject, current?: Request): ReturnType<IdpAuth<Incoming>["listSessions"]>;
  /** @param options `except`: the request whose own session stays; `"current"`: the current request, where you have no `Request` */
  endAllSessions(subject: Subject, options?: { readonly except?: Request | "current" }): Promise<number>;
}

/**
 * Sign-in for a Next.js application. Settings come from the environment; options override them. Nothing is read or opened
 * before `start` or the first request, so that `next build` needs no secrets.
 *
 * @example
 * // lib/auth.ts
 * export const auth = idpAuth();
 * // app/idpauth/[[...path]]/route.ts
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = auth.handlers;
 * // a server component
 * const user = await auth.requireUser();
 */
export function idpAuth(options: NextIdpAuthOptions = {}): NextIdpAuth {
  const component = sharedComponent(options, {
    name: "Next.js",
    request: (raw) => (raw instanceof Request ? new RouteRequest(raw) : raw),
  });

  /** By what `headers()` gives, which is one object for all of a request: guard and accessors share one read of the session. */
  const guardedRequests = new WeakMap<object, Incoming>();
  const components = new WeakMap<object, ComponentRequest>();

  /** The request that is being answered, for whoever was not handed one. */
  async function current(): Promise<Incoming> {
    const seen = await headers();
    const known = guardedRequests.get(seen) ?? components.get(seen) ?? new ComponentRequest(seen);
    if (known instanceof ComponentRequest) components.set(seen, known);
    return known;
  }

  async function asked<Result>(ask: (auth: IdpAuth<Incoming>, raw: Incoming) => Promise<Result>, request?: Request): Promise<Result> {
    const raw = request ?? (await current());
    return told(() => ask(component(), raw));
  }

  async function told<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      throw withDigest(error);
    }
  }

  async function endpoint(request: NextRequest): Promise<Response> {
    // Keeps the answer from being made at build time, and kept.
    await headers();
    const reply = await component().handle(request);
    // Next.js matches decoded paths; one that is ours only when decoded is none of ours.
    return reply === undefined ? new Response(null, { status: 404 }) : toResponse(reply, request.method);
  }

  function idpRequiredWith(answers: GuardResponses): RouteGuard {
    assertGuardResponses(answers);

    function ownResponse(request: NextRequest, more: unknown, blocked: Blocked): (() => Response | Promise<Response>) | undefined {
      const { navigation, unauthenticated, unavailable } = answers;
      if (blocked.kind === "navigation" && navigation) return () => navigation(request, more, blocked);
      if (blocked.kind === "unauthenticated" && unauthenticated) return () => unauthenticated(request, more, blocked);
      if (blocked.kind === "unavailable" && unavailable) return () => unavailable(request, more, blocked);
      return undefined;
    }

    async function turnAway(request: NextRequest, context: Context, blocked: Blocked): Promise<Response> {
      const [more] = context;
      const own = ownResponse(request, more, blocked);
      if (own !== undefined) {
        const answer = (await own()) as Response | undefined;
        // Nothing would read as "may pass" to the proxy's router.
        if (answer === undefined) throw new TypeError(`The answer \`${blocked.kind}\` gave no Response.`);
        return answer;
      }
      const response = toResponse(blocked.reply, request.method);
      // A proxy's redirect must be absolute.
      if (blocked.kind === "navigation" && isProxyEvent(more)) response.headers.set("Location", absoluteLoginUrl(blocked, request.url));
      return response;
    }

    return (handler) => {
      assertHandler(handler, "export const GET = auth.idpRequired(async (request) => Response.json({ … }))");
      return async (request, ...context) => {
        const raw = isProxyEvent(context[0]) ? proxied(request) : request;
        guardedRequests.set(await headers(), raw);
        const blocked = await component().guard(raw);
        if (blocked !== undefined) return turnAway(request, context, blocked);
        const result = await handler(request, ...context);
        return result instanceof Response ? keepPrivate(result) : result;
      };
    };
  }

  async function requireUser(page: { readonly returnTo?: string } = {}): Promise<UserPayload> {
    const user = await asked((auth, raw) => auth.getUser(raw));
    if (user !== null) return user;
    const raw = await current();
    const blocked = await component().guard(raw);
    // Somebody signed in, or a refresh came, between the two.
    if (blocked === undefined) return requireUser(page);
    if (blocked.kind === "unavailable") throw withDigest(blocked.error);
    return redirect(pageLoginUrl(blocked, raw, page.returnTo));
  }

  const idpRequired = idpRequiredWith({});
  const guarded = idpRequired((request, _event: ProxyEvent) => {
    const told = new Headers(request.headers);
    told.set(TARGET_HEADER, proxied(request).target);
    return NextResponse.next({ request: { headers: told } });
  });

  return {
    start: () => component().start(),
    handlers: Object.fromEntries(METHODS.map((method) => [method, endpoint])) as NextIdpAuth["handlers"],
    async proxy(request, event) {
      // The way in must not be guarded, whatever the matcher names.
      const { pathname } = request.nextUrl;
      return `${pathname}/`.startsWith(component().mountPath()) ? NextResponse.next() : guarded(request, event);
    },
    idpRequired,
    idpRequiredWith,
    requireUser,

    getCredentials: (request) => asked((auth, raw) => auth.getCredentials(raw), request),
    getUser: (request) => asked((auth, raw) => auth.getUser(raw), request),
    getSession: (request) => asked((auth, raw) => auth.getSession(raw), request),
    readSessionRecord: (request) => asked((auth, raw) => auth.readSessionRecord(raw), request),
    getAccessToken: (options, request) => asked((auth, raw) => auth.getAccessToken(raw, options), request),
    checkIdpAuthentication: (request) => asked((auth, raw) => auth.checkIdpAuthentication(raw), request),
    explainIdpAuthentication: (request) => asked((auth, raw) => auth.explainIdpAuthentication(raw), request),
    listSessions: (subject, request) => asked((auth, raw) => auth.listSessions(subject, raw), request),
    endAllSessions: (subject, { except } = {}) =>
      except === undefined
        ? told(() => component().endAllSessions(subject))
        : asked((auth, raw) => auth.endAllSessions(subject, { except: raw }), except === "current" ? undefined : except),
    endSession: (subject, id) => component().endSession(subject, id),
    revokeIdpToken: (token, hint) => component().revokeIdpToken(token, hint),
    isValidIdpUrl: (url) => component().isValidIdpUrl(url),
    mountPath: () => component().mountPath(),
    idle: () => component().idle(),
    on: (name, listener) => component().on(name, listener),
    [SESSION_FOR_TESTS]: async (asked) => component()[SESSION_FOR_TESTS](asked),
  };
}

/** Only in the proxy: to look at `nextUrl` makes Next.js write on a route handler's request. */
function proxied(request: NextRequest): RouteRequest {
  return new RouteRequest(request, request.nextUrl.basePath);
}

function isProxyEvent(context: unknown): context is ProxyEvent {
  return typeof context === "object" && context !== null && "waitUntil" in context;
}

/** Next.js hides an error's words from the browser, but not its digest: `error.tsx` can tell an outage by our code. */
function withDigest(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  return Object.hasOwn(ERRORS, error.code) ? Object.assign(error, { digest: error.code }) : error;
}

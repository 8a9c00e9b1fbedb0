import type { IdpAuthError } from "../errors.js";
import { json, preferredType, redirect, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import type { EndReason } from "../record/session-policy.js";
import { MAX_ORIGIN_URL_LENGTH, type Origin } from "../http/redirects.js";
import { failureReply, retryAfterOf } from "./failure-reply.js";
import type { SessionRequest } from "./session-request.js";

/** The guard blocked a request whose user is not signed in. */
export interface BlockedUser<Kind extends "navigation" | "unauthenticated"> {
  /** `navigation`: a browser requested a page. `unauthenticated`: any other request. */
  readonly kind: Kind;
  /** The default response: for a navigation 302 to `loginUrl`, else 401 as JSON. */
  readonly reply: Reply;
  readonly reason: EndReason;
  /**
   * The path of the login; for a navigation with the query that leads back to the requested page. If that login would loop
   * (`prompt=none`), it is the landing page instead.
   */
  readonly loginUrl: string;
  /** The path of the login without a query. */
  readonly loginPath: string;
  /** The application's own origin; undefined when neither BASE_URL nor a usable `Host` header gives it. */
  readonly origin: Origin | undefined;
}

/** The guard blocked a request because the provider or the store is unavailable. The user may still be signed in. */
export interface BlockedByOutage {
  readonly kind: "unavailable";
  /** The default response: 503 with Retry-After. */
  readonly reply: Reply;
  readonly error: IdpAuthError;
  /** Seconds after which the request may succeed. */
  readonly retryAfter: number;
}

/** Why the guard blocked a request, and the response it proposes. */
export type Blocked = BlockedUser<"navigation"> | BlockedUser<"unauthenticated"> | BlockedByOutage;

interface GuardSettings {
  readonly publicPath: string;
  /** The path prefix that a proxy removed before the request arrived. */
  readonly pathPrefix: string;
}

/**
 * The block of a signed-out user: a navigation is redirected to the login and back to its page, any other request gets 401.
 *
 * @param loops the login would fail without a page of the provider, and lead back to the guard
 */
export function blockedUser({ request, origin }: SessionRequest, reason: EndReason, settings: GuardSettings, loops = false): Blocked {
  const { publicPath, pathPrefix } = settings;
  const loginPath = `${publicPath}login/`;
  if (!isNavigation(request)) {
    const body = { authenticated: false, user: null, error: "login_required", reason, login_url: loginPath };
    return { kind: "unauthenticated", reply: json(body, 401), reason, loginUrl: loginPath, loginPath, origin };
  }
  const { target } = request;
  const page = `${origin ?? ""}${pathPrefix}${target.startsWith("/") ? target : "/"}`;
  const loginUrl = loops ? `${publicPath}?error=login_required` : loginUrlBackTo(loginPath, page);
  return { kind: "navigation", reply: redirect(loginUrl), reason, loginUrl, loginPath, origin };
}

/** The block during an outage: 503, as a page or as a problem document. */
export function blockedByOutage(error: IdpAuthError, request: IdpRequest, publicPath: string): BlockedByOutage {
  const retryAfter = retryAfterOf(error);
  const reply = failureReply({ code: error.code, retryAfter }, request, publicPath, "json");
  return { kind: "unavailable", reply, error, retryAfter };
}

/**
 * The URL of a login that leads back to a page.
 *
 * @param login path or URL of the login, without a query
 * @param page absolute URL on the application's own origin; a login refuses any other and leads to the configured page
 */
export function loginUrlBackTo(login: string, page: string): string {
  // One character over the limit is enough for the login to refuse the page. Encoding triples a URL, and servers refuse long ones.
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page.slice(0, MAX_ORIGIN_URL_LENGTH + 1) });
  return `${login}?${query.toString()}`;
}

function isNavigation(request: IdpRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  return preferredType(request.header("accept")) === "html" || request.header("sec-fetch-mode") === "navigate";
}

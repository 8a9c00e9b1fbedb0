import type { IdpAuthError } from "../errors.js";
import { json, preferredType, redirect, type IdpRequest, type Reply } from "../http/request-reply.js";
import type { EndReason } from "../record/policy.js";
import { MAX_ORIGIN_URL_LENGTH } from "../http/redirects.js";
import type { Visit } from "./context.js";

/** The guard turned a visitor away who is not signed in. */
export interface BlockedUser<Kind extends "navigation" | "unauthenticated"> {
  /** `navigation`: a browser asked for a page. `unauthenticated`: anything else. */
  readonly kind: Kind;
  readonly reply: Reply;
  readonly reason: EndReason;
  /** A path; for a navigation with the query that leads back to the page asked for. */
  readonly loginUrl: string;
}

/** Nobody knows whether the visitor is signed in: the provider or the store is away. */
export interface BlockedByOutage {
  readonly kind: "unavailable";
  readonly reply: Reply;
  readonly error: IdpAuthError;
}

/** Why the guard turned a request away, and the answer it proposes. */
export type Blocked = BlockedUser<"navigation"> | BlockedUser<"unauthenticated"> | BlockedByOutage;

interface GuardSettings {
  readonly publicPath: string;
  /** What a proxy took off the path before it came here. */
  readonly pathPrefix: string;
}

/** A browser that navigates is sent to sign in and back to this page; a script is told so. */
export function turnedAway(visit: Visit, reason: EndReason, { publicPath, pathPrefix }: GuardSettings): Blocked {
  const { request, origin } = visit;
  const loginUrl = `${publicPath}login/`;
  if (!isNavigation(request)) {
    const body = { authenticated: false, user: null, error: "login_required", reason, login_url: loginUrl };
    return { kind: "unauthenticated", reply: json(body, 401), reason, loginUrl };
  }
  const page = `${origin ?? ""}${pathPrefix}${pageAskedFor(request)}`;
  // Of an address that is too long to come back to, only so much that the login sees that: encoded, the whole of it could be
  // three times as long, and too long for servers and proxies to take.
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: page.slice(0, MAX_ORIGIN_URL_LENGTH + 1) });
  const returning = `${loginUrl}?${query.toString()}`;
  return { kind: "navigation", reply: redirect(returning), reason, loginUrl: returning };
}

function isNavigation(request: IdpRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  return preferredType(request.header("accept")) === "html" || request.header("sec-fetch-mode") === "navigate";
}

function pageAskedFor({ target }: IdpRequest): string {
  return target.startsWith("/") ? target : "/";
}

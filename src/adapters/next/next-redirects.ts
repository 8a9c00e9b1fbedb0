// Next.js tells errors apart by their property `digest`.
import { ERRORS, loginUrlBackTo } from "../../adapter.js";
import type { Blocked } from "../../index.js";
import { ComponentRequest, type Incoming } from "./next-request.js";

/**
 * Adds our code as `digest`, which Next.js passes to `error.tsx`. Next.js hides the message from
 * the browser.
 */
export function withDigest(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    return error;
  return Object.hasOwn(ERRORS, error.code) ? Object.assign(error, { digest: error.code }) : error;
}

/**
 * The error that `redirect` of next/navigation throws. A package cannot import that module: Node
 * needs the file extension, with which Next.js loads the browser's version. If the form of the
 * error ever changes, the page ends in `error.tsx`, and still no user sees it who is not signed in.
 */
class RedirectError extends Error {
  readonly digest: string;

  constructor(url: string) {
    super("NEXT_REDIRECT");
    this.digest = `NEXT_REDIRECT;replace;${url};307;`;
  }
}

/** Ends a server component or action with a redirect. */
export function redirect(url: string): never {
  throw new RedirectError(url);
}

/**
 * The URL to which a component sends a user to sign in. It is absolute where the application's own
 * origin is known: Next.js puts its `basePath` before a path, and the path of the login already
 * contains it.
 *
 * @param returnTo path and query to come back to, instead of the address of the request
 */
export function pageLoginUrl(
  { loginUrl, origin = "" }: Blocked<"navigation" | "unauthenticated" | "stepUp">,
  raw: Incoming,
  returnTo: string | undefined,
): string {
  const [path, query] = loginUrl.split("?", 2) as [path: string, query?: string];
  const { scheme, origin_url: page, ...rest } = Object.fromEntries(new URLSearchParams(query));
  // It leads back to no page, such as the landing page, to which a login leads that would loop.
  if (scheme === undefined || page === undefined) return origin + loginUrl;
  if (returnTo !== undefined)
    return loginUrlBackTo(
      origin + path,
      `${origin}${returnTo.startsWith("/") ? "" : "/"}${returnTo}`,
      rest,
    );
  if (!(raw instanceof ComponentRequest) || raw.isPlaced) return origin + loginUrl;
  const required = new URLSearchParams(rest).toString();
  return `${origin}${path}${required === "" ? "" : `?${required}`}`;
}

/** @param fallback a URL whose origin is used where the application's own origin is unknown */
export function absoluteLoginUrl(
  { loginUrl, origin }: { readonly loginUrl: string; readonly origin: string | undefined },
  fallback: string,
): string {
  return new URL(loginUrl, origin ?? fallback).href;
}

import { loginUrlBackTo, type BlockedForStepUp, type BlockedUser } from "../../index.js";
import { ComponentRequest, type Incoming } from "./request.js";

/**
 * The URL to which a component sends a user to sign in. It is absolute where the application's own origin is known: Next.js
 * puts its `basePath` before a path, and the path of the login already contains it.
 *
 * @param returnTo path and query to come back to, instead of the address of the request
 */
export function pageLoginUrl(
  blocked: BlockedUser<"navigation"> | BlockedUser<"unauthenticated">,
  raw: Incoming,
  returnTo: string | undefined,
): string {
  if (blocked.kind === "unauthenticated") return blocked.loginUrl;
  const { loginUrl, loginPath, origin = "" } = blocked;
  // The landing page, since the login would loop.
  if (!loginUrl.startsWith(loginPath)) return origin + loginUrl;
  if (returnTo !== undefined) return loginUrlBackTo(origin + loginPath, `${origin}${returnTo.startsWith("/") ? "" : "/"}${returnTo}`);
  return origin + (raw instanceof ComponentRequest && !raw.isPlaced ? loginPath : loginUrl);
}

/** @param fallback a URL whose origin is used where the application's own origin is unknown */
export function absoluteLoginUrl({ loginUrl, origin }: BlockedUser<"navigation"> | BlockedForStepUp, fallback: string): string {
  return new URL(loginUrl, origin ?? fallback).href;
}

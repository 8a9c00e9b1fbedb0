import type { BlockedUser } from "../../index.js";
import { ComponentRequest, type Incoming } from "./request.js";

/**
 * Where a component sends a visitor to sign in. Absolute where our own origin is known, since Next.js puts its `basePath`
 * before a path, which is in ours already.
 *
 * @param returnTo path and query to come back to, instead of the address that the request itself names
 */
export function pageLoginUrl(
  blocked: BlockedUser<"navigation"> | BlockedUser<"unauthenticated">,
  raw: Incoming,
  returnTo: string | undefined,
): string {
  if (blocked.kind === "unauthenticated") return blocked.loginUrl;
  const { origin, path, query } = partsOf(blocked);
  if (returnTo !== undefined) query.set("origin_url", `${origin}${returnTo.startsWith("/") ? "" : "/"}${returnTo}`);
  else if (raw instanceof ComponentRequest && !raw.isPlaced) return `${origin}${path}`;
  return `${origin}${path}?${query.toString()}`;
}

/** @param fallback a URL whose origin is used where our own is unknown, which a login will then say */
export function absoluteLoginUrl(blocked: BlockedUser<"navigation">, fallback: string): string {
  return new URL(blocked.loginUrl, partsOf(blocked).origin || fallback).href;
}

/** The address of the login, and our own origin as far as it is known: the one of the page to come back to. */
function partsOf({ loginUrl }: BlockedUser<"navigation">) {
  const [path = "", text] = loginUrl.split("?");
  const query = new URLSearchParams(text);
  const page = query.get("origin_url") ?? "";
  return { origin: URL.canParse(page) ? new URL(page).origin : "", path, query };
}

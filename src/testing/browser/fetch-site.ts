import { isLoopback } from "../loopback-hostname.js";

/**
 * Returns the header `Sec-Fetch-Site` of a request (Fetch Metadata section 2.3); undefined where
 * browsers send none: plain http, except to loopback addresses.
 *
 * @param from the page that sends the request; null for an address that the user types
 * @param urls the request's address, after those that redirected to it
 */
export function fetchSite(
  from: URL | null,
  urls: readonly URL[],
): "none" | "same-origin" | "same-site" | "cross-site" | undefined {
  const target = urls.at(-1);
  if (target === undefined || !isTrustworthy(target)) return undefined;
  if (from === null) return "none";
  if (urls.every(({ origin }) => origin === from.origin)) return "same-origin";
  return urls.every((url) => isSameSite(url, from)) ? "same-site" : "cross-site";
}

function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || isLoopback(hostname) || hostname.endsWith(".localhost");
}

function isSameSite(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && siteOf(one) === siteOf(other);
}

/**
 * The last two labels of a name. Browsers have a list of suffixes such as `co.uk`, below which they
 * count three.
 */
function siteOf({ hostname }: URL): string {
  return /^[\d.]+$|^\[/.test(hostname) ? hostname : hostname.split(".").slice(-2).join(".");
}

import { parseUrl } from "../http/redirects.js";

/**
 * Returns an address from the provider's response if a message may show it; undefined for anything
 * but a plain address. Other text from the provider is never shown.
 */
export function shownAddress(value: unknown): string | undefined {
  if (
    typeof value !== "string" ||
    value.length > 200 ||
    !/^https?:\/\/[A-Za-z0-9._~:/[\]{}%-]+$/i.test(value)
  )
    return undefined;
  return parseUrl(value) === undefined ? undefined : value;
}

/**
 * Returns an endpoint's address without its query, which may contain values of one login; undefined
 * as in {@link shownAddress}.
 */
export function shownEndpoint(address: string): string | undefined {
  const url = parseUrl(address);
  return url && shownAddress(`${url.origin}${url.pathname}`);
}

/** Returns count and noun: `1 second`, `5 seconds`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Returns an error code that has the form of OAuth's codes (RFC 6749 section 5.2); otherwise
 * undefined.
 */
export function shownError(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,64}$/.test(value) ? value : undefined;
}

/** Returns a list in words: `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2
    ? items.join("")
    : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;
}

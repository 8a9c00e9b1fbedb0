import { parseUrl } from "../../http/redirects.js";

/**
 * An address out of the provider's answer, as it may be shown: undefined for anything that is more than a plain address. What
 * else a provider says is never repeated.
 */
export function shownAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 200 || !/^https?:\/\/[A-Za-z0-9._~:/[\]{}%-]+$/i.test(value)) return undefined;
  return parseUrl(value) === undefined ? undefined : value;
}

/** An endpoint's address without its query, which may hold what belongs to one login alone; undefined as with {@link shownAddress}. */
export function shownEndpoint(address: string): string | undefined {
  const url = parseUrl(address);
  return url && shownAddress(`${url.origin}${url.pathname}`);
}

/** `1 second`, `5 seconds`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** An error code in the form of OAuth's own (RFC 6749 section 5.2). */
export function shownError(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,64}$/.test(value) ? value : undefined;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;
}

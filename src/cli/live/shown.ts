import { parseUrl } from "../../core/redirects.js";

/**
 * An address out of the provider's answer, as it may be shown: undefined for anything that is more than a plain address. What
 * else a provider says is never repeated.
 */
export function shownAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 200 || !/^https?:\/\/[A-Za-z0-9._~:/[\]{}%-]+$/i.test(value)) return undefined;
  return parseUrl(value) === undefined ? undefined : value;
}

/** An error code in the form of OAuth's own (RFC 6749 section 5.2). */
export function shownError(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z_]{1,64}$/.test(value) ? value : undefined;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;
}

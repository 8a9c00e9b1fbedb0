/** Which URLs stay on the application's own origin, so that a login or a logout may end there. */
import { FORBIDDEN_IN_URLS, parseUrl, type Origin } from "./redirects.js";

/**
 * The maximum length of an origin URL in characters, as sent and as written in `Location`, where
 * one character can become nine. A longer URL falls back silently. The limit bounds the record of
 * pending logins and the `Location` header.
 */
export const MAX_ORIGIN_URL_LENGTH = 2048;

/**
 * Returns the URL as the browser writes it if it stays on the application's own origin; otherwise
 * undefined. The raw text must begin with the origin, followed by its end, `/`, `?` or `#`. The
 * WHATWG parser, which browsers use, must also find this origin, without user info. So two parsers
 * cannot disagree about the destination. Nothing is percent-decoded.
 */
export function sameOriginUrl(raw: string | undefined, own: Origin): string | undefined {
  if (raw === undefined || raw.length > MAX_ORIGIN_URL_LENGTH) return undefined;
  if (!raw.startsWith(own) || FORBIDDEN_IN_URLS.test(raw)) return undefined;
  const next = raw.charAt(own.length);
  if (next !== "" && next !== "/" && next !== "?" && next !== "#") return undefined;
  const url = parseUrl(raw);
  if (url === undefined || url.origin !== own || url.username !== "" || url.password !== "")
    return undefined;
  return url.href.length > MAX_ORIGIN_URL_LENGTH ? undefined : url.href;
}

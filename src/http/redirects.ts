/**
 * The longest origin URL that is kept, as it was sent and as it is spelled in Location, where one character can become nine;
 * beyond it, the silent fallback. Keeps a record of pending logins small, and Location within what proxies and clients take.
 */
export const MAX_ORIGIN_URL_LENGTH = 2048;

export const SCHEMES = ["PRESERVE_ORIGIN_QP", "PRESERVE_ORIGIN_HP", "LANDING_PAGE", "DEFAULT"] as const;
export type Scheme = (typeof SCHEMES)[number];

export const LOGIN_RESPONSES = ["redirect", "json"] as const;
export const LOGOUT_RESPONSES = ["json", "redirect"] as const;

/** `scheme://netloc`, as in `https://app.example`; the port is there when the address has one. */
export type Origin = string;

// White space, control characters (C0, DEL, C1) and the backslash, which browsers read as a slash.
const FORBIDDEN = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * Accepts a URL only when it stays on our own origin, and gives it in the browser's own spelling. The raw text must begin
 * with the origin, followed by its end, `/`, `?` or `#`, AND the WHATWG parser, which browsers use, must find that same
 * origin without user info; so no two parsers can disagree about where it leads. Nothing is percent-decoded.
 */
export function sameOriginUrl(raw: string | undefined, own: Origin): string | undefined {
  if (raw === undefined || raw.length > MAX_ORIGIN_URL_LENGTH) return undefined;
  if (!raw.startsWith(own) || FORBIDDEN.test(raw)) return undefined;
  const next = raw.charAt(own.length);
  if (next !== "" && next !== "/" && next !== "?" && next !== "#") return undefined;
  const url = parseUrl(raw);
  if (url === undefined || url.origin !== own || url.username !== "" || url.password !== "") return undefined;
  return url.href.length > MAX_ORIGIN_URL_LENGTH ? undefined : url.href;
}

/**
 * Whether an operator's redirect setting is usable: an absolute http(s) URL (other origins too, the operator is trusted),
 * or a path with one leading slash and no backslash.
 */
export function isRedirectSetting(value: string): boolean {
  if (FORBIDDEN.test(value)) return false;
  if (value.startsWith("/")) return !value.startsWith("//");
  return /^https?:\/\/[^/?#]/i.test(value) && parseUrl(value) !== undefined;
}

/**
 * A usable redirect setting as a Location header can carry it (visible ASCII, RFC 9110 section 5.5). Only what is not ASCII
 * changes in a path: a parser would also resolve its dots, and `/.//x` would come out as another host's `//x`.
 */
export function redirectSettingInAscii(value: string): string {
  if (/^[\x21-\x7e]*$/.test(value)) return value;
  if (!value.startsWith("/")) return new URL(value).href;
  return value.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

export function parseUrl(value: string): URL | undefined {
  // URL.canParse came with Node 19.9; the try keeps one parse instead of two.
  try {
    return new URL(value);
  } catch {
    return undefined;
  }
}

/** An authority that can stand in an origin: name, IPv4 or bracketed IPv6, and a port. Anything else is a hostile Host header. */
const AUTHORITY = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Our own origin as this request shows it; undefined when its Host cannot be one. Lower case and without the scheme's
 * default port, as browsers write it.
 */
export function requestOrigin(scheme: "http" | "https", host: string | undefined): Origin | undefined {
  if (host === undefined || !isAuthority(host)) return undefined;
  return parseUrl(`${scheme}://${host}`)?.origin;
}

/** Whether a Host has the form of a host name or address, with or without a port. Only then may it be shown. */
export function isAuthority(host: string): boolean {
  return host.length <= 255 && AUTHORITY.test(host);
}

/** The URLs that a browser may be sent to, and the origins that they are compared with. */

/** `scheme://netloc`, as in `https://app.example`, with the port if it is not the default. */
export type Origin = string;

/**
 * White space, control characters (C0, DEL, C1) and the backslash: browsers drop them or read them
 * as a slash.
 */
export const FORBIDDEN_IN_URLS = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns whether a redirect setting is valid: an absolute http(s) URL, or a path with one leading
 * slash and no backslash. Other origins are allowed, because the operator is trusted.
 */
export function isRedirectSetting(value: string): boolean {
  if (FORBIDDEN_IN_URLS.test(value)) return false;
  if (value.startsWith("/")) return !value.startsWith("//");
  return /^https?:\/\/[^/?#]/i.test(value) && parseUrl(value) !== undefined;
}

/**
 * Returns a valid redirect setting in visible ASCII, as a `Location` header requires (RFC 9110
 * section 5.5). In a path only non-ASCII characters change: a parser would also resolve its dots,
 * and `/.//x` would become `//x` on another origin.
 */
export function redirectSettingInAscii(value: string): string {
  if (/^[\x21-\x7e]*$/.test(value)) return value;
  if (!value.startsWith("/")) return new URL(value).href;
  return value.replace(/[^\x21-\x7e]/gu, (character) =>
    encodeURIComponent(character.toWellFormed()),
  );
}

export function parseUrl(value: string): URL | undefined {
  // With URL.canParse, a valid URL would be parsed twice.
  try {
    return new URL(value);
  } catch {
    return undefined;
  }
}

/**
 * An authority that an origin can contain: name, IPv4 or bracketed IPv6, and a port. Other `Host`
 * values are rejected.
 */
const AUTHORITY = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Returns the application's origin by this request; undefined if its `Host` is invalid. The origin
 * is in lower case and without the scheme's default port, as browsers write it.
 */
export function requestOrigin(
  scheme: "http" | "https",
  host: string | undefined,
): Origin | undefined {
  if (host === undefined || !isAuthority(host)) return undefined;
  return parseUrl(`${scheme}://${host}`)?.origin;
}

/**
 * Returns whether a `Host` value is a host name or address, with or without a port. Only such a
 * value may be shown.
 */
export function isAuthority(host: string): boolean {
  return host.length <= 255 && AUTHORITY.test(host);
}

/** Which pictures a page may load. Pure. */
import { parseUrl } from "../http/redirects.js";

/** The longest picture URL that a page loads. */
export const MAX_PICTURE_URL_LENGTH = 2048;

/**
 * A picture that a page may load, and the origin that the Content-Security-Policy must allow for
 * it.
 */
export interface Picture {
  readonly src: string;
  readonly origin: string;
}

// The host characters of a CSP source (Content Security Policy Level 3 section 2.3.1). URL hosts
// allow more, such as `;` and `*`, with which a claim could change the policy. A CSP source cannot
// be an IPv6 address.
const POLICY_ORIGIN = /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

/**
 * An image's address as the Content-Security-Policy writes it: without query and fragment, and with
 * its separators encoded.
 *
 * @param src a path, or an address that {@link acceptablePicture} accepts
 * @param own the application's origin. Where the policy cannot name it, the whole origin is allowed
 *   for a path.
 */
export function imageSource(src: string, own: string | undefined): string {
  if (src.startsWith("/") && !POLICY_ORIGIN.test(own ?? "")) return "'self'";
  const { origin, pathname } = new URL(src, own);
  return `${origin}${pathname.replace(/[;,]/g, (separator) => `%${separator.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

const FORBIDDEN = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * The picture of the provider's claim, if a page may load it: an absolute https URL without user
 * info, or http on loopback for development. Otherwise undefined; the page then shows an initial.
 */
export function acceptablePicture(raw: unknown): Picture | undefined {
  if (typeof raw !== "string" || raw.length > MAX_PICTURE_URL_LENGTH) return undefined;
  // The parser accepts `https:host`, tabs and backslashes. Such a text is no absolute URL.
  if (!/^https?:\/\/[^/]/i.test(raw) || FORBIDDEN.test(raw)) return undefined;
  const url = parseUrl(raw);
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  if (url.protocol !== "https:" && !LOOPBACK.test(url.hostname)) return undefined;
  // Percent-encoding can make the parsed form longer than the raw one.
  if (url.href.length > MAX_PICTURE_URL_LENGTH || !POLICY_ORIGIN.test(url.origin)) return undefined;
  return { src: url.href, origin: url.origin };
}

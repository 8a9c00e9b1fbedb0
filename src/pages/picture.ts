import { parseUrl } from "../http/redirects.js";

/** The longest address of a picture that a page loads. */
export const MAX_PICTURE_URL_LENGTH = 2048;

/** A picture that a page may load, and the one origin that its Content-Security-Policy has to name for it. */
export interface Picture {
  readonly src: string;
  readonly origin: string;
}

// The host characters of a CSP source (Content Security Policy Level 3 section 2.3.1). URL hosts allow more, such as
// `;` and `*`, with which a claim would write into the policy; IPv6 addresses cannot be named there at all.
const POLICY_ORIGIN = /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

const FORBIDDEN = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * The provider's picture claim, when it is one that a page may load: an absolute https URL without user info, or http on
 * loopback for development. Undefined for everything else; the page then shows an initial.
 */
export function acceptablePicture(raw: unknown): Picture | undefined {
  if (typeof raw !== "string" || raw.length > MAX_PICTURE_URL_LENGTH) return undefined;
  // The parser repairs `https:host`, tabs and backslashes; what needs repair is no absolute URL.
  if (!/^https?:\/\/[^/]/i.test(raw) || FORBIDDEN.test(raw)) return undefined;
  const url = parseUrl(raw);
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  if (url.protocol !== "https:" && !LOOPBACK.test(url.hostname)) return undefined;
  // Percent-encoding can make the parsed form longer than the raw one.
  if (url.href.length > MAX_PICTURE_URL_LENGTH || !POLICY_ORIGIN.test(url.origin)) return undefined;
  return { src: url.href, origin: url.origin };
}

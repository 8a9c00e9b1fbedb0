import { parseUrl } from "../http/redirects.js";

export const GOOGLE_ISSUER = "https://accounts.google.com";

const GOOGLE_HOST = "accounts.google.com";
const GOOGLE_DOCUMENT_HOST = "docs.google.com";

/** Whether an issuer is Google's, which needs more than the standard asks. */
export function isGoogleIssuer(issuer: string): boolean {
  return parseUrl(issuer)?.hostname === GOOGLE_HOST;
}

/** The hosts of a provider's documents when none are configured: Google's documents lie apart from its issuer. */
export function defaultDocumentHosts(issuer: string): readonly string[] {
  if (isGoogleIssuer(issuer)) return [GOOGLE_DOCUMENT_HOST];
  const host = parseUrl(issuer)?.hostname;
  return host === undefined || host === "" ? [] : [host];
}

// White space, control characters and the backslash: what browsers drop or read as a slash.
const FORBIDDEN = /[\s\p{Cc}\\]/u;

/**
 * Whether a URL leads to one of the provider's documents: absolute, https, no user info, no port, and a host that is
 * exactly one of `documentHosts`. Both the raw text and the WHATWG parser must find that host, so that no two parsers
 * can disagree: another letter case, a trailing dot, percent-encoding and `:443` written out are all refused.
 * Pure; never throws; false for anything that is not a string.
 *
 * @param documentHosts lower case, without port; setting `IDP_DOCUMENT_HOSTS`
 */
export function isValidIdpUrl(url: string, documentHosts: readonly string[]): boolean {
  if (typeof url !== "string" || !url.startsWith("https://") || FORBIDDEN.test(url)) return false;
  const host = /^[^/?#]*/.exec(url.slice("https://".length))?.[0] ?? "";
  return documentHosts.includes(host) && parseUrl(url)?.host === host;
}

import { parseUrl } from "../http/redirects.js";

export const GOOGLE_ISSUER = "https://accounts.google.com";

const GOOGLE_HOST = "accounts.google.com";
const GOOGLE_DOCUMENT_HOST = "docs.google.com";

/** Whether an issuer is Google's, which needs parameters that the standard does not have. */
export function isGoogleIssuer(issuer: string): boolean {
  return parseUrl(issuer)?.hostname === GOOGLE_HOST;
}

/** Returns the default hostnames of a provider's documents. Google's documents are not on its issuer's hostname. */
export function defaultDocumentHosts(issuer: string): readonly string[] {
  if (isGoogleIssuer(issuer)) return [GOOGLE_DOCUMENT_HOST];
  const host = parseUrl(issuer)?.hostname;
  return host === undefined || host === "" ? [] : [host];
}

/** White space, control characters and the backslash: browsers drop them or read them as a slash. */
const FORBIDDEN = /[\s\p{Cc}\\]/u;

/**
 * Whether a URL is one of the provider's documents: absolute, https, without user info and port, and with a hostname of
 * `documentHosts`. The raw text and the WHATWG parser must give the same hostname, so that no two parsers can disagree.
 * Other letter case, a trailing dot, percent-encoding and an explicit `:443` are refused. Pure; never throws.
 *
 * @param url false for a value that is not a string
 * @param documentHosts lower case, without port; setting `IDP_DOCUMENT_HOSTS`
 */
export function isValidIdpUrl(url: string, documentHosts: readonly string[]): boolean {
  if (typeof url !== "string" || !url.startsWith("https://") || FORBIDDEN.test(url)) return false;
  const host = /^[^/?#]*/.exec(url.slice("https://".length))?.[0] ?? "";
  return documentHosts.includes(host) && parseUrl(url)?.host === host;
}

import { FORBIDDEN_IN_URLS, parseUrl } from "./redirects.js";

/**
 * Whether a URL is one of the provider's documents: absolute, https, without user info and port,
 * and with a hostname of `documentHosts`. The raw text and the WHATWG parser must give the same
 * hostname, so that no two parsers can disagree. Other letter case, a trailing dot,
 * percent-encoding and an explicit `:443` are refused. Pure; never throws.
 *
 * @param url false for a value that is not a string
 * @param documentHosts in lower case, without port
 */
export function isValidIdpUrl(url: string, documentHosts: readonly string[]): boolean {
  if (typeof url !== "string" || !url.startsWith("https://") || FORBIDDEN_IN_URLS.test(url))
    return false;
  const host = /^[^/?#]*/.exec(url.slice("https://".length))?.[0] ?? "";
  return documentHosts.includes(host) && parseUrl(url)?.host === host;
}

/** The addresses in an API's response, as the browser may use them. Pure. */
import type { Api } from "../config/api-options.js";
import type { Origin } from "../http/redirects.js";

/** Where the proxy is, and what it has requested. */
export interface PublicPlace {
  /** The API's URL that was requested. */
  readonly url: URL;
  /** The application's own origin. */
  readonly origin: Origin | undefined;
  /** The part of the application's paths that the framework doesn't see; see `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
  /** Origins whose addresses stay as they are. Default: none. */
  readonly listed?: readonly string[];
}

/**
 * Returns the browser's address for an API's: the path of the proxy, if it's below the API's base,
 * or already below the proxy; the same address, if its origin is listed. Otherwise undefined.
 *
 * @param address as in a header, relative to the requested URL
 */
export function publicAddress(
  address: string,
  api: Api,
  { url, origin, pathPrefix, listed = [] }: PublicPlace,
): string | undefined {
  // Browsers read what isn't ASCII as bytes of UTF-8, so it's encoded byte by byte.
  const ascii = address.replace(/[\x80-\xff]/g, (byte) => encoded(byte));
  if (!URL.canParse(ascii, url.href)) return undefined;
  const target = new URL(ascii, url);
  if (!/^https?:$/.test(target.protocol) || target.username + target.password !== "")
    return undefined;
  const { path = "" } = api;
  const rest = target.href.slice(target.origin.length);
  const [place, base] = [pathPrefix + path, api.url.pathname];
  const isOurHost = origin !== undefined && isSameHost(target, new URL(origin));
  // An API that knows its place from `X-Forwarded-Prefix` may leave the origin out.
  const isOurPath = place !== "/" && /^\/(?![/\\])/.test(ascii);
  const isOurs = rest.startsWith(place) && (isOurHost || isOurPath);
  const isApis = rest.startsWith(base) && isSameHost(target, api.url);
  // If it is below both, the longer path is meant.
  if (isOurs && (!isApis || place.length > base.length)) return safe(rest);
  if (isApis) return safe(place + rest.slice(base.length));
  return listed.includes(target.origin) ? target.href : undefined;
}

function encoded(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Two slashes would begin the name of another host. */
function safe(path: string): string | undefined {
  return path.startsWith("//") ? undefined : path;
}

/**
 * Whether two URLs have one host. Behind a proxy that ends TLS, servers write the other scheme, and
 * default ports that don't fit it.
 */
function isSameHost(one: URL, other: URL): boolean {
  return one.hostname === other.hostname && portOf(one) === portOf(other);
}

function portOf({ port }: URL): string {
  return port === "80" || port === "443" ? "" : port;
}

/** One link of `Link` (RFC 8288 section 3): an address, and parameters with quoted values. */
const LINK = /<([^>]*)>((?:[^,"]|"(?:[^"\\]|\\.)*")*)(?:,|$)/y;

/** Returns the links to addresses of the proxy. Undefined: there are none. */
export function publicLinks(links: string, api: Api, place: PublicPlace): string | undefined {
  const kept: string[] = [];
  for (let at = 0; at < links.length; at = LINK.lastIndex) {
    LINK.lastIndex = at + (/^[\s,]*/.exec(links.slice(at))?.[0].length ?? 0);
    const [, address, parameters = ""] = LINK.exec(links) ?? [];
    // Nobody knows where the next link of a malformed list begins.
    if (address === undefined) break;
    const known = publicAddress(address, api, place);
    // A link about another resource names it.
    if (known !== undefined && !/;\s*anchor\s*=/i.test(parameters))
      kept.push(`<${known}>${parameters.trimEnd()}`);
  }
  return kept.length === 0 ? undefined : kept.join(", ");
}

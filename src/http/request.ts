import { requestOrigin, type Origin } from "./redirects.js";

/**
 * A request for the endpoints: plain values, the same for every framework. The adapter builds one
 * per request.
 */
export interface IdpRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query exactly as the browser sent them, before any rewriting by the framework. */
  readonly target: string;
  /** As the framework reports it, according to its own trust-proxy setting. */
  readonly scheme: "http" | "https";
  /** Host and port as the framework reports them; undefined if the request has none. */
  readonly host: string | undefined;
  /**
   * @param name lower case
   * @returns the value; several lines of one name joined by ", " (Cookie: "; "); undefined when
   *   absent
   */
  header(name: string): string | undefined;
  /**
   * Returns the result of the framework's body parser: text, bytes or an object with a property for
   * each form field. If the body is unread, returns it as an async iterable of bytes, whose
   * iterator may be left early. Undefined: other code has read the body. If the request has no
   * body, the result is undefined or an empty iterable.
   */
  body?(): unknown;
}

/**
 * Returns the path of a request target, without its query. The target may have absolute form (RFC
 * 9112 section 3.2.2).
 */
export function pathOf(target: string): string {
  return originForm(target).split("?", 1)[0] ?? "";
}

/** Returns the raw query of a request target, without the question mark. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start < 0 ? "" : target.slice(start + 1);
}

function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  // Without an authority, or with user info, the target is not an http URI (RFC 9110 sections 4.2.1
  // and 4.2.4).
  const absolute = /^https?:\/\/[^/?#@]+(?![^/?#])(.*)$/i.exec(target);
  return absolute?.[1] === undefined || absolute[1] === "" ? "/" : absolute[1];
}

/** Returns the first value of a query parameter, and whether the parameter is repeated. */
export function single(
  query: URLSearchParams,
  name: string,
): { value: string | undefined; repeated: boolean } {
  const values = query.getAll(name);
  return { value: values[0], repeated: values.length > 1 };
}

export interface AddressSettings {
  readonly baseUrl: string | null;
  /** Forwarded headers are used only if this setting, or the framework's own setting, allows it. */
  readonly trustProxy: boolean;
}

/**
 * Returns the application's origin; undefined without BASE_URL and without a usable Host header.
 */
export function ownOrigin(
  request: IdpRequest,
  { baseUrl, trustProxy }: AddressSettings,
): Origin | undefined {
  return baseUrl ?? requestOrigin(seenScheme(request, trustProxy), seenHost(request, trustProxy));
}

/** Returns whether the browser uses https. */
export function isSecure(request: IdpRequest, { baseUrl, trustProxy }: AddressSettings): boolean {
  return baseUrl === null
    ? seenScheme(request, trustProxy) === "https"
    : baseUrl.startsWith("https:");
}

// The last value of a forwarded list counts, because the nearest proxy, which is trusted, wrote it.

function seenScheme(request: IdpRequest, trustProxy: boolean): "http" | "https" {
  const forwarded = trustProxy
    ? lastOf(request.header("x-forwarded-proto"))?.toLowerCase()
    : undefined;
  return forwarded === "https" || forwarded === "http" ? forwarded : request.scheme;
}

/** Returns host and port as the browser used them, independent of BASE_URL. */
export function seenHost(request: IdpRequest, trustProxy: boolean): string | undefined {
  return (trustProxy ? lastOf(request.header("x-forwarded-host")) : undefined) ?? request.host;
}

/**
 * Returns the browser's IP address.
 * @param known as far as the framework trusts it
 */
export function seenClient(
  request: IdpRequest,
  known: string | undefined,
  trustProxy: boolean,
): string | undefined {
  return (trustProxy ? lastOf(request.header("x-forwarded-for")) : undefined) ?? known;
}

function lastOf(list: string | undefined): string | undefined {
  return list?.split(",").at(-1)?.trim();
}

/** A browser's or framework's guess at the next page: it must never sign anyone in or out. */
export function isPrefetch(request: IdpRequest): boolean {
  const isGuess = ["sec-purpose", "purpose"].some(
    (name) => request.header(name)?.toLowerCase().includes("prefetch") === true,
  );
  return isGuess || request.header("next-router-prefetch") !== undefined;
}

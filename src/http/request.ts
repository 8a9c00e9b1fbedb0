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
   * Whether the framework's own setting trusts the proxy's forwarded headers in this request.
   * Absent: the framework has no such setting.
   */
  readonly trustsProxy?: boolean;
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

import { ERRORS, type ErrorCode } from "../errors.js";

/** A request for the endpoints: plain values, the same for every framework. The adapter builds one per request. */
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
   * @returns the value; several lines of one name joined by ", " (Cookie: "; "); undefined when absent
   */
  header(name: string): string | undefined;
  /**
   * Returns the result of the framework's body parser: text, bytes or an object with a property for each form field. If the body is
   * unread, returns it as an async iterable of bytes, whose iterator may be left early. Undefined: other code has read the body. If the
   * request has no body, the result is undefined or an empty iterable.
   */
  body?(): unknown;
}

/** A response with text. The adapter sends it. */
export interface Reply<Body extends string | ReadableStream<Uint8Array> = string> {
  readonly status: number;
  /** Names have each word capitalized: `Content-Type`, `Retry-After`. A name occurs once; `Set-Cookie` is not among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, each one a header line of its own. */
  readonly setCookies?: readonly string[];
  /** Undefined: no body. */
  readonly body?: Body;
}

/**
 * A response of the endpoints. The adapter sends a stream as it comes, and the head at once, without a buffer. If the browser leaves, the
 * adapter cancels the stream. If the stream fails, the adapter closes the connection. A response to HEAD never has a stream.
 */
export type AnyReply = Reply<string | ReadableStream<Uint8Array>>;

/** On every response (decisions, "HTTP in general"). */
const COMMON_HEADERS = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  Vary: "Cookie",
} as const;

const JSON_HEADERS = Object.freeze({
  ...COMMON_HEADERS,
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Type": "application/json; charset=utf-8",
});

const PROBLEM_HEADERS = Object.freeze({ ...JSON_HEADERS, "Content-Type": "application/problem+json; charset=utf-8" });

/** Returns a JSON reply from its text. The probe uses it. */
export function jsonText(body: string, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body };
}

export function json(value: unknown, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return jsonText(JSON.stringify(value), status, headers);
}

/**
 * Returns a redirect. It has no body, so that it never repeats a part of the request.
 *
 * @param status 303 after a POST
 */
export function redirect(location: string, status: 302 | 303 = 302): Reply {
  return { status, headers: { ...COMMON_HEADERS, Location: visibleAscii(location), "Content-Length": "0" } };
}

/** Percent-encodes characters that a header must not contain. A stored address may contain any character. */
function visibleAscii(location: string): string {
  return location.replace(/[^\x21-\x7e]+/g, (text) =>
    Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** Returns a problem (RFC 9457). `detail` and `extra` must not contain text from the request or the provider. */
export function problem(
  code: ErrorCode,
  detail: string,
  extra?: { members?: Record<string, unknown>; headers?: Record<string, string> },
): Reply {
  const { status, title } = ERRORS[code];
  const body = { type: "about:blank", title, status, code, detail, ...extra?.members };
  return { status, headers: { ...PROBLEM_HEADERS, ...extra?.headers }, body: JSON.stringify(body) };
}

/**
 * Returns an HTML page. Its policy allows its stylesheet and its images, script files only with `scripts`, and forms only with `forms`.
 *
 * @param options `images`: the sources of its images, as the policy writes them
 */
export function page(
  status: number,
  html: string,
  options?: { images?: readonly string[]; forms?: boolean; scripts?: boolean; headers?: Readonly<Record<string, string>> },
): Reply {
  const { images = [] } = options ?? {};
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(options?.scripts === true ? ["script-src 'self'"] : []),
    ...(images.length === 0 ? [] : [`img-src ${images.join(" ")}`]),
    "base-uri 'none'",
    // Browsers also apply it to the redirects that follow a form.
    `form-action ${options?.forms === true ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy,
      "X-Frame-Options": "DENY",
      "Cross-Origin-Resource-Policy": "same-origin",
      // With no-referrer, browsers send `Origin: null` with a form.
      ...(options?.forms === true && { "Referrer-Policy": "same-origin" }),
      ...options?.headers,
    },
    body: html,
  };
}

/** Returns an empty page that only pages of this origin may show in a frame. */
export function framedPage(parent: string): Reply {
  const headers = {
    ...COMMON_HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors ${parent}`,
  };
  return { status: 200, headers, body: "<!doctype html><title>Signed out</title>" };
}

export function stylesheet(css: string): Reply {
  return { status: 200, headers: { ...COMMON_HEADERS, "Content-Type": "text/css; charset=utf-8" }, body: css };
}

export function script(text: string): Reply {
  return { status: 200, headers: { ...COMMON_HEADERS, "Content-Type": "text/javascript; charset=utf-8" }, body: text };
}

/** Returns an event stream, which no cache or proxy stores, changes or buffers. @param body undefined for HEAD */
export function eventStream(body: ReadableStream<Uint8Array> | undefined): AnyReply {
  const headers = {
    ...COMMON_HEADERS,
    "Cache-Control": "no-store, no-transform",
    "Content-Type": "text/event-stream",
    "Cross-Origin-Resource-Policy": "same-origin",
    // The buffer of nginx.
    "X-Accel-Buffering": "no",
  };
  return { status: 200, headers, ...(body && { body }) };
}

/** Returns the path of a request target, without its query. The target may have absolute form (RFC 9112 section 3.2.2). */
export function pathOf(target: string): string {
  const path = originForm(target);
  const end = path.indexOf("?");
  return end < 0 ? path : path.slice(0, end);
}

/** Returns the raw query of a request target, without the question mark. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start < 0 ? "" : target.slice(start + 1);
}

function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  // Without an authority, or with user info, the target is not an http URI (RFC 9110 sections 4.2.1 and 4.2.4).
  const absolute = /^https?:\/\/[^/?#@]+(?![^/?#])(.*)$/i.exec(target);
  return absolute?.[1] === undefined || absolute[1] === "" ? "/" : absolute[1];
}

/** Returns the first value of a query parameter, and whether the parameter is repeated. */
export function single(query: URLSearchParams, name: string): { value: string | undefined; repeated: boolean } {
  const values = query.getAll(name);
  return { value: values[0], repeated: values.length > 1 };
}

/** Returns which of HTML and JSON an `Accept` header prefers (RFC 9110 section 12.5.1); undefined: neither. */
export function preferredType(accept: string | undefined): "html" | "json" | undefined {
  if (accept === undefined) return undefined;
  let html = 0;
  let json = 0;
  let any = 0;
  for (const range of accept.split(",", 32)) {
    // Split, then trimmed: an expression with white space on both sides takes quadratic time over a header full of it.
    const [type = "", ...parameters] = range
      .toLowerCase()
      .split(";")
      .map((part) => part.trim());
    const q = quality(parameters);
    if (type === "text/html" || type === "application/xhtml+xml") html = Math.max(html, q);
    else if (type === "application/json" || type === "application/problem+json") json = Math.max(json, q);
    else if (type === "*/*") any = Math.max(any, q);
  }
  if (html > Math.max(json, 0) && html >= any) return "html";
  if (json > Math.max(html, 0) && json >= any) return "json";
  return undefined;
}

/** Returns the weight among the parameters of a preference (RFC 9110 section 12.4.2), in lower case: 1 if absent, 0 if invalid. */
export function quality(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  if (q === undefined) return 1;
  const value = Number(q.slice(2));
  return value >= 0 && value <= 1 ? value : 0;
}

/**
 * Whether a page of the application's own origin sent this request. Browsers send Sec-Fetch-Site, and older browsers send Origin. Scripts of
 * other sites cannot set these headers.
 */
export function isSameOrigin(request: IdpRequest, own: string | undefined): boolean {
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = request.header("origin");
  return origin !== undefined && origin === own;
}

/** A browser's or framework's guess at the next page: it must never sign anyone in or out. */
export function isPrefetch(request: IdpRequest): boolean {
  const isGuess = ["sec-purpose", "purpose"].some((name) => request.header(name)?.toLowerCase().includes("prefetch") === true);
  return isGuess || request.header("next-router-prefetch") !== undefined;
}

import { ERRORS, type ErrorCode } from "../errors.js";

/** A `Readable` of node:stream, which only adapters for servers of Node.js get. */
export interface NodeStream {
  /** False once the stream has ended or failed. */
  readonly readable: boolean;
  /** Sends the stream into a `Writable`. */
  pipe(destination: never): unknown;
  /** Ends the stream before its end. */
  destroy(error?: Error): unknown;
}

/** A body that the adapter sends as it comes. */
export type BodyStream = ReadableStream<Uint8Array> | NodeStream;

/** Everything that a response can have as its body. */
export type Body = string | Uint8Array | BodyStream;

/** A response with text. The adapter sends it. */
export interface Reply<Content extends Body = string> {
  /** The HTTP status. */
  readonly status: number;
  /**
   * Names have each word capitalized: `Content-Type`, `Retry-After`. A name occurs once;
   * `Set-Cookie` is not among them.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, each one a header line of its own. */
  readonly setCookies?: readonly string[];
  /** Undefined: no body. */
  readonly body?: Content;
}

/**
 * A response of the endpoints. The adapter sends a stream as it comes, and the head at once,
 * without a buffer. If the browser leaves, the adapter cancels the stream. If the stream fails, the
 * adapter closes the connection. A response to HEAD never has a stream.
 */
export type AnyReply = Reply<Body>;

/** Whether a body is a stream, which the adapter sends as it comes. */
export function isStream(body: Body | undefined): body is BodyStream {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

/**
 * Whether a header describes the body that a failed handler wanted to send. Others are set by
 * middleware, such as those of CORS, which a script needs to read an error.
 */
export function describesBody(name: string): boolean {
  return /^(?:content-(?!security)|(?:accept-ranges|etag|expires|last-modified|location|trailer|transfer-encoding)$)/i.test(
    name,
  );
}

/** The headers of every response. */
export const COMMON_HEADERS = {
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

const PROBLEM_HEADERS = Object.freeze({
  ...JSON_HEADERS,
  "Content-Type": "application/problem+json; charset=utf-8",
});

/** Returns a JSON reply from its text. The probe uses it. */
export function jsonText(
  body: string,
  status = 200,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return {
    status,
    headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
    body,
  };
}

export function json(
  value: unknown,
  status = 200,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return jsonText(JSON.stringify(value), status, headers);
}

/**
 * Returns a redirect. It has no body, so that it never repeats a part of the request.
 *
 * @param status 303 after a POST
 */
export function redirect(location: string, status: 302 | 303 = 302): Reply {
  // A stored address may contain characters that a header must not contain.
  const visible = location.replace(/[^\x21-\x7e]+/g, (text) =>
    encodeURIComponent(text.toWellFormed()),
  );
  return { status, headers: { ...COMMON_HEADERS, Location: visible, "Content-Length": "0" } };
}

/**
 * Returns a problem (RFC 9457). `detail` and `extra` must not contain text from the request or the
 * provider.
 */
export function problem(
  code: ErrorCode,
  detail: string,
  extra?: { members?: Record<string, unknown>; headers?: Record<string, string> },
): Reply {
  const { status, title } = ERRORS[code];
  const body = { type: "about:blank", title, status, code, detail, ...extra?.members };
  return { status, headers: { ...PROBLEM_HEADERS, ...extra?.headers }, body: JSON.stringify(body) };
}

/** The header with which a 401 names the login: what `login_url` is for scripts that read JSON. */
export function loginHeader(loginUrl: string): { readonly "X-Idpauth-Login": string } {
  return { "X-Idpauth-Login": loginUrl };
}

/** Returns the reply to a request for a stream or a socket during a shutdown. */
export function shuttingDown(): Reply {
  const headers = { Connection: "close", "Retry-After": "1" };
  return problem("shutting_down", `${ERRORS.shutting_down.title}.`, { headers });
}

export function stylesheet(css: string): Reply {
  return {
    status: 200,
    headers: { ...COMMON_HEADERS, "Content-Type": "text/css; charset=utf-8" },
    body: css,
  };
}

export function script(text: string): Reply {
  return {
    status: 200,
    headers: { ...COMMON_HEADERS, "Content-Type": "text/javascript; charset=utf-8" },
    body: text,
  };
}

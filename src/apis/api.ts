/** What a path may contain only if the API's `paths` lists it: an encoded slash, an empty segment, a path parameter. */
export type PathAllowance = "%2F" | "//" | ";";

/** One row of the table of APIs, checked at startup. */
export interface Api {
  readonly name: string;
  /** The base URL: http or https, without user info, query and fragment. Its path ends with `/`. */
  readonly url: URL;
  /** The prefix of the proxy's paths, which begins and ends with `/`. Undefined: the API isn't proxied. */
  readonly path: string | undefined;
  /** Upper case. Undefined: {@link USUAL_METHODS}. */
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly PathAllowance[];
  /** By name in lower case: true passes on what the browser sends, a string is sent with each request. */
  readonly requestHeaders: Readonly<Record<string, string | true>>;
  /** By name in lower case: true passes on what the API sends, a string is sent with each response. */
  readonly responseHeaders: Readonly<Record<string, string | true>>;
  /** Whether pages of other sites may send requests with safe methods, for example link to a download. */
  readonly allowCrossSite: boolean;
  /** Seconds without a byte from the API, or to it, after which a request fails. Event streams and WebSockets may be silent for longer. */
  readonly timeout: number;
}

/** Without CONNECT, and without TRACE, whose response repeats the token. A table may not list those two. */
export const USUAL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

import type { IncomingHttpHeaders } from "node:http";
import { isTlsOrigin } from "../certificates/tls-origins.js";
import { CookieJar } from "./cookie-jar.js";
import { exchange, loopbackOf } from "./exchange.js";
import { fetchSite } from "./fetch-site.js";

export { CookieJar, type KeptCookie } from "./cookie-jar.js";
export { BodyTooLargeError } from "./exchange.js";

/** Options of `new CookieBrowser()`. */
export interface CookieBrowserOptions {
  /** Where a path without an origin leads. */
  readonly origin?: string;
  /**
   * Origins that are reached at another port of 127.0.0.1, as if a proxy stood before it:
   * `{ "https://app.example": 3000 }`. An https origin is spoken to in plain HTTP with
   * `X-Forwarded-Proto: https`, and its cookies are those of https.
   */
  readonly proxied?: Readonly<Record<string, number | PrefixProxy>>;
  /** Milliseconds since the epoch, for the age of cookies; default the system clock. */
  readonly now?: () => number;
}

/** A proxy that passes on only what lies below a prefix, and takes the prefix off the path. */
export interface PrefixProxy {
  /** The application's port on 127.0.0.1. */
  readonly port: number;
  /** Such as `/portal`. */
  readonly strips: string;
}

/** Options of one request. */
export interface BrowserRequestOptions {
  /** Default GET. */
  readonly method?: string;
  /**
   * The page that sends the request, for the header `Sec-Fetch-Site`: a link of `navigate` and
   * `follow`, a script of `get` and `post`. Null: the user typed the address. Default: null for
   * `navigate` and `follow`, and a page of the requested origin for `get` and `post`.
   */
  readonly from?: string | URL | null;
  /**
   * A Cookie header given here replaces the jar's. `follow` treats it as cookies of the first
   * origin: no other gets them, and what that origin sets on the way replaces them. `Authorization`
   * goes no further than the first origin either. An empty list sends no such header.
   */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as UTF-8. Default: no body. */
  readonly body?: string;
  /** A response with a longer body is an error. Default: any length is read. */
  readonly maxBytes?: number;
  /** Aborts the request, as a user who leaves. */
  readonly signal?: AbortSignal;
}

/** A response that was read to its end. */
export interface BrowserResponse {
  /** The requested address. */
  readonly url: URL;
  /** The HTTP status. */
  readonly status: number;
  /** Names in lower case, as Node parses them. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came over the wire. */
  readonly rawHeaders: readonly string[];
  /** The `Set-Cookie` lines, also of cookies that the jar refuses. */
  readonly setCookies: readonly string[];
  /** The Location header, byte for byte. */
  readonly location: string | undefined;
  /** The body, decoded as UTF-8. */
  readonly text: string;
  /** Parses the body. @throws SyntaxError it is not JSON */
  json(): any; // eslint-disable-line @typescript-eslint/no-explicit-any -- the test knows what it asked for
}

/** The end of a chain of redirects, and the way there. */
export interface FollowedResponse extends BrowserResponse {
  /** Every response from the first to this one. */
  readonly trail: readonly BrowserResponse[];
}

/** What a browser sends: its headers, and those that only trustworthy addresses get. */
interface Manner {
  readonly headers: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

interface SentRequest extends BrowserRequestOptions {
  readonly manner: Manner;
  /** The addresses that redirected to this one. */
  readonly earlier?: readonly URL[] | undefined;
}

const NAVIGATION: Manner = {
  headers: {
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "upgrade-insecure-requests": "1",
  },
  metadata: { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
};

/** A script's `fetch`. */
const SCRIPT: Manner = {
  headers: { accept: "*/*" },
  metadata: { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
};

const MAX_REDIRECTS = 20;

/**
 * A browser without pages: it keeps cookies, sends requests, and follows redirects in `follow`. All
 * names resolve to this machine.
 */
export class CookieBrowser {
  /** The cookies of all origins. */
  readonly cookies: CookieJar;
  /** Headers of every request to another origin than the browser's own. */
  protected headersElsewhere: Readonly<Record<string, string>> = {};
  readonly #origin: string | undefined;
  readonly #proxied: NonNullable<CookieBrowserOptions["proxied"]>;

  constructor(options: CookieBrowserOptions = {}) {
    this.#origin = options.origin;
    this.#proxied = options.proxied ?? {};
    this.cookies = new CookieJar(options.now);
  }

  /**
   * Sends one request as a page's `fetch` does, and returns the response, also a redirect.
   *
   * @param target a URL, or a path of the browser's origin, which goes over the wire as it is
   *   written
   */
  get(target: string | URL, options: BrowserRequestOptions = {}): Promise<BrowserResponse> {
    return this.#send(target, { manner: SCRIPT, ...options });
  }

  async #send(
    target: string | URL,
    { manner, earlier = [], ...options }: SentRequest,
  ): Promise<BrowserResponse> {
    const { url, path } = this.#resolve(target);
    const proxy = this.#proxied[url.origin];
    const tls = proxy === undefined && isTlsOrigin(url.origin);
    if (proxy === undefined && url.protocol !== "http:" && !tls) {
      throw new TypeError(
        `This browser supports only plain HTTP. Set the option \`proxied\` for ${url.origin}.`,
      );
    }
    const response = await exchange(
      {
        tls,
        hostname: proxy === undefined ? loopbackOf(url.hostname) : "127.0.0.1",
        port: (typeof proxy === "object" ? proxy.port : proxy) ?? (url.port || (tls ? 443 : 80)),
        path: typeof proxy === "object" ? withoutPrefix(path, proxy.strips) : path,
        method: options.method ?? "GET",
        headers: this.#headersOf(manner, options, [...earlier, url]),
        signal: options.signal,
      },
      options.body,
      options.maxBytes,
    );
    const setCookies = response.message.headers["set-cookie"] ?? [];
    for (const line of setCookies) this.cookies.take(url, line);
    return {
      url,
      status: response.message.statusCode ?? 0,
      headers: response.message.headers,
      rawHeaders: response.message.rawHeaders,
      setCookies,
      location: response.message.headers.location,
      text: response.text,
      json: () => JSON.parse(response.text) as unknown,
    };
  }

  /** @param trail the addresses of a navigation: the last one gets the headers */
  #headersOf(manner: Manner, options: BrowserRequestOptions, trail: readonly URL[]) {
    const url = trail.at(-1) as URL;
    const from = options.from === undefined ? url : options.from;
    const site = fetchSite(from === null ? null : new URL(from), trail);
    const cookie = this.cookies.header(url);
    const isProxied = this.#proxied[url.origin] !== undefined;
    return {
      host: url.host,
      ...(cookie === undefined ? {} : { cookie }),
      ...manner.headers,
      ...(site === undefined ? {} : { "sec-fetch-site": site, ...manner.metadata }),
      ...(isProxied && url.protocol === "https:" ? { "x-forwarded-proto": "https" } : {}),
      ...(url.origin === this.#origin ? {} : this.headersElsewhere),
      ...lowerCased(options.headers),
    };
  }

  /** One navigation: the user types the address, or clicks on a link of the page `from`. */
  navigate(target: string | URL, options: BrowserRequestOptions = {}): Promise<BrowserResponse> {
    return this.#navigate(target, options);
  }

  #navigate(
    target: string | URL,
    { from = null, ...options }: BrowserRequestOptions,
    earlier?: readonly URL[],
  ): Promise<BrowserResponse> {
    return this.#send(target, { manner: NAVIGATION, earlier, ...options, from });
  }

  /** Navigates and follows redirects, also across origins, to the first other response. */
  async follow(
    target: string | URL,
    options: BrowserRequestOptions = {},
  ): Promise<FollowedResponse> {
    const trail: BrowserResponse[] = [];
    const first = this.#resolve(target).url.origin;
    const { cookie, ...others } = lowerCased(options.headers);
    const given = new GivenCookies(cookie);
    let next: string | URL = target;
    let request = options;
    let headers = others;
    while (trail.length <= MAX_REDIRECTS) {
      const response = await this.#navigate(
        next,
        request,
        trail.map(({ url }) => url),
      );
      trail.push(response);
      if (response.location === undefined || ![301, 302, 303, 307, 308].includes(response.status))
        return { ...response, trail };
      const from = response.url;
      if (from.origin === first) given.replacedBy(response.setCookies);
      next = new URL(response.location, from);
      if (next.hash === "" && from.hash !== "") next.hash = from.hash;
      if (next.origin !== first) headers = withoutAuthorization(headers);
      const cookies = next.origin === first ? given.header(this.cookies.header(next)) : undefined;
      // Only 307 and 308 repeat the method and the body (RFC 9110 section 15.4).
      const { method: _method, body: _body, ...bodyless } = request;
      request = {
        ...(response.status < 307 ? bodyless : request),
        headers: { ...headers, ...(cookies !== undefined && { cookie: cookies }) },
      };
    }
    throw new Error(
      `more than ${String(MAX_REDIRECTS)} redirects: ${trail.map(({ url }) => url.href).join(" -> ")}`,
    );
  }

  /** A path is kept as it is written; a URL is sent in the parser's own spelling. */
  #resolve(target: string | URL): { url: URL; path: string } {
    if (typeof target === "string" && target.startsWith("/")) {
      if (this.#origin === undefined)
        throw new TypeError("a path needs the browser's option `origin`");
      return { url: new URL(this.#origin + target), path: target };
    }
    if (!URL.canParse(String(target)))
      throw new TypeError("Pass a path that begins with /, or an absolute URL.");
    const url = new URL(target);
    return { url, path: url.pathname + url.search };
  }
}

/** The cookies of a Cookie header, beside a jar that does not know them. */
class GivenCookies {
  #pairs: string[];

  constructor(header: string | string[] | undefined) {
    this.#pairs = [header ?? []]
      .flat()
      .flatMap((line) => line.split(/; */).filter((pair) => pair !== ""));
  }

  /** Removes the cookies that the jar now has. */
  replacedBy(setCookies: readonly string[]): void {
    const names = setCookies.map(nameOf);
    this.#pairs = this.#pairs.filter((pair) => !names.includes(nameOf(pair)));
  }

  /** With the jar's own, where the names differ; undefined when the jar's alone will do. */
  header(jars: string | undefined): string | undefined {
    if (this.#pairs.length === 0) return undefined;
    const names = this.#pairs.map(nameOf);
    const others = (jars?.split("; ") ?? []).filter((pair) => !names.includes(nameOf(pair)));
    return [...this.#pairs, ...others].join("; ");
  }
}

function nameOf(pair: string): string {
  return (/^[^=;]*/.exec(pair)?.[0] ?? "").trim();
}

function withoutAuthorization({
  authorization: _authorization,
  ...headers
}: Record<string, string | string[]>): typeof headers {
  return headers;
}

function withoutPrefix(path: string, prefix: string): string {
  const rest = path.slice(prefix.length);
  if (!path.startsWith(prefix) || !/^(?:[/?]|$)/.test(rest))
    throw new Error(`the proxy passes on only paths below ${prefix}, not ${path}`);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function lowerCased(
  headers: BrowserRequestOptions["headers"] = {},
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

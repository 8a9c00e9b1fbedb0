/** The options of an API, and what the rest of the package knows of it. */
import type { Finding } from "../errors.js";
import type { TokenTarget } from "../ports/provider.js";
import type { ApiRule } from "./api-rules.js";
import type { ApiCertificate } from "./check-certificates.js";

/** An API that the application calls for its users. */
export interface ApiOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /**
   * The address that all its paths begin with: an absolute http(s) URL that ends with a slash,
   * without a query.
   */
  readonly url: string;
  /** The resource indicator that its tokens are requested with (RFC 8707). */
  readonly resource?: string | undefined;
  /**
   * The audience of its tokens, for providers that request tokens by audience. A token must have
   * one of a list.
   */
  readonly audience?: string | readonly string[] | undefined;
  /** The scopes of its tokens. */
  readonly scope?: string | readonly string[] | undefined;
  /** The key of the provider whose users may use it. Default: any. */
  readonly provider?: string | undefined;
  /** `later`: a login doesn't ask for consent to this API. Default `login`. */
  readonly consent?: "login" | "later" | undefined;
  /** The path prefix of your application that the proxy passes on, such as `/api/orders/`. */
  readonly path?: string | undefined;
  /**
   * The methods of its requests, in capital letters. Default: the usual ones. CONNECT and TRACE are
   * never passed on.
   */
  readonly methods?: readonly string[] | undefined;
  /**
   * What the proxy otherwise refuses in a path: an encoded slash, an empty segment, a path
   * parameter.
   */
  readonly paths?: readonly ("%2F" | "//" | ";")[] | undefined;
  /**
   * By name: true passes on a header of the browser that the API otherwise doesn't get, a string is
   * sent with each request.
   */
  readonly requestHeaders?: Readonly<Record<string, string | true>> | undefined;
  /**
   * By name: true passes on a header of the API that the browser otherwise doesn't get, a string is
   * sent with each response.
   */
  readonly responseHeaders?: Readonly<Record<string, string | true>> | undefined;
  /** Whether other sites may link to the API's downloads. Default false. */
  readonly allowCrossSite?: boolean | undefined;
  /**
   * Origins that the API may redirect the browser to, such as `https://files.example.com`.
   * Addresses below `url` and `path` are always allowed. Plain http only on this machine.
   */
  readonly redirects?: readonly string[] | undefined;
  /**
   * What the proxy requires for some of the API's paths, besides its own rule. All rules that match
   * a request, or the upgrade to a WebSocket, must let it pass.
   */
  readonly rules?: readonly ApiRule<OwnClaims, Data>[] | undefined;
  /** Seconds that the API may take to respond. Default 30. */
  readonly timeout?: number | undefined;
  /**
   * Sends the requests to the API: a `Dispatcher` of undici 8, such as an `EnvHttpProxyAgent`, that
   * your application closes. It decides whom to trust. On Node.js only.
   */
  readonly dispatcher?: ApiDispatcher | undefined;
  /**
   * Whether connections to the API present the certificate in `clientCertificate` (mutual TLS, RFC
   * 8705). The API needs it to check that a token comes from the client that it's bound to. If your
   * providers have different certificates, also set `provider`. This works only on Node.js. Default
   * false.
   */
  readonly certificate?: boolean | undefined;
}

/** A `Dispatcher` of undici. */
export interface ApiDispatcher {
  /** Sends one request. The types of its parameters are undici's own. */
  dispatch(options: never, handler: never): boolean;
}

/** What a path may contain only if the API's `paths` lists it. */
export type PathAllowance = NonNullable<ApiOptions["paths"]>[number];

/** A row of the table, checked. */
export interface Api extends TokenTarget {
  readonly url: URL;
  /**
   * What its access tokens are requested with, as one text. Undefined, without `resource`,
   * `audience` and `scope`: it gets the session's token.
   */
  readonly target: string | undefined;
  readonly provider: string | undefined;
  /** Undefined: the proxy passes nothing on. */
  readonly path: string | undefined;
  readonly methods: readonly string[];
  readonly paths: readonly PathAllowance[];
  /**
   * By name in lower case: true passes on what the browser sends, a string is sent with each
   * request.
   */
  readonly requestHeaders: Readonly<Record<string, string | true>>;
  /**
   * By name in lower case: true passes on what the API sends, a string is sent with each response.
   */
  readonly responseHeaders: Readonly<Record<string, string | true>>;
  readonly allowCrossSite: boolean;
  /** Origins, as the URL parser writes them. */
  readonly redirects: readonly string[];
  readonly rules: readonly ApiRule[];
  /** Seconds. */
  readonly timeout: number;
  /** The application's own. */
  readonly dispatcher: ApiDispatcher | undefined;
  /** What its connections present. Undefined: no certificate. */
  readonly certificate: ApiCertificate | undefined;
}

/** The APIs by name, and what is wrong with the option `apis`. */
export interface ApiTable {
  readonly apis: ReadonlyMap<string, Api>;
  readonly findings: readonly Finding[];
}

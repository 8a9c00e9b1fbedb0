import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  ClientState,
  Credentials,
  EventStream,
  Events,
  Explanation,
  GuardRule,
  IdpAuthOptions,
  LoginUrlOptions,
  Session,
} from "idpauth";
import type { SETTLED } from "idpauth/adapter";

/**
 * Features that an adapter may lack, each with the reason that its requirements are not checked.
 */
export const ADAPTER_FEATURES = {
  /** For `session: "host"`. */
  "host sessions": "the framework has no server-side sessions of its own",
  /** For `trustsProxy` of the setup. */
  "own trust-proxy setting":
    "the framework has no trust-proxy setting of its own; `trustProxy` of idpauth replaces it",
  /** For `earlier` of the setup. */
  "earlier headers": "no middleware before idpauth can set response headers",
  /** For `basePath` of the setup. */
  "sub-path": "the framework cannot mount an application below a path",
  /** For requests in absolute form. */
  "raw targets": "the server parses the request target before the framework gets it",
  /** For unusual paths and queries, byte for byte. */
  "untouched requests":
    "the framework's own router corrects or refuses odd targets, queries and methods before the application sees them",
  /** For event streams that the browser has left. */
  "aborted requests": "the server does not report that a user has left",
  /** For `handle` of the running application. */
  "stand-in messages": "the application takes no messages of node:http",
} as const;

/** A key of `ADAPTER_FEATURES`. */
export type AdapterFeature = keyof typeof ADAPTER_FEATURES;

/** The accessors that every adapter has. `raw`: the framework's own request object. */
export interface ApplicationAuth {
  /** Null when signed out. */
  getCredentials(raw: object): Promise<Credentials | null>;
  /** Returns `ifUnavailable` during an outage. */
  getSession<Value>(
    raw: object,
    options: { readonly ifUnavailable: Value },
  ): Promise<Session | Value | null>;
  /** Rejects during an outage. */
  getSession(raw: object): Promise<Session | null>;
  /** Rejects unless a guard let the request pass. */
  requireSession(raw: object): Promise<Session>;
  /** What the request's first gate found; null without one, or if it found nobody. */
  seenSession(raw: object): Session | null;
  /** What the browser may see of the session. */
  clientState(raw: object): Promise<ClientState>;
  /** Null when signed out. */
  updateData(
    raw: object,
    change: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>,
  ): Promise<Readonly<Record<string, unknown>> | null>;
  /** The stored record, for debugging. */
  readSessionRecord(raw: object): Promise<Readonly<Record<string, unknown>> | null>;
  /** Null when signed out. */
  getAccessToken(raw: object, options?: { readonly minValidity?: number }): Promise<string | null>;
  /** Sends a request to an API with the user's token. */
  fetchApi(raw: object, api: string, path: string, init?: RequestInit): Promise<Response>;
  /** Never refreshes. */
  checkIdpAuthentication(raw: object): Promise<boolean>;
  /** Never refreshes. */
  explainIdpAuthentication(raw: object): Promise<Explanation>;
  /** Aborts when the session ends. */
  whenEnded(raw: object): AbortSignal;
  /** An adapter may return a promise. */
  loginUrl(raw: object, options?: LoginUrlOptions): string | Promise<string>;
  /** Returns a function that removes the listener. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => unknown): () => void;
  /** Resolves when no refresh and no revocation runs; see `settled`. */
  [SETTLED](): Promise<void>;
  /** Ends what is open; the process exits next. */
  close(options?: { readonly timeout?: number }): Promise<void>;
}

/** The guard of a route. */
export interface RouteGuard {
  /** Index of the mount whose guard it is. */
  readonly mount: number;
  /**
   * True: `idpRequiredWith` with JSON responses: 418 for a navigation and 419 otherwise, both with
   * `{ reason, loginUrl }`, 520 with `{ code }` during an outage, 423 with `{ kind }` for
   * `forbidden`, and 424 with `{ isNavigation, loginUrl }` for `stepUp`. `"failing"`:
   * `idpRequiredWith` with responses that throw, or reject, with an Error `no response`.
   */
  readonly ownResponses?: boolean | "failing";
  /** Passed on to `idpRequiredWith`, beside the responses. */
  readonly rule?: GuardRule;
}

/**
 * A route that responds with 200 and the result of `respond` as JSON. Its errors go to the
 * application's error handler. For GET, HEAD is routed the same way.
 */
export interface JsonRoute {
  /** Tells the kinds of routes apart. */
  readonly kind: "json";
  /** GET also stands for HEAD. */
  readonly method: "GET" | "POST";
  /** Below the setup's base path. */
  readonly path: string;
  /** Absent: every request passes. */
  readonly guard?: RouteGuard;
  /**
   * Headers that the handler sets in the framework's usual way. Each replaces an earlier header of
   * its name.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the body, or a promise of it. @param raw the request object that the accessors take */
  respond(auths: readonly ApplicationAuth[], raw: object): unknown;
}

/** A route that responds with 200 and the request's body, byte for byte, as a stream. */
export interface EchoRoute {
  /** Tells the kinds of routes apart. */
  readonly kind: "echo";
  /** A method whose requests have a body. */
  readonly method: "POST";
  /** Below the setup's base path. */
  readonly path: string;
  /** Absent: every request passes. */
  readonly guard?: RouteGuard;
}

/**
 * A route that responds with the event stream of `auth.eventStream`. Its errors go to the
 * application's error handler. HEAD is routed the same way.
 */
export interface StreamRoute {
  /** Tells the kinds of routes apart. */
  readonly kind: "stream";
  /** GET also stands for HEAD. */
  readonly method: "GET";
  /** Below the setup's base path. */
  readonly path: string;
  /** Absent: every request passes, and the stream is the first mount's. */
  readonly guard?: RouteGuard;
  /** Headers that the handler sets in the framework's usual way, before the stream's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with the stream in the handler, as soon as there is one. */
  opened(stream: EventStream): void;
}

/** A route that the application must serve. */
export type ApplicationRoute = JsonRoute | EchoRoute | StreamRoute;

/** An API to which the application passes requests on, with `auth.proxyApi` of the first mount. */
export interface ProxiedApi {
  /** Its name in the first mount's `apis`. */
  readonly api: string;
  /** Passed on to `proxyApi`. */
  readonly rule?: GuardRule;
  /** True: a parser in front of the proxy reads bodies, which is a mistake. */
  readonly isAfterParser?: boolean;
}

/** The application that a requirement needs. */
export interface AdapterSetup {
  /** Options of one `idpAuth()` each, passed on unchanged and mounted in this order. */
  readonly mounts: readonly IdpAuthOptions[];
  /**
   * `host`: the framework's own session middleware runs before idpauth. Its cookie lives at least a
   * day and works over plain http. `bundled`: there is no such middleware.
   */
  readonly session: "bundled" | "host";
  /**
   * Empty, or a path such as `/area`: idpauth and all routes are mounted below it in the
   * framework's own way. The mounts' `mountPath` already contains the path.
   */
  readonly basePath: string;
  /** True: the framework's own setting trusts every proxy. */
  readonly trustsProxy: boolean;
  /** Header lines that middleware before idpauth adds to every response. */
  readonly earlier: readonly (readonly [name: string, value: string])[];
  /** Each is served below `basePath`. */
  readonly routes: readonly ApplicationRoute[];
  /**
   * Each comes before the routes and, unless it says otherwise, before everything that reads
   * bodies.
   */
  readonly proxied: readonly ProxiedApi[];
  /**
   * True: `auth.csrf` of the first mount protects all routes, in the framework's own way. It also
   * runs before the endpoints.
   */
  readonly csrf: boolean;
  /**
   * False: the application has no error handler of its own, but what the adapter's documentation
   * tells applications to add in its place.
   */
  readonly handlesErrors: boolean;
  /**
   * The application's own error handler calls it with the error object, and responds with the
   * error's `status` (else 500) and `{ "caught": message }` as JSON.
   */
  caught(error: unknown): void;
}

/** A listening application. */
export interface RunningApplication {
  /** The port on 127.0.0.1. */
  readonly port: number;
  /** In the order of the setup's mounts. */
  readonly auths: readonly ApplicationAuth[];
  /**
   * Gives the application a message and a response of node:http that no server has made, as wrappers
   * for functions and tests do. Without it, declare `lacks: ["stand-in messages"]`.
   */
  handle?(message: IncomingMessage, response: ServerResponse): unknown;
  /** Closes the server and every connection. */
  stop(): Promise<void>;
}

/**
 * Builds the application in the framework's own way and listens on a free port of 127.0.0.1.
 * Requests reach idpauth unchanged: every method (OPTIONS and HEAD too), bodies of any type, and
 * paths in their own spelling. Redirects from one spelling to another, such as a final slash, are
 * switched off. Routes also match the path of a target in absolute form
 * (`GET http://app.example/reports HTTP/1.1`). If the server does not pass such a target on,
 * declare `lacks: ["raw targets"]`. Apart from `earlier`, only the framework's session middleware
 * sets cookies.
 */
export type AdapterFactory = (setup: AdapterSetup) => Promise<RunningApplication>;

/** An adapter, as its author describes it to the suite. */
export interface AdapterUnderTest {
  /** The adapter's name in the names of the tests: `Express 5`, … */
  readonly name: string;
  /** Called for each requirement, for some several times. */
  readonly start: AdapterFactory;
  /** The features that the framework or its server lacks. */
  readonly lacks?: readonly AdapterFeature[];
}

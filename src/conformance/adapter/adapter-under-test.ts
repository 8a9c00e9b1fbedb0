import type { Credentials, EventName, Explanation, IdpAuthOptions, Listener, Session, UserPayload } from "../../index.js";

/** What a host may have or not; a requirement that takes it is skipped where it is missing, with this reason. */
export const ADAPTER_FEATURES = {
  "host sessions": "the host has no server-side sessions of its own",
  "own trust-proxy setting": "the host has no trust-proxy setting of its own; idpauth's `trustProxy` stands in",
  "earlier headers": "nothing that runs before idpauth can put headers on its answers",
  "sub-path": "the host cannot mount an application below a path",
  "raw targets": "the server parses the request target before the host sees it",
  "untouched requests": "the framework's own router corrects or refuses odd targets, queries and methods before the application sees them",
  "aborted requests": "the runtime's server cannot tell that a visitor has left",
} as const;

export type AdapterFeature = keyof typeof ADAPTER_FEATURES;

/** What every host gives for asking about a request, whatever it calls the rest. `raw`: the host's own request object. */
export interface ApplicationAuth {
  getCredentials(raw: object): Promise<Credentials | null>;
  getUser(raw: object): Promise<UserPayload | null>;
  getSession(raw: object): Promise<Session | null>;
  readSessionRecord(raw: object): Promise<Readonly<Record<string, unknown>> | null>;
  getAccessToken(raw: object, options?: { readonly minValidity?: number }): Promise<string | null>;
  checkIdpAuthentication(raw: object): Promise<boolean>;
  explainIdpAuthentication(raw: object): Promise<Explanation>;
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  idle(): Promise<void>;
}

/** Stands before a route. */
export interface RouteGuard {
  /** Index of the mount whose `idpRequired` it is. */
  readonly mount: number;
  /**
   * True: `idpRequiredWith`, whose answers are JSON: 418 for a navigation and 419 otherwise, both with
   * `{ reason, loginUrl }`, and 520 with `{ code }` in an outage. `"failing"`: `idpRequiredWith`, whose answers throw, or
   * reject, with an Error `no response` each.
   */
  readonly ownResponses?: boolean | "failing";
}

/**
 * A route that answers 200 with what `respond` gives, as JSON. What `respond` throws goes to the application's error handler.
 * Where the method is GET, HEAD is routed the same way.
 */
export interface JsonRoute {
  readonly kind: "json";
  readonly method: "GET" | "POST";
  /** Below the setup's base path. */
  readonly path: string;
  readonly guard?: RouteGuard;
  /** Headers that the handler sets before it answers, in the framework's usual way: each replaces what stands under its name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @param raw the request object that the host's accessors take */
  respond(auths: readonly ApplicationAuth[], raw: object): unknown;
}

/** A route that answers 200 with the request's body, byte for byte, as it streams in. */
export interface EchoRoute {
  readonly kind: "echo";
  readonly method: "POST";
  readonly path: string;
  readonly guard?: RouteGuard;
}

export type ApplicationRoute = JsonRoute | EchoRoute;

/** The application that a requirement asks for. */
export interface AdapterSetup {
  /** One `idpAuth()` each, with these options as they are, mounted in this order. */
  readonly mounts: readonly IdpAuthOptions[];
  /**
   * `host`: the host's own server-side session middleware runs before idpauth; its cookie lives at least a day, and comes
   * over plain http too. `bundled`: there is no such middleware.
   */
  readonly session: "bundled" | "host";
  /**
   * Empty, or such as `/area`: idpauth and all routes lie below it, by the host's own means (a router, a prefix). The mounts'
   * `mountPath` is the whole path already.
   */
  readonly basePath: string;
  /** The framework's own setting for trusted proxies is on; it trusts everybody. */
  readonly trustsProxy: boolean;
  /** Header lines that something before idpauth puts on every response. */
  readonly earlier: readonly (readonly [name: string, value: string])[];
  readonly routes: readonly ApplicationRoute[];
  /**
   * The application's own error handler calls it with the very error, and answers with the error's `status` (else 500) and
   * `{ "caught": message }` as JSON.
   */
  caught(error: unknown): void;
}

/** An application on a socket. */
export interface RunningApplication {
  /** On 127.0.0.1. */
  readonly port: number;
  /** In the order of the setup's mounts. */
  readonly auths: readonly ApplicationAuth[];
  /** Ends the server and every connection. */
  stop(): Promise<void>;
}

/**
 * Builds the application in the host's own way and listens on a free port of 127.0.0.1. What a visitor sends reaches idpauth
 * as it was sent: every method (OPTIONS and HEAD too), bodies of any type, and paths in their own spelling; a setting of the
 * host that redirects from one spelling to another, such as a slash at the end, is off. Routes also match a target in absolute
 * form (`GET http://app.example/reports HTTP/1.1`), by its path; a host whose server does not hand such a target on has
 * `lacks: ["raw targets"]`. Nothing but the host's session middleware sets a cookie, beside `earlier`.
 */
export type AdapterFactory = (setup: AdapterSetup) => Promise<RunningApplication>;

/** A host, as its author describes it to the suite. */
export interface AdapterUnderTest {
  /** For the names of the tests: `Express 5`, … */
  readonly name: string;
  readonly start: AdapterFactory;
  /** What the host, or the server below it, does not have. */
  readonly lacks?: readonly AdapterFeature[];
}

/** What an adapter implements, and the component that it builds on. */
import type { IdpAuthNames } from "../config/inferred-names.js";
import type { SessionMiddleware, STARTUP_CHECKS } from "../config/startup-checks.js";
import type { Finding } from "../errors.js";
import type { Blocked } from "../guard/blocked-responses.js";
import type { AnyReply, Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import type { GuardRule, RouteRule } from "../record/guard-requirements.js";
import type { EventStream } from "../sessions/event-stream.js";
import type { FrameworkSession } from "../sessions/framework-session.js";
import type { Accessors } from "./accessor-types.js";

/**
 * Reads the requests of a framework; an adapter implements it. `FrameworkRequest` is the object
 * that the guard and the accessors of one request all get. idpauth remembers the session of a
 * request in a private field, which no other code can see.
 */
export interface FrameworkAdapter<FrameworkRequest extends object> {
  /** The framework's name in messages: `Express`, … */
  readonly name: string;
  /** Wraps the framework's request. It may be called several times for one. */
  request(raw: FrameworkRequest): IdpRequest;
  /**
   * The session of the framework's own middleware on this request; undefined when there is none.
   */
  session?(raw: FrameworkRequest): FrameworkSession | undefined;
  /**
   * Calls a function once when the response to this request is complete or its connection has
   * closed; for an upgraded connection, when that closes. Without it, `whenEnded` holds its signal
   * until the session ends.
   */
  onClose?(raw: FrameworkRequest, closed: () => void): void;
  /**
   * Keeps the response to this request out of every cache, as the guard does, unless the application
   * set its own headers. Called when an accessor has found a user on a route without a guard. Without
   * it, the application sets the headers.
   */
  keepPrivate?(raw: FrameworkRequest): void;
  /** What the proxy reads of a request. Without it, the framework has no `proxyApi`. */
  source?(raw: FrameworkRequest): FrameworkSource;
  /**
   * True if the framework loads the endpoints' route only when it is requested, so that nothing tells
   * whether the application has mounted it.
   */
  readonly mountsLate?: boolean;
  /** The remedy of E002: how to install the session middleware, or what to use instead. */
  readonly middlewareRemedy?: string;
}

/** A request as the proxy of an API reads it, with its body. */
export interface FrameworkSource {
  /**
   * A request of node:http, node:https or node:http2. Its response may have a stream of Node.js,
   * unless there is also a `web`.
   */
  readonly node?: object;
  /**
   * A `Request` of the Fetch standard. Together with `node`: the one that a server made of that,
   * which has the body if other code has begun to read the body of `node`.
   */
  readonly web?: Request;
  /** The browser's IP address, as far as the framework trusts it. */
  readonly client?: string | undefined;
}

/** What an adapter knows about its framework at the start. */
export interface FrameworkFacts {
  /** Whether the framework's own session middleware is installed. */
  readonly sessionMiddleware: SessionMiddleware;
}

/**
 * The `auth` object of an adapter, without what mounts and guards. Reading a property neither
 * throws nor has side effects.
 */
export interface AdapterAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
> extends Accessors<FrameworkRequest, OwnClaims, Data, Names> {
  /**
   * Runs the startup checks. Mounting calls it; without either, the checks run at the first
   * request, which then fails. You can call it again: each warning is logged once.
   *
   * @returns the warnings
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /**
   * Runs the startup checks for `idpauth check --module`, and starts nothing. What it returns is
   * not for applications.
   *
   * @throws ConfigurationError with every finding at once
   */
  [STARTUP_CHECKS](): unknown;
}

/**
 * The component that an adapter builds on. Applications use the `auth` object of an adapter, such
 * as `idpauth/express`.
 */
export interface IdpAuth<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
> extends AdapterAuth<FrameworkRequest, OwnClaims, Data, Names> {
  /** As of `AdapterAuth`. The first successful call also creates the component. */
  start(facts?: FrameworkFacts): readonly Finding[];
  /**
   * Responds to a request for one of the endpoints.
   * @returns undefined if the path is not an endpoint's
   */
  handle(raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /**
   * Decides whether a request may reach a protected handler.
   *
   * @param rule what the route requires besides a signed-in user
   * @returns undefined if the request may pass; otherwise the handler must not run
   * @throws what the rule's `allow` throws; the handler must not run
   */
  guard(
    raw: FrameworkRequest,
    rule?: RouteRule<OwnClaims, Data, Names["provider"], FrameworkRequest>,
  ): Promise<Blocked | undefined>;
  /**
   * Returns a function that passes requests below an API's `path` on to the API, with the user's
   * access token.
   *
   * @param rule what the route requires besides a signed-in user
   * @throws TypeError a value that the options cannot have
   */
  proxyApi(
    api: Names["api"],
    rule?: GuardRule<OwnClaims, Data, Names["provider"]>,
  ): (raw: FrameworkRequest) => Promise<AnyReply> | undefined;
  /**
   * Opens an event stream for a request that a guard let pass. It ends with the session.
   *
   * @param respond sends the response, whose body is a stream except for HEAD, or makes it
   * @returns the stream, with the result of `respond`
   * @throws GuardMissingError (500) no guard let this request pass
   * @throws IdpAuthError `too_many_streams` (429); `shutting_down` (503) after `close`
   * @throws what `respond` throws; the stream is closed then
   */
  openEventStream<Sent>(
    raw: FrameworkRequest,
    respond: (reply: AnyReply) => Sent | Promise<Sent>,
  ): Promise<
    EventStream & {
      /** What `respond` returned. */
      readonly response: Sent;
    }
  >;
  /** The path that all endpoints begin with, such as `/idpauth/`. */
  mountPath(): string;
  /** Whether `close` was called. Responses then close their connection. */
  isClosing(): boolean;
  /**
   * Passes an upgrade to a WebSocket on to the API whose `path` its target begins with, if
   * `proxyApi` was called for that API.
   *
   * @param request of the message
   * @param upgrade as the event `upgrade` of a server has it
   * @param client the browser's IP address, as far as the framework trusts it. Default: that of the
   *   connection
   * @returns false for a WebSocket that is no API's. A request that offers another protocol is handed
   *   back to the server, without the offer, on every path
   */
  proxyUpgrade(
    request: IdpRequest,
    upgrade: readonly [message: object, socket: object, head: Uint8Array],
    client?: string,
  ): boolean;
  /**
   * Checks what was passed to `idpRequiredWith`, and remembers its rule for the startup checks.
   *
   * @throws TypeError a value that the options cannot have
   */
  declareGuard(options: RouteRule<OwnClaims, Data, Names["provider"], FrameworkRequest>): void;
  /**
   * Checks that a page of another origin did not send a request that may change something.
   * Endpoints have their own rules and pass.
   *
   * @returns undefined, at once or as a promise, if the request may pass; otherwise the response
   */
  csrf(raw: FrameworkRequest): Promise<Reply | undefined> | undefined;
  /**
   * Returns the response to an error that a handler threw and nothing caught, with the error's
   * status: a page for a navigation, otherwise a problem document.
   *
   * @returns undefined if it is no error of idpauth, which the framework handles
   */
  uncaught(error: unknown, raw: FrameworkRequest): Promise<Reply> | undefined;
}

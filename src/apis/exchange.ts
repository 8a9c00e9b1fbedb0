import type { Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import type { ErrorCode, IdpAuthError } from "../errors.js";
import type { Origin } from "../http/redirects.js";
import type { BodyStream, Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import type { AccessToken } from "../record/dpop.js";
import type { Shutdown } from "../work/shutdown.js";
import type { Challenge } from "./challenge.js";
import type { HeaderLines } from "./request-headers.js";

/** What the response to a request that isn't passed on says besides its code. */
export interface RefusalDetails {
  readonly headers?: Record<string, string>;
  /** Default: the title of the code. */
  readonly detail?: string;
}

/** A watch over a session. */
export interface Watch {
  close(): void;
}

/** What the proxy needs of a request, and of the session behind it. */
export interface Exchange {
  readonly api: Api;
  readonly request: IdpRequest;
  /** The header lines as the browser sent them. */
  readonly lines: HeaderLines;
  /** The application's own origin. */
  readonly origin: Origin | undefined;
  /** The browser's IP address, as far as the framework trusts it. */
  readonly client: string | undefined;
  /** See `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  /**
   * The connection to the browser, or its stream of HTTP/2. Undefined: the end of the stream from
   * the API breaks it.
   */
  readonly connection: { destroy(): unknown } | undefined;
  /**
   * Watches the session until it ends, or the watch is closed. Called only if the request takes
   * long.
   *
   * @param onEnd gets a `SessionEndedError`, never before this function returns
   */
  watch(onEnd: (reason: IdpAuthError) => void): Watch;
  /**
   * Takes a place among the session's open streams.
   * @returns a function that gives it back; undefined: there is none
   */
  takeStream(): (() => void) | undefined;
  /**
   * Calls a function once when the response is complete, or the browser has left. Undefined: nobody
   * tells that.
   */
  readonly onClose: ((closed: () => void) => void) | undefined;
  /** Returns the user's token for this API, or what the browser gets without one. */
  token(): Promise<AccessToken | Reply>;
  /**
   * The same after the request has waited: the session may have ended, so it is read anew.
   *
   * @param rejected the token to which the API has responded 401. The same one is returned if there
   *   can be no other
   */
  tokenAgain(rejected?: string): Promise<AccessToken | Reply>;
  /** Returns the response for a challenge of the API: a login that meets it. */
  challenged(challenge: Challenge): Promise<Reply>;
  /** Returns the response for a request that isn't passed on, or whose response isn't. */
  refused(code: ErrorCode, more?: RefusalDetails): Promise<Reply>;
  /** Sends the request, within what observes requests to APIs. @param headers of the request */
  observed<Sent extends { readonly status: number }>(
    headers: Map<string, string>,
    send: () => Promise<Sent>,
  ): Promise<Sent>;
  /** Gets the failures that an operator must know: their status is 500 and above. */
  failed(error: IdpAuthError): void;
  /** The browser doesn't get the API's `Location`. */
  locationDropped(): void;
  /** Gets what a rule has thrown for an upgrade, because no framework does. */
  threw?(error: unknown): void;
}

/** A response for the browser. The adapter sends its stream as it comes; see `AnyReply`. */
export type ProxyReply<Stream extends BodyStream> = Reply<string | Uint8Array | Stream>;

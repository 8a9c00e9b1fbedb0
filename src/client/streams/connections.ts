import type { Client } from "../client-interface.js";

/** Options of `openStream` and `openSocket`. */
export interface ConnectionOptions {
  /** Default: the client that the page created last, or a new one. */
  readonly client?: Client;
  /**
   * True: closes the connection while the page is hidden, and opens a new one when the user returns
   * to it. Default false.
   */
  readonly closeWhenHidden?: boolean;
}

/**
 * Why a connection has ended for good. `signed-out`: the user has signed out, or another user has
 * signed in. `session-limit`: the session has reached its maximum age, its idle timeout or the
 * provider's limit. `unavailable`: an outage has lasted five minutes. `refused`: the user is signed
 * in, and the server doesn't accept the connection. `closed`: by `close()`.
 */
export type ConnectionEndReason =
  "signed-out" | "session-limit" | "unavailable" | "refused" | "closed";

/** How a connection has ended. */
export interface ConnectionEnd {
  /** The first reason that applied. */
  readonly reason: ConnectionEndReason;
}

/** An event stream that belongs to the session of the page. */
export interface SessionStream extends EventSource {
  /** Resolves when the stream won't be opened again. Never rejects. */
  readonly ended: Promise<ConnectionEnd>;
}

/** A WebSocket that belongs to the session of the page. */
export interface SessionSocket extends WebSocket {
  /** Resolves when the socket won't be opened again. Never rejects. */
  readonly ended: Promise<ConnectionEnd>;
}

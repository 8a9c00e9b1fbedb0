import type { StoreProblem } from "../../ports/session-store.js";

/** Name and arguments, as they go over the wire. */
export type RedisCommand = readonly [name: string, ...args: (string | Buffer)[]];

/** What the store needs of a client, of whichever kind. */
export interface RedisConnection {
  /**
   * Sends a command to the primary that has `key`. Texts in the reply are Buffers. Rejects with whatever the client has to
   * say; may throw instead.
   */
  send(key: string, command: RedisCommand): Promise<unknown>;
  /** Whether the application has connected it; undefined: the client connects by itself. */
  isOpen(): boolean | undefined;
  /** What keeps the client, as it is set up, from what the store promises. */
  problems(): StoreProblem[];
  /** The connections to primaries that it has at the moment. */
  lines(): readonly RedisLine[];
}

/** A client's connection to one server. */
export interface RedisLine {
  /**
   * Which connection it is, to be compared; undefined: there is none, since the client is just making one (and limits that
   * itself) or has been closed.
   */
  current(): unknown;
  /** Settles when the server has answered, or when the client gives up; may throw. */
  ping(): Promise<unknown>;
  /** Drops the connection for a new one; called only while there is a current one. Never throws or rejects. */
  reconnect(): void;
}

import type { StoreProblem } from "../core/ports.js";

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
}

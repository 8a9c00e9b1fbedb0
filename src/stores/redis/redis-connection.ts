import type { StoreProblem } from "../../ports/session-store.js";
import type { ChannelListener } from "../end-announcements.js";

/** Name and arguments of a command. */
export type RedisCommand = readonly [name: string, ...args: (string | Buffer)[]];

/** A primary of the server or the Cluster. */
export interface RedisNode {
  /** Differs between the nodes of a Cluster; empty without one. */
  readonly name: string;
  /** What the client puts before each key that it sends, but not before the pattern of SCAN. */
  readonly keyPrefix: string;
  /** As `send` of the connection. */
  send(command: RedisCommand): Promise<unknown>;
}

/** The part of a client that the store uses. */
export interface RedisConnection {
  /**
   * Sends a command to the primary of `key`. Strings in the reply are Buffers. Rejects or throws
   * with the client's own error.
   */
  send(key: string, command: RedisCommand): Promise<unknown>;
  /** The primary, or all of a Cluster's. Rejects if the client doesn't know all of them now. */
  nodes(): Promise<readonly RedisNode[]>;
  /** True: a command may name keys of one node only. */
  readonly isCluster: boolean;
  /**
   * Opens a connection that listens on a channel; returns a function that closes it. Never throws.
   */
  subscribe(channel: string, listener: ChannelListener): () => void;
  /** False: the application has not connected the client, or has closed it. */
  isOpen(): boolean;
  /** Mistakes in the client's options, without I/O. */
  problems(): StoreProblem[];
}

/**
 * @param option the setting with its place, for example
 *   `disableOfflineQueue: true in createClient({ … })`
 */
export function offlineQueue(option: string): StoreProblem {
  return {
    message: "The Redis client queues commands during an outage and runs them afterwards.",
    remedy: `Set ${option}.`,
  };
}

/**
 * Returns the error without the command's arguments. ioredis keeps the command with the encrypted
 * bytes in its errors, and the server repeats the arguments of an unknown command.
 */
export function withoutArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(typeof error);
  const cause = new Error(error.message.split(/,? with args/)[0]);
  cause.name = error.name;
  return "code" in error ? Object.assign(cause, { code: error.code }) : cause;
}

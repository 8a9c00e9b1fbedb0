import type { StoreProblem } from "../../ports/session-store.js";
import { offlineQueue, type RedisConnection } from "./connection.js";

/** What `createClient`, `createCluster` or `createSentinel` of the package `redis` returns. */
export interface NodeRedisClient {
  withTypeMapping(...args: never[]): unknown;
  sendCommand(...args: never[]): Promise<unknown>;
}

interface NodeRedis {
  readonly isOpen: boolean;
  readonly options?: Options;
  sendCommand(...args: unknown[]): Promise<unknown>;
  listenerCount(event: string): number;
}

interface Options {
  readonly disableOfflineQueue?: boolean;
  readonly socket?: { readonly socketTimeout?: number; readonly reconnectStrategy?: unknown };
}

/** Bulk strings (`$`) as Buffers. The store has a time limit; the client's own costs more than the rest of a command. */
const COMMAND_OPTIONS = { typeMapping: { ["$".charCodeAt(0)]: Buffer }, timeout: 0 };

export function isNodeRedis(client: object): client is NodeRedis {
  return has(client, "withTypeMapping", "sendCommand", "listenerCount") && (isCluster(client) || isSentinel(client) || isSingle(client));
}

/** Every command goes to a primary, because a replica may still have what was replaced or deleted. */
export function nodeRedisConnection(client: NodeRedis): RedisConnection {
  const send = (): RedisConnection["send"] => {
    if (isCluster(client)) return (key, command) => client.sendCommand(key, false, command, COMMAND_OPTIONS);
    if (isSentinel(client)) return (_key, command) => client.sendCommand(false, command, COMMAND_OPTIONS);
    return (_key, command) => client.sendCommand(command, COMMAND_OPTIONS);
  };
  return { send: send(), isCluster: isCluster(client), isOpen: () => client.isOpen, problems: () => problemsOf(client) };
}

/** Only a client for one server has public options. */
function problemsOf(client: NodeRedis): StoreProblem[] {
  const problems: StoreProblem[] = [];
  if (client.listenerCount("error") === 0) {
    problems.push({
      message: 'The Redis client has no "error" listener, so the first lost connection ends this process.',
      remedy: 'Add a listener before you mount the component: client.on("error", (error) => log(error)).',
    });
  }
  if (!isSingle(client)) return problems;
  const { disableOfflineQueue, socket } = client.options ?? {};
  if (disableOfflineQueue !== true) problems.push(offlineQueue("disableOfflineQueue: true in createClient({ … })"));
  if ((socket?.socketTimeout ?? 0) > 0 && socket?.reconnectStrategy === undefined) {
    problems.push({
      message: "The Redis client has a socketTimeout but no reconnectStrategy, so it never reconnects after a timeout.",
      remedy: "Set socket.reconnectStrategy in createClient({ … }), or leave out socketTimeout.",
    });
  }
  return problems;
}

function isCluster(client: object): boolean {
  return has(client, "getRandomNode");
}

function isSentinel(client: object): boolean {
  return has(client, "getSentinelNode");
}

/** A pool has no options. */
function isSingle(client: object): boolean {
  return !isCluster(client) && !isSentinel(client) && "options" in client && typeof client.options === "object";
}

function has(client: object, ...methods: string[]): boolean {
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === "function");
}

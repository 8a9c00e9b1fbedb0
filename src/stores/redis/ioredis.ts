import type { StoreProblem } from "../../ports/session-store.js";
import type { RedisConnection, RedisLine } from "./connection.js";

/** A `Redis` or `Cluster` of the package `ioredis`. */
export interface IoRedisClient {
  readonly status: string;
  callBuffer(...args: never[]): unknown;
}

interface IoRedis extends IoRedisNode {
  readonly isCluster?: boolean;
  readonly options: RedisOptions & ClusterOptions;
  callBuffer: BufferCommand;
  nodes?(role: "master"): IoRedisNode[];
}

interface IoRedisNode {
  readonly status: string;
  readonly stream?: unknown;
  ping(): Promise<unknown>;
  disconnect(reconnect: boolean): void;
}

type BufferCommand = (...args: (string | Buffer)[]) => Promise<unknown>;

interface RedisOptions {
  readonly enableOfflineQueue?: boolean;
  readonly autoResendUnfulfilledCommands?: boolean;
  readonly sentinels?: unknown;
  readonly role?: string;
}

interface ClusterOptions {
  readonly enableOfflineQueue?: boolean;
  readonly redisOptions?: RedisOptions;
  readonly clusterNodeRetryStrategy?: unknown;
  readonly scaleReads?: unknown;
}

export function isIoRedis(client: object): client is IoRedis {
  const { callBuffer, status, options } = client as Record<string, unknown>;
  return typeof callBuffer === "function" && typeof status === "string" && typeof options === "object" && options !== null;
}

export function ioRedisConnection(client: IoRedis): RedisConnection {
  return {
    send: (_key, [name, ...args]) => commandOf(client, name).apply(client, args),
    isOpen: () => undefined,
    problems: () => (client.isCluster === true ? clusterProblems(client.options) : redisProblems(client.options)),
    lines: () => (client.isCluster === true ? (client.nodes?.("master") ?? []) : [client]).map(lineOf),
  };
}

/** Not by `callBuffer`, which loses the command's name under `enableAutoPipelining`. */
function commandOf(client: IoRedis, name: string): BufferCommand {
  return (client as unknown as Record<string, BufferCommand>)[`${name.toLowerCase()}Buffer`] ?? client.callBuffer;
}

/**
 * A node of a Cluster is not connected again by itself: it is forgotten, and found again when another node names it.
 */
function lineOf(node: IoRedisNode): RedisLine {
  return {
    // "connect": the server has accepted, and not said anything yet.
    current: () => (node.status === "ready" || node.status === "connect" ? (node.stream ?? node.status) : undefined),
    ping: () => node.ping(),
    reconnect: () => {
      node.disconnect(true);
    },
  };
}

function redisProblems(options: RedisOptions): StoreProblem[] {
  const problems = offlineQueueProblems(options, "new Redis({ … })");
  if (options.autoResendUnfulfilledCommands !== false) problems.push(resends("new Redis({ … })"));
  if (options.sentinels && options.role === "slave") {
    problems.push({
      message: "The Redis client asks Sentinel for a replica: it cannot write, and may read what has been deleted.",
      remedy: "Leave out role: 'slave' in new Redis({ … }).",
    });
  }
  return problems;
}

/**
 * What a Cluster client tries again for a moment (`retryDelayOnFailover` and its like) is needed, since a node that is just
 * being connected refuses commands; and it is harmless, since the store takes its permit back when its own time is over.
 */
function clusterProblems(options: ClusterOptions): StoreProblem[] {
  const where = "new Cluster(nodes, { … })";
  const problems = offlineQueueProblems(options, where);
  // A node that is not connected again has nothing to send again.
  if (typeof options.clusterNodeRetryStrategy === "function" && options.redisOptions?.autoResendUnfulfilledCommands !== false) {
    problems.push(resends("new Cluster(nodes, { redisOptions: { … } })"));
  }
  if (options.scaleReads !== undefined && options.scaleReads !== "master") {
    problems.push({
      message: "The Redis Cluster client reads from replicas, which may still hold what has been replaced or deleted.",
      remedy: `Leave out scaleReads in ${where}.`,
    });
  }
  return problems;
}

function offlineQueueProblems(options: { readonly enableOfflineQueue?: boolean }, where: string): StoreProblem[] {
  if (options.enableOfflineQueue === false) return [];
  return [
    {
      message: "The Redis client queues commands while the server cannot be reached, and would run them after the outage.",
      remedy: `Set enableOfflineQueue: false in ${where}.`,
    },
  ];
}

function resends(where: string): StoreProblem {
  return {
    message: "The Redis client keeps commands whose answer was lost with the connection, and would run them again after the outage.",
    remedy: `Set autoResendUnfulfilledCommands: false in ${where}.`,
  };
}

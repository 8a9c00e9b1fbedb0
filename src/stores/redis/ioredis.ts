import type { StoreProblem } from "../../ports/session-store.js";
import { offlineQueue, type RedisConnection } from "./connection.js";

/** A `Redis` or `Cluster` of the package `ioredis`. */
export interface IoRedisClient {
  readonly status: string;
  callBuffer(...args: never[]): unknown;
}

interface IoRedis {
  readonly isCluster?: boolean;
  readonly options: Options;
  callBuffer: BufferCommand;
}

type BufferCommand = (...args: (string | Buffer)[]) => Promise<unknown>;

interface Options {
  readonly enableOfflineQueue?: boolean;
  readonly autoResendUnfulfilledCommands?: boolean;
  /** With `sentinels`: "slave" selects a replica. */
  readonly role?: string;
  /** Of a Cluster. */
  readonly scaleReads?: unknown;
}

export function isIoRedis(client: object): client is IoRedis {
  const { callBuffer, status, options } = client as Record<string, unknown>;
  return typeof callBuffer === "function" && typeof status === "string" && typeof options === "object" && options !== null;
}

export function ioRedisConnection(client: IoRedis): RedisConnection {
  return {
    // `callBuffer` loses the command's name under `enableAutoPipelining`.
    send: (_key, [name, ...args]) =>
      ((client as unknown as Record<string, BufferCommand>)[`${name.toLowerCase()}Buffer`] ?? client.callBuffer).apply(client, args),
    isCluster: client.isCluster === true,
    // The client connects by itself.
    isOpen: () => true,
    problems: () => problemsOf(client),
  };
}

function problemsOf({ isCluster = false, options }: IoRedis): StoreProblem[] {
  const where = isCluster ? "new Cluster(nodes, { … })" : "new Redis({ … })";
  const problems: StoreProblem[] = [];
  if (options.enableOfflineQueue !== false) problems.push(offlineQueue(`enableOfflineQueue: false in ${where}`));
  // A Cluster client does not reconnect a lost node, so it resends nothing.
  if (!isCluster && options.autoResendUnfulfilledCommands !== false) {
    problems.push({
      message: "The Redis client resends commands whose reply was lost with the connection.",
      remedy: `Set autoResendUnfulfilledCommands: false in ${where}.`,
    });
  }
  if (options.role === "slave" || (isCluster && ![undefined, "master"].includes(options.scaleReads as string | undefined))) {
    problems.push({
      message: "The Redis client uses replicas. A replica refuses writes and may return deleted entries.",
      remedy: `Leave out ${isCluster ? "scaleReads" : "role"} in ${where}.`,
    });
  }
  return problems;
}

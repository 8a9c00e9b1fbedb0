import type { StoreProblem } from "../../ports/session-store.js";
import type { ChannelListener } from "../end-announcements.js";
import {
  offlineQueue,
  type RedisCommand,
  type RedisConnection,
  type RedisNode,
} from "./redis-connection.js";

/** A `Redis` or `Cluster` of the package `ioredis`. */
export interface IoRedisClient {
  /** The state of the connection, such as `ready`. */
  readonly status: string;
  /** Sends a command. Its reply has strings as bytes. */
  callBuffer(...args: never[]): unknown;
}

interface IoRedis {
  readonly isCluster?: boolean;
  readonly options: Options;
  readonly status: string;
  callBuffer: BufferCommand;
  duplicate(...overrides: unknown[]): Subscriber;
  /** Only of a Cluster. */
  nodes?(role: "master"): readonly IoRedisNode[];
  /** Only of a Cluster: for each slot the names of its nodes, the primary first. */
  readonly slots?: readonly (readonly string[] | undefined)[];
  /** Only of a Cluster. */
  refreshSlotsCache?(done: () => void): void;
}

interface IoRedisNode {
  readonly options: { readonly host?: string; readonly port?: number };
  callBuffer: BufferCommand;
}

interface Subscriber {
  /** Only of a client for one server. */
  readonly stream?: { unref?(): void };
  on(event: string, listener: () => void): unknown;
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

/**
 * The store subscribes itself after each connect, so that it knows when the subscription is in
 * place.
 */
const SUBSCRIBER_OPTIONS = { autoResubscribe: false, lazyConnect: false };

type BufferCommand = (...args: (string | Buffer)[]) => Promise<unknown>;

interface Options {
  readonly keyPrefix?: string | null;
  readonly enableOfflineQueue?: boolean;
  readonly autoResendUnfulfilledCommands?: boolean;
  /** The addresses of Sentinel. Null without it. */
  readonly sentinels?: readonly unknown[] | null;
  /** With `sentinels`: whether the client leaves a primary when Sentinel has promoted another. */
  readonly failoverDetector?: boolean;
  /** With `sentinels`: "slave" selects a replica. */
  readonly role?: string;
  /** Of a Cluster. */
  readonly scaleReads?: unknown;
}

export function isIoRedis(client: object): client is IoRedis {
  const { callBuffer, status, options } = client as Record<string, unknown>;
  return (
    typeof callBuffer === "function" &&
    typeof status === "string" &&
    typeof options === "object" &&
    options !== null
  );
}

export function ioRedisConnection(client: IoRedis): RedisConnection {
  return {
    send: (_key, command) => sent(client, command),
    nodes: async () => nodesOf(client),
    isCluster: client.isCluster === true,
    subscribe: (channel, listener) =>
      client.status === "end" ? () => undefined : subscribed(client, channel, listener),
    // The client connects by itself.
    isOpen: () => true,
    problems: () => problemsOf(client),
  };
}

/**
 * The primaries. A Cluster client forgets a node whose connection was lost, until it reads the slots
 * again.
 */
async function nodesOf(client: IoRedis): Promise<RedisNode[]> {
  const keyPrefix = client.options.keyPrefix ?? "";
  if (client.nodes === undefined)
    return [{ name: "", keyPrefix, send: (command) => sent(client, command) }];
  if (hasLostNode(client))
    await new Promise<void>((resolve) => {
      client.refreshSlotsCache?.(() => {
        resolve();
      });
    });
  if (hasLostNode(client)) throw new Error("The client has lost a node of the Redis Cluster.");
  return client.nodes("master").map((node) => ({
    name: nameOf(node),
    keyPrefix,
    send: (command) => sent(node, command),
  }));
}

/** Whether slots belong to a primary that the client doesn't have now. */
function hasLostNode(client: IoRedis): boolean {
  const names = new Set(client.nodes?.("master").map(nameOf));
  return (client.slots ?? []).some(([owner] = []) => owner !== undefined && !names.has(owner));
}

function nameOf({ options: { host = "", port } }: IoRedisNode): string {
  return `${host}:${String(port)}`;
}

/** `callBuffer` loses the command's name under `enableAutoPipelining`. */
function sent(client: IoRedisNode | IoRedis, [name, ...args]: RedisCommand): Promise<unknown> {
  const method = (client as unknown as Record<string, BufferCommand>)[
    `${name.toLowerCase()}Buffer`
  ];
  return method === undefined ? client.callBuffer(name, ...args) : method.apply(client, args);
}

function subscribed(
  client: IoRedis,
  channel: string,
  { message, ready, lost }: ChannelListener,
): () => void {
  const isCluster = client.isCluster === true;
  // A Cluster's own subscriber moves to another node, and has to subscribe again there.
  const subscriber = isCluster
    ? client.duplicate([], { lazyConnect: false })
    : client.duplicate(SUBSCRIBER_OPTIONS);
  subscriber.on("error", () => undefined);
  subscriber.on("message", (_channel: string, text: string) => {
    message(text);
  });
  subscriber.on("connect", () => subscriber.stream?.unref?.());
  subscriber.on("ready", () => {
    subscriber.subscribe(channel).then(ready, () => undefined);
  });
  subscriber.on(isCluster ? "-node" : "close", isCluster ? ready : lost);
  return () => {
    subscriber.disconnect();
  };
}

function problemsOf({ isCluster = false, options }: IoRedis): StoreProblem[] {
  const where = isCluster ? "new Cluster(nodes, { … })" : "new Redis({ … })";
  const problems: StoreProblem[] = [];
  if (options.enableOfflineQueue !== false)
    problems.push(offlineQueue(`enableOfflineQueue: false in ${where}`));
  // A Cluster client does not reconnect a lost node, so it resends nothing.
  if (!isCluster && options.autoResendUnfulfilledCommands !== false) {
    problems.push({
      message: "The Redis client resends commands whose reply was lost with the connection.",
      remedy: `Set autoResendUnfulfilledCommands: false in ${where}.`,
    });
  }
  if (
    options.role === "slave" ||
    (isCluster && ![undefined, "master"].includes(options.scaleReads as string | undefined))
  ) {
    problems.push({
      message:
        "The Redis client uses replicas. A replica refuses writes and may return deleted entries.",
      remedy: `Leave out ${isCluster ? "scaleReads" : "role"} in ${where}.`,
    });
  }
  if (Array.isArray(options.sentinels) && options.failoverDetector !== true) {
    problems.push({
      message:
        "The Redis client doesn't listen to Sentinel, so in a planned failover it writes to the old primary for about 10 seconds, and these writes are lost.",
      remedy: `Set failoverDetector: true in ${where}.`,
      isWarning: true,
    });
  }
  return problems;
}

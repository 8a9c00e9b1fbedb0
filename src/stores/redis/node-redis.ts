import type { StoreProblem } from "../../ports/session-store.js";
import type { ChannelListener } from "../end-announcements.js";
import { offlineQueue, type RedisConnection, type RedisNode } from "./redis-connection.js";

/** What `createClient`, `createCluster` or `createSentinel` of the package `redis` returns. */
export interface NodeRedisClient {
  /** Returns the same client with other types of replies. */
  withTypeMapping(...args: never[]): unknown;
  /** Sends a command. */
  sendCommand(...args: never[]): Promise<unknown>;
}

interface NodeRedis {
  readonly isOpen: boolean;
  readonly options?: Options;
  sendCommand(...args: unknown[]): Promise<unknown>;
  listenerCount(event: string): number;
  duplicate(overrides?: object): Subscriber;
  /** Only of a Cluster. */
  readonly masters?: readonly { readonly address: string }[];
  /** Only of a Cluster. */
  nodeClient?(node: object): Promise<NodeRedis> | NodeRedis;
}

interface Subscriber {
  on(event: string, listener: () => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  destroy(): unknown;
  /** Only of a client for one server. */
  unref?(): void;
}

/**
 * Events of a Cluster or Sentinel that may concern the subscription. They have none for the
 * subscription itself.
 */
const DOUBTS = ["error", "node-error", "node-disconnect", "topology-change"];

interface Options {
  readonly disableOfflineQueue?: boolean;
  readonly socket?: { readonly socketTimeout?: number; readonly reconnectStrategy?: unknown };
}

/**
 * Bulk strings (`$`) as Buffers. The store has a time limit; the client's own costs more than the
 * rest of a command.
 */
const COMMAND_OPTIONS = { typeMapping: { ["$".charCodeAt(0)]: Buffer }, timeout: 0 };

export function isNodeRedis(client: object): client is NodeRedis {
  return (
    has(client, "withTypeMapping", "sendCommand", "listenerCount") &&
    (isCluster(client) || isSentinel(client) || isSingle(client))
  );
}

/**
 * Every command goes to a primary, because a replica may still have what was replaced or deleted.
 */
export function nodeRedisConnection(client: NodeRedis): RedisConnection {
  const send = (): RedisConnection["send"] => {
    if (isCluster(client))
      return (key, command) => client.sendCommand(key, false, command, COMMAND_OPTIONS);
    if (isSentinel(client))
      return (_key, command) => client.sendCommand(false, command, COMMAND_OPTIONS);
    return (_key, command) => client.sendCommand(command, COMMAND_OPTIONS);
  };
  return {
    send: send(),
    nodes: async () =>
      isCluster(client)
        ? Promise.all((client.masters ?? []).map((master) => nodeOf(client, master)))
        : [{ name: "", keyPrefix: "", send: (command) => send()("", command) }],
    isCluster: isCluster(client),
    subscribe: (channel, listener) =>
      client.isOpen ? subscribed(client, channel, listener) : () => undefined,
    isOpen: () => client.isOpen,
    problems: () => problemsOf(client),
  };
}

async function nodeOf(
  cluster: NodeRedis,
  master: { readonly address: string },
): Promise<RedisNode> {
  const client = await cluster.nodeClient?.(master);
  return {
    name: master.address,
    keyPrefix: "",
    send: async (command) => client?.sendCommand(command, COMMAND_OPTIONS),
  };
}

function subscribed(
  client: NodeRedis,
  channel: string,
  { message, ready, lost }: ChannelListener,
): () => void {
  // A Cluster's duplicate then connects to the node of the subscription alone.
  const subscriber = client.duplicate(isCluster(client) ? { minimizeConnections: true } : {});
  let isSubscribed = false;
  const again = (): void => {
    if (isSubscribed) ready();
  };
  subscriber.on("error", () => undefined);
  if (isSingle(client)) {
    // A new connection has subscribed before it is ready.
    subscriber.on("ready", again);
    subscriber.on("reconnecting", lost);
    subscriber.on("end", lost);
  } else for (const event of DOUBTS) subscriber.on(event, again);
  const open = async (): Promise<void> => {
    await subscriber.connect();
    subscriber.unref?.();
    await subscriber.subscribe(channel, message);
    isSubscribed = true;
    ready();
  };
  open().catch(() => undefined);
  return () => {
    const close = async (): Promise<unknown> => subscriber.destroy();
    close().catch(() => undefined);
  };
}

/** Only a client for one server has public options. */
function problemsOf(client: NodeRedis): StoreProblem[] {
  const problems: StoreProblem[] = [];
  if (client.listenerCount("error") === 0) {
    problems.push({
      message:
        'The Redis client has no "error" listener, so the first lost connection ends this process.',
      remedy:
        'Add a listener before you mount the component: client.on("error", (error) => log(error)).',
    });
  }
  if (!isSingle(client)) return problems;
  const { disableOfflineQueue, socket } = client.options ?? {};
  if (disableOfflineQueue !== true)
    problems.push(offlineQueue("disableOfflineQueue: true in createClient({ … })"));
  if ((socket?.socketTimeout ?? 0) > 0 && socket?.reconnectStrategy === undefined) {
    problems.push({
      message:
        "The Redis client has a socketTimeout but no reconnectStrategy, so it never reconnects after a timeout.",
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
  return (
    !isCluster(client) &&
    !isSentinel(client) &&
    "options" in client &&
    typeof client.options === "object"
  );
}

function has(client: object, ...methods: string[]): boolean {
  return methods.every(
    (method) => typeof (client as Record<string, unknown>)[method] === "function",
  );
}

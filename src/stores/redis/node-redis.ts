import type { StoreProblem } from "../../ports/session-store.js";
import type { RedisConnection, RedisLine } from "./connection.js";

/** What `createClient`, `createCluster` or `createSentinel` of the package `redis` gives. */
export interface NodeRedisClient {
  withTypeMapping(...args: never[]): unknown;
  sendCommand(...args: never[]): Promise<unknown>;
}

/** The parts that are used here; which of them are there tells the three kinds apart. */
interface NodeRedis extends NodeRedisNode {
  readonly options?: NodeOptions;
  readonly masters?: readonly { readonly client?: NodeRedisNode }[];
  listenerCount(event: string): number;
  duplicate(): unknown;
}

interface NodeRedisNode {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly socketEpoch?: number;
  sendCommand(...args: unknown[]): Promise<unknown>;
  destroy(): unknown;
  connect(): Promise<unknown>;
}

/** Options of one connection to one server. */
interface NodeOptions {
  readonly disableOfflineQueue?: boolean;
  readonly socket?: { readonly socketTimeout?: number; readonly reconnectStrategy?: unknown };
}

interface ClusterOptions {
  readonly defaults?: NodeOptions;
}

interface SentinelOptions {
  readonly nodeClientOptions?: NodeOptions;
  readonly maxCommandRediscovers?: number;
}

/**
 * Bulk strings (`$`) as Buffers. No timeout of the client's own: it costs more than the rest of a command, and the store has
 * one.
 */
const COMMAND_OPTIONS = { typeMapping: { ["$".charCodeAt(0)]: Buffer }, timeout: 0 };

export function isNodeRedis(client: object): client is NodeRedis {
  // A pool has neither options nor nodes to show.
  return has(client, "withTypeMapping", "sendCommand", "duplicate", "listenerCount") && kindOf(client) !== undefined;
}

export function nodeRedisConnection(client: NodeRedis): RedisConnection {
  const kind = kindOf(client);
  return {
    send: sender(client, kind),
    isOpen: () => client.isOpen,
    problems: () => [...errorListenerProblems(client), ...settingsProblems(client, kind)],
    lines: () => linesOf(client, kind),
  };
}

/**
 * A Sentinel client has none to show: it keeps them to itself, and were it closed as a whole, it would have to find a Sentinel
 * at the first attempt to be open again. It leaves a primary when its Sentinels name another one.
 */
function linesOf(client: NodeRedis, kind: Kind | undefined): readonly RedisLine[] {
  if (kind === "client") return [lineOf(client)];
  if (kind === "cluster") return (client.masters ?? []).flatMap((node) => (node.client === undefined ? [] : [lineOf(node.client)]));
  return [];
}

function lineOf(node: NodeRedisNode): RedisLine {
  return {
    // Only one that is ready: closing while it connects would leave two attempts at it.
    current: () => (node.isReady ? (node.socketEpoch ?? "ready") : undefined),
    ping: () => node.sendCommand(["PING"], COMMAND_OPTIONS),
    reconnect: () => {
      // It says itself, with "error", why a connection fails.
      const connect = async (): Promise<void> => {
        node.destroy();
        await node.connect();
      };
      connect().catch(() => undefined);
    },
  };
}

type Kind = "client" | "cluster" | "sentinel";

function kindOf(client: object): Kind | undefined {
  if (has(client, "getRandomNode")) return "cluster";
  if (has(client, "getSentinelNode")) return "sentinel";
  return "options" in client && typeof client.options === "object" ? "client" : undefined;
}

/** Always to the primary: a replica may still hold what has been replaced or deleted. */
function sender(client: NodeRedis, kind: Kind | undefined): RedisConnection["send"] {
  if (kind === "cluster") return (key, command) => client.sendCommand(key, false, command, COMMAND_OPTIONS);
  if (kind === "sentinel") return (_key, command) => client.sendCommand(false, command, COMMAND_OPTIONS);
  return (_key, command) => client.sendCommand(command, COMMAND_OPTIONS);
}

function errorListenerProblems(client: NodeRedis): StoreProblem[] {
  if (client.listenerCount("error") > 0) return [];
  return [
    {
      message: 'The Redis client has no listener for "error", so the first lost connection would end this process.',
      remedy: 'Add one before the component is mounted: client.on("error", (error) => log(error)).',
    },
  ];
}

function settingsProblems(client: NodeRedis, kind: Kind | undefined): StoreProblem[] {
  const settings = kind === "client" ? client.options : settingsOf(client);
  if (settings === undefined) {
    return [
      {
        message: "The Redis client does not show its settings, so nobody can tell whether it queues commands during an outage.",
        remedy: "Use a released version of the package redis, 5 or later.",
      },
    ];
  }
  if (kind === "cluster") return nodeProblems((settings as ClusterOptions).defaults, "createCluster({ defaults: { … } })");
  if (kind === "client") return nodeProblems(settings, "createClient({ … })");
  const { nodeClientOptions, maxCommandRediscovers } = settings as SentinelOptions;
  const problems = nodeProblems(nodeClientOptions, "createSentinel({ nodeClientOptions: { … } })");
  if (maxCommandRediscovers !== 0) {
    problems.push({
      message: "The Redis Sentinel client holds commands back while it looks for the primary, and would run them after the outage.",
      remedy: "Set maxCommandRediscovers: 0 in createSentinel({ … }).",
    });
  }
  return problems;
}

function nodeProblems(options: NodeOptions | undefined, where: string): StoreProblem[] {
  const problems: StoreProblem[] = [];
  if (options?.disableOfflineQueue !== true) {
    problems.push({
      message: "The Redis client queues commands while the server cannot be reached, and would run them after the outage.",
      remedy: `Set disableOfflineQueue: true in ${where}.`,
    });
  }
  const { socketTimeout, reconnectStrategy } = options?.socket ?? {};
  if (socketTimeout !== undefined && socketTimeout > 0 && reconnectStrategy === undefined) {
    problems.push({
      message: "The Redis client has a socketTimeout, after which it never connects again.",
      remedy: `Set socket.reconnectStrategy in ${where}, or leave out socketTimeout.`,
    });
  }
  return problems;
}

/**
 * What a cluster or sentinel client was made with. It shows that to nobody but the copy that `duplicate` makes, so it is
 * asked for a copy whose constructor only looks. Nothing is made and nothing connects.
 */
function settingsOf(client: NodeRedis): object | undefined {
  let settings: object | undefined;
  const shape = Object.create(client, {
    constructor: {
      value: function Look(given: object) {
        settings = given;
      },
    },
  }) as NodeRedis;
  try {
    (Object.create(shape) as NodeRedis).duplicate();
  } catch {
    return undefined;
  }
  return settings;
}

function has<Name extends string>(client: object, ...methods: Name[]): boolean {
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === "function");
}

import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { freePort } from "./free-port.js";
import { startRedis, type RedisServer, type RedisServerOptions } from "./redis-server.js";

export interface RedisCluster {
  /** Three primaries, each with a third of the slots. */
  readonly nodes: readonly RedisServer[];
  now(): number;
  advance(seconds: number): void;
  /**
   * Waits until every node says that all slots are served; after a restart that takes some seconds.
   */
  formed(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const NODES = 3;
const READY_MILLISECONDS = 120_000;

/** Three redis-servers that are one Cluster, without replicas. */
export async function startRedisCluster(options: RedisServerOptions = {}): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const buses = [];
    for (let index = 0; index < NODES; index += 1) {
      const bus = await freePort();
      buses.push(bus);
      const clustered = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        String(bus),
        "--cluster-node-timeout",
        "2000",
      ];
      nodes.push(await startRedis({ ...options, args: [...clustered, ...(options.args ?? [])] }));
    }
    await join(nodes, buses);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    nodes,
    now: () => nodes[0]?.now() ?? 0,
    advance(seconds) {
      for (const node of nodes) node.advance(seconds);
    },
    formed: () => formed(nodes),
    stop,
  };
}

type Client = ReturnType<typeof clientOf>;

function clientOf({ url }: RedisServer) {
  return createClient({ url }).on("error", () => undefined);
}

async function withClients(
  nodes: readonly RedisServer[],
  work: (clients: readonly Client[]) => Promise<void>,
): Promise<void> {
  const clients = nodes.map(clientOf);
  try {
    await Promise.all(clients.map((client) => client.connect()));
    await work(clients);
  } finally {
    for (const client of clients) client.destroy();
  }
}

async function join(nodes: readonly RedisServer[], buses: readonly number[]): Promise<void> {
  await withClients(nodes, async (clients) => {
    for (const [index, client] of clients.entries()) {
      const from = Math.floor((index * SLOTS) / NODES);
      const to = Math.floor(((index + 1) * SLOTS) / NODES) - 1;
      await client.sendCommand(["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
      await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", String(from), String(to)]);
      if (index === 0) continue;
      await clients[0]?.sendCommand([
        "CLUSTER",
        "MEET",
        "127.0.0.1",
        String(nodes[index]?.port),
        String(buses[index]),
      ]);
    }
  });
  await formed(nodes);
}

async function formed(nodes: readonly RedisServer[]): Promise<void> {
  const signs = [
    "cluster_state:ok",
    `cluster_known_nodes:${String(NODES)}`,
    `cluster_slots_ok:${String(SLOTS)}`,
  ];
  await withClients(nodes, async (clients) => {
    const giveUp = performance.now() + READY_MILLISECONDS;
    for (;;) {
      const infos = await Promise.all(clients.map((client) => client.clusterInfo()));
      if (infos.every((info) => signs.every((sign) => info.includes(sign)))) return;
      if (performance.now() > giveUp)
        throw new Error(`the Redis Cluster did not form: ${String(infos[0])}`);
      await sleep(50);
    }
  });
}

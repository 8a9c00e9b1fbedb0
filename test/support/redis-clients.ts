import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import type { RedisClient } from "../../src/stores/redis/redis-store.js";
import type { RedisServer } from "./redis-server.js";

/** A client as an application sets it up for the store, connected, and the way to end it. */
export interface ConnectedClient {
  readonly client: RedisClient;
  close(): void;
}

/** What both clients of the `redis` package, and its Cluster and Sentinel, have in common. */
interface NodeRedis {
  on(event: "error", listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

/** Connects a client of the `redis` package. */
export async function connectedNodeRedis<Client extends NodeRedis>(
  client: Client,
): Promise<{ readonly client: Client; close(): void }> {
  client.on("error", () => undefined);
  await client.connect();
  return {
    client,
    close: () => {
      void client.destroy();
    },
  };
}

/** Waits until an ioredis client, which connects by itself, is ready. */
export async function connectedIoredis<Client extends Redis | Cluster>(
  client: Client,
): Promise<{ readonly client: Client; close(): void }> {
  client.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    client.once("ready", resolve);
  });
  return {
    client,
    close: () => {
      client.disconnect();
    },
  };
}

/** One server, with each of the two packages. */
export const CLIENTS: Readonly<
  Record<"node-redis" | "ioredis", (server: RedisServer) => Promise<ConnectedClient>>
> = {
  "node-redis": ({ url }) =>
    connectedNodeRedis(
      createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } }),
    ),
  ioredis: ({ port }) =>
    connectedIoredis(
      new Redis(port, "127.0.0.1", {
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
        retryStrategy: () => 20,
      }),
    ),
};

/** A Cluster, with each of the two packages. */
export const CLUSTER_CLIENTS: Readonly<
  Record<"node-redis" | "ioredis", (nodes: readonly RedisServer[]) => Promise<ConnectedClient>>
> = {
  "node-redis": (nodes) =>
    connectedNodeRedis(
      createCluster({
        rootNodes: nodes.map(({ url }) => ({ url })),
        defaults: { disableOfflineQueue: true, socket: { reconnectStrategy: 20 } },
      }),
    ),
  ioredis: (nodes) =>
    connectedIoredis(
      new Cluster(
        nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
        { enableOfflineQueue: false },
      ),
    ),
};

type Control = ReturnType<typeof controlClient>;

function controlClient(url: string) {
  return createClient({ url }).on("error", () => undefined);
}

/** Does something on the server with a connection of the test's own. */
export async function control<Result>(
  server: RedisServer,
  work: (client: Control) => Promise<Result>,
): Promise<Result> {
  const client = controlClient(server.url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

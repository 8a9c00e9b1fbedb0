import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import type { RedisClient } from "../../src/stores/redis.js";
import type { RedisServer } from "./redis-server.js";

/** A client as an application sets it up for the store, connected, and the way to end it. */
export interface ConnectedClient {
  readonly client: RedisClient;
  close(): void;
}

/** One server, with each of the two packages. */
export const CLIENTS: Readonly<Record<"node-redis" | "ioredis", (server: RedisServer) => Promise<ConnectedClient>>> = {
  async "node-redis"({ url }) {
    const client = createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } });
    client.on("error", () => undefined);
    await client.connect();
    return {
      client,
      close: () => {
        client.destroy();
      },
    };
  },
  async ioredis({ port }) {
    const client = new Redis(port, "127.0.0.1", {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
    });
    client.on("error", () => undefined);
    await ready(client);
    return {
      client,
      close: () => {
        client.disconnect();
      },
    };
  },
};

/** A Cluster, with each of the two packages. */
export const CLUSTER_CLIENTS: Readonly<Record<"node-redis" | "ioredis", (nodes: readonly RedisServer[]) => Promise<ConnectedClient>>> = {
  async "node-redis"(nodes) {
    const client = createCluster({
      rootNodes: nodes.map(({ url }) => ({ url })),
      defaults: { disableOfflineQueue: true, socket: { reconnectStrategy: 20 } },
    });
    client.on("error", () => undefined);
    await client.connect();
    return {
      client,
      close: () => {
        client.destroy();
      },
    };
  },
  async ioredis(nodes) {
    const client = new Cluster(
      nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
      { enableOfflineQueue: false },
    );
    client.on("error", () => undefined);
    await ready(client);
    return {
      client,
      close: () => {
        client.disconnect();
      },
    };
  },
};

function ready(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    client.once("ready", resolve);
  });
}

type Control = ReturnType<typeof controlClient>;

function controlClient(url: string) {
  return createClient({ url }).on("error", () => undefined);
}

/** Does something on the server with a connection of the test's own. */
export async function control<Result>(server: RedisServer, work: (client: Control) => Promise<Result>): Promise<Result> {
  const client = controlClient(server.url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

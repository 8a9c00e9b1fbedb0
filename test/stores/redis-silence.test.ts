import { randomBytes } from "node:crypto";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { eventually } from "../support/eventually.js";
import {
  connectedIoredis,
  connectedNodeRedis,
  type ConnectedClient,
} from "../support/redis-clients.js";
import { startRedisCluster, type RedisCluster } from "../support/redis-cluster.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { startSilentProxy, type SilentProxy } from "../support/silent-proxy.js";

const isMissing = (await redisForTests()) === undefined;

/** Milliseconds: the store's time limit, and the client's own for a silent socket. */
const TIMEOUT = 300;
const SOCKET_TIMEOUT = 1000;
/** Longer than the time limit of a store, so that one operation meets the silence. */
const CLUSTER_SOCKET_TIMEOUT = 3000;

const NAMES = ["node-redis", "ioredis"] as const;
const newKey = (): string => randomBytes(32).toString("base64url");
const entry = { data: Buffer.from("data"), expiresAt: Math.floor(Date.now() / 1000) + 600 };

const CLIENTS: Readonly<
  Record<(typeof NAMES)[number], (port: number, socketTimeout?: number) => Promise<ConnectedClient>>
> = {
  "node-redis": (port, socketTimeout) =>
    connectedNodeRedis(
      createClient({
        url: `redis://127.0.0.1:${String(port)}`,
        disableOfflineQueue: true,
        socket: { reconnectStrategy: 20, ...(socketTimeout && { socketTimeout }) },
      }),
    ),
  ioredis: (port, socketTimeout) =>
    connectedIoredis(
      new Redis(port, "127.0.0.1", {
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
        ...(socketTimeout && { socketTimeout }),
      }),
    ),
};

describe.skipIf(isMissing)("a connection that has gone silent", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const through = async (
    name: (typeof NAMES)[number],
    socketTimeout?: number,
  ): Promise<{ proxy: SilentProxy; store: SessionStore; key: string }> => {
    const proxy = await startSilentProxy(server.port);
    const { client, close } = await CLIENTS[name](proxy.port, socketTimeout);
    onTestFinished(async () => {
      close();
      await proxy.stop();
    });
    const store = redisStore(client, { timeout: TIMEOUT });
    expect(store.problems).toEqual([]);
    const key = newKey();
    await eventually(() => store.insert(key, entry));
    return { proxy, store, key };
  };

  it.each(NAMES)(
    "%s: every operation rejects, and the store leaves the application's client alone",
    async (name) => {
      const { proxy, store, key } = await through(name);
      proxy.silence();
      for (let round = 0; round < 4; round += 1)
        await expect(store.get(key)).rejects.toThrow(StoreUnavailableError);
      expect(proxy.accepted()).toBe(1);
    },
  );

  it.each(NAMES)(
    "%s: with a socketTimeout the client replaces it, and the store is back",
    async (name) => {
      const { proxy, store, key } = await through(name, SOCKET_TIMEOUT);
      proxy.silence();
      await expect(store.get(key)).rejects.toThrow(StoreUnavailableError);
      // No request until then: each write begins the socketTimeout of node-redis anew.
      await eventually(() => {
        expect(proxy.accepted()).toBeGreaterThan(1);
        return Promise.resolve();
      });
      expect((await eventually(() => store.get(key)))?.data).toEqual(entry.data);
    },
  );

  it("ioredis: with a socketTimeout the client replaces it under a steady load, too", async () => {
    const { proxy, store, key } = await through("ioredis", SOCKET_TIMEOUT);
    proxy.silence();
    await eventually(() => store.get(key));
    expect(proxy.accepted()).toBeGreaterThan(1);
  });

  it.each(NAMES)(
    "%s: a server that is frozen for many time limits goes on with the same client",
    async (name) => {
      const { proxy, store, key } = await through(name);
      server.pause();
      for (let round = 0; round < 4; round += 1)
        await expect(store.get(key)).rejects.toThrow(StoreUnavailableError);
      server.resume();
      await eventually(() => store.get(key));
      expect(proxy.accepted()).toBe(1);
    },
  );
});

describe.skipIf(isMissing)("a Cluster, one of whose connections has gone silent", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  it.each(NAMES)(
    "%s: keys of the other nodes are served in that time; ioredis replaces the connection with a socketTimeout",
    async (name) => {
      const proxies = new Map<number, SilentProxy>();
      for (const { port } of cluster.nodes) proxies.set(port, await startSilentProxy(port));
      const mapped = (address: string): { host: string; port: number } | undefined => {
        const proxy = proxies.get(Number(address.split(":")[1]));
        return proxy && { host: "127.0.0.1", port: proxy.port };
      };
      const { client, close } = await (name === "ioredis"
        ? ioredisCluster(cluster, mapped)
        : nodeRedisCluster(cluster, mapped));
      onTestFinished(async () => {
        close();
        await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
      });
      const store = redisStore(client);
      const keys = Array.from({ length: 30 }, newKey);
      await eventually(() => Promise.all(keys.map((key) => store.insert(key, entry))));
      const [silent] = [...proxies.values()] as [SilentProxy];
      silent.silence();
      const outcomes = await Promise.allSettled(keys.map((key) => store.get(key)));
      const lost = keys.filter((_, index) => outcomes[index]!.status === "rejected");
      const kept = keys.filter((key) => !lost.includes(key));
      expect(lost).not.toEqual([]);
      expect(kept).not.toEqual([]);
      expect(await Promise.all(kept.map((key) => store.get(key)))).not.toContain(undefined);
      if (name === "ioredis")
        await eventually(() => Promise.all(lost.map((key) => store.get(key))));
    },
  );
});

type Mapped = (address: string) => { host: string; port: number } | undefined;

async function ioredisCluster({ nodes }: RedisCluster, natMap: Mapped): Promise<ConnectedClient> {
  return connectedIoredis(
    new Cluster(
      nodes.map(({ port }) => natMap(`127.0.0.1:${String(port)}`)!),
      {
        enableOfflineQueue: false,
        natMap: (address) => natMap(address) ?? null,
        redisOptions: { socketTimeout: CLUSTER_SOCKET_TIMEOUT },
      },
    ),
  );
}

async function nodeRedisCluster(
  { nodes }: RedisCluster,
  nodeAddressMap: Mapped,
): Promise<ConnectedClient> {
  return connectedNodeRedis(
    createCluster({
      rootNodes: nodes.map(({ url }) => ({ url })),
      nodeAddressMap,
      defaults: { disableOfflineQueue: true },
    }),
  );
}

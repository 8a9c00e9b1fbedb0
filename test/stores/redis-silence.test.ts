import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import type { RedisLine } from "../../src/stores/redis/connection.js";
import { RedisSilence } from "../../src/stores/redis/silence.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { DEFAULT_STORE_TIMEOUT } from "../../src/stores/time-limit.js";
import { eventually } from "../support/eventually.js";
import { connectedIoredis, connectedNodeRedis, control, type ConnectedClient } from "../support/redis-clients.js";
import { startRedisCluster, type RedisCluster } from "../support/redis-cluster.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { startSilentProxy, type SilentProxy } from "../support/silent-proxy.js";

const isMissing = (await redisForTests()) === undefined;

const TIMEOUT = 300;
/** Milliseconds that a loaded machine may need besides. */
const MARGIN = 1500;
/** Milliseconds between two requests: often enough that a socket is never idle. */
const LOAD = 20;

const NAMES = ["node-redis", "ioredis"] as const;
const newKey = (): string => randomBytes(32).toString("base64url");
const entry = { data: Buffer.from("data"), expiresAt: Math.floor(Date.now() / 1000) + 600 };

interface TestClient extends ConnectedClient {
  /** Open, by the client's own account. */
  isOpen(): boolean;
}

const CLIENTS: Readonly<Record<(typeof NAMES)[number], (port: number) => Promise<TestClient>>> = {
  async "node-redis"(port) {
    const connected = await connectedNodeRedis(createClient({ url: `redis://127.0.0.1:${String(port)}`, disableOfflineQueue: true }));
    return { ...connected, isOpen: () => connected.client.isOpen };
  },
  async ioredis(port) {
    const options = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, disconnectTimeout: 100 };
    const connected = await connectedIoredis(new Redis(port, "127.0.0.1", options));
    return { ...connected, isOpen: () => connected.client.status !== "end" };
  },
};

/** Asks all the time, as visitors do, until something is answered; how many milliseconds that took. */
async function answeredAfter(store: SessionStore, key: string, giveUp: number): Promise<number> {
  const begin = performance.now();
  let took: number | undefined;
  const asked: Promise<void>[] = [];
  while (took === undefined) {
    if (performance.now() - begin > giveUp) throw new Error("nothing was answered");
    asked.push(
      store.get(key).then(
        () => {
          took ??= performance.now() - begin;
        },
        (error: unknown) => {
          expect(error).toBeInstanceOf(StoreUnavailableError);
        },
      ),
    );
    await sleep(LOAD);
  }
  await Promise.all(asked);
  return took;
}

describe.skipIf(isMissing)("a connection that has gone silent", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const through = async (name: (typeof NAMES)[number]): Promise<TestClient & { proxy: SilentProxy; store: SessionStore }> => {
    const proxy = await startSilentProxy(server.port);
    const connected = await CLIENTS[name](proxy.port);
    onTestFinished(async () => {
      if (connected.isOpen()) connected.close();
      await proxy.stop();
    });
    return { ...connected, proxy, store: redisStore(connected.client, { timeout: TIMEOUT }) };
  };

  it.each(NAMES)("%s: under a steady load it is given up, and the store is back after two timeouts", async (name) => {
    const { proxy, store } = await through(name);
    const key = newKey();
    await store.insert(key, entry);
    for (let round = 1; round <= 2; round += 1) {
      proxy.silence();
      expect(await answeredAfter(store, key, 10_000)).toBeLessThan(2 * TIMEOUT + MARGIN);
      expect(proxy.accepted(), "one new connection, not more").toBe(1 + round);
    }
  });

  it.each(NAMES)("%s: one visitor alone is enough", async (name) => {
    const { proxy, store } = await through(name);
    const key = newKey();
    await store.insert(key, entry);
    proxy.silence();
    await expect(store.get(key)).rejects.toThrow(StoreUnavailableError);
    await sleep(TIMEOUT + MARGIN);
    expect((await store.get(key))?.data).toEqual(entry.data);
  });

  it.each(NAMES)("%s: a client that the application closes meanwhile stays closed", async (name) => {
    const { proxy, store, close, isOpen } = await through(name);
    proxy.silence();
    await expect(store.get(newKey())).rejects.toThrow(StoreUnavailableError);
    close();
    await expect(store.get(newKey())).rejects.toThrow(StoreUnavailableError);
    await sleep(TIMEOUT * 2);
    expect(isOpen()).toBe(false);
    expect(proxy.accepted()).toBe(1);
  });

  it.each(NAMES)("%s: a server that is frozen longer than that goes on with the same client", async (name) => {
    const { proxy, store } = await through(name);
    const key = newKey();
    await store.insert(key, entry);
    server.pause();
    const back = answeredAfter(store, key, 10_000);
    await sleep(TIMEOUT * 5);
    server.resume();
    await back;
    const before = proxy.accepted();
    await expect(Promise.all(Array.from({ length: 20 }, () => store.get(key)))).resolves.toHaveLength(20);
    await sleep(TIMEOUT * 2);
    expect(proxy.accepted(), "the last connection stays").toBe(before);
  });

  it.each(NAMES)("%s: a primary that has become a replica is left, once a timeout", async (name) => {
    const { proxy, store } = await through(name);
    const key = newKey();
    await store.insert(key, entry);
    await control(server, (client) => client.sendCommand(["REPLICAOF", "127.0.0.1", "1"]));
    onTestFinished(() => control(server, (client) => client.sendCommand(["REPLICAOF", "NO", "ONE"])).then(() => undefined));
    const touch = (): Promise<boolean> => store.touch(key, 1, entry.expiresAt);
    await Promise.allSettled([touch(), touch(), touch()]);
    await eventually(() => {
      expect(proxy.accepted()).toBe(2);
      return Promise.resolve();
    });
    await control(server, (client) => client.sendCommand(["REPLICAOF", "NO", "ONE"]));
    expect(await eventually(touch)).toBe(true);
    expect(proxy.accepted()).toBe(2);
  });
});

describe.skipIf(isMissing)("a Cluster, one of whose connections has gone silent", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  it.each(NAMES)("%s: only that one is given up", async (name) => {
    // The longest: a loaded machine may let a server wait for its disk.
    const timeout = DEFAULT_STORE_TIMEOUT;
    const proxies = new Map<number, SilentProxy>();
    for (const { port } of cluster.nodes) proxies.set(port, await startSilentProxy(port));
    const mapped = (address: string): { host: string; port: number } | undefined => {
      const proxy = proxies.get(Number(address.split(":")[1]));
      return proxy && { host: "127.0.0.1", port: proxy.port };
    };
    const { client, close } = await (name === "ioredis" ? ioredisCluster(cluster, mapped) : nodeRedisCluster(cluster, mapped));
    onTestFinished(async () => {
      close();
      await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
    });
    const store = redisStore(client, { timeout });
    const keys = Array.from({ length: 30 }, newKey);
    await eventually(() => Promise.all(keys.map((key) => store.insert(key, entry))));
    const [silent] = [...proxies.values()] as [SilentProxy];
    silent.silence();
    const begin = performance.now();
    const outcomes = await Promise.allSettled(keys.map((key) => store.get(key)));
    const lost = keys.filter((_, index) => outcomes[index]!.status === "rejected");
    const kept = keys.filter((key) => !lost.includes(key));
    expect(lost).not.toEqual([]);
    expect(kept).not.toEqual([]);
    const answered = eventually(() => Promise.all(lost.map((key) => store.get(key))));
    const over = new AbortController();
    // What the other connections are asked meanwhile is answered.
    const others = (async () => {
      while (!over.signal.aborted) await Promise.all(kept.map((key) => store.get(key)));
    })();
    await Promise.all([
      answered.finally(() => {
        over.abort();
      }),
      others,
    ]);
    expect(performance.now() - begin).toBeLessThan(3 * timeout + 2 * MARGIN);
  });
});

type Mapped = (address: string) => { host: string; port: number } | undefined;

async function ioredisCluster({ nodes }: RedisCluster, natMap: Mapped): Promise<ConnectedClient> {
  const client = new Cluster(
    nodes.map(({ port }) => natMap(`127.0.0.1:${String(port)}`)!),
    {
      enableOfflineQueue: false,
      natMap: (address) => natMap(address) ?? null,
      redisOptions: { disconnectTimeout: 100 },
    },
  );
  client.on("error", () => undefined);
  await new Promise((resolve) => client.once("ready", resolve));
  return {
    client,
    close: () => {
      client.disconnect();
    },
  };
}

async function nodeRedisCluster({ nodes }: RedisCluster, nodeAddressMap: Mapped): Promise<ConnectedClient> {
  const client = createCluster({
    rootNodes: nodes.map(({ url }) => ({ url })),
    nodeAddressMap,
    defaults: { disableOfflineQueue: true },
  });
  client.on("error", () => undefined);
  await client.connect();
  return {
    client,
    close: () => {
      client.destroy();
    },
  };
}

describe("what is silence, and what is not", () => {
  const LIMIT = 30;

  interface ScriptedLine extends RedisLine {
    connection: unknown;
    reconnects: number;
  }
  const lineOf = (ping: () => Promise<unknown>): ScriptedLine => ({
    connection: 1,
    reconnects: 0,
    current() {
      return this.connection;
    },
    ping,
    reconnect() {
      this.reconnects += 1;
    },
  });
  const never = (): Promise<unknown> => new Promise(() => undefined);
  const late = new StoreUnavailableError("The session store did not answer in time.");

  const table: [what: string, ping: () => Promise<unknown>, error: Error, reconnects: number][] = [
    ["nothing is answered", never, late, 1],
    ["PING is answered", () => Promise.resolve("PONG"), late, 0],
    ["PING is not allowed", () => Promise.reject(new Error("NOPERM this user has no permissions")), late, 0],
    ["the server is loading", () => Promise.reject(new Error("LOADING Redis is loading the dataset in memory")), late, 1],
    ["the client refuses", () => Promise.reject(new Error("Stream isn't writeable")), new Error("Stream isn't writeable"), 1],
    [
      "the client throws",
      () => {
        throw new Error("closed");
      },
      late,
      1,
    ],
    ["the operation was answered with an error", never, new Error("WRONGTYPE Operation against a key"), 0],
    ["a replica refuses a write", () => Promise.resolve("PONG"), new Error("READONLY You can't write against a read only replica."), 1],
    ["a replica refuses a script", never, new Error("ERR Error running script: @user_script:3: -READONLY You can't write"), 1],
    ["a replica has lost its primary", never, new Error("MASTERDOWN Link with MASTER is down"), 1],
  ];
  it.each(table)("%s", async (_what, ping, error, reconnects) => {
    const line = lineOf(ping);
    const silence = new RedisSilence(() => [line], LIMIT);
    for (let operation = 0; operation < 3; operation += 1) silence.failed(error);
    await sleep(LIMIT * 1.5);
    expect(line.reconnects).toBe(reconnects);
  });

  it("another operation that is answered meanwhile: slow, not silent", async () => {
    const line = lineOf(never);
    const silence = new RedisSilence(() => [line], LIMIT);
    silence.failed(late);
    silence.answered();
    await sleep(LIMIT * 1.5);
    expect(line.reconnects).toBe(0);
  });

  it("a client that has a new connection by itself, or none: left alone", async () => {
    const [renewed, closed, unready] = [lineOf(never), lineOf(never), lineOf(never)];
    unready.connection = undefined;
    for (const line of [renewed, closed, unready]) new RedisSilence(() => [line], LIMIT).failed(late);
    renewed.connection = 2;
    closed.connection = undefined;
    unready.connection = 1;
    await sleep(LIMIT * 1.5);
    expect([renewed, closed, unready].map(({ reconnects }) => reconnects)).toEqual([0, 0, 0]);
  });

  it("of several lines, only the one that says nothing", async () => {
    const [silent, well] = [lineOf(never), lineOf(() => Promise.resolve("PONG"))];
    const silence = new RedisSilence(() => [silent, well], LIMIT);
    silence.failed(late);
    silence.answered();
    await sleep(LIMIT * 1.5);
    expect([silent.reconnects, well.reconnects]).toEqual([1, 0]);
  });
});

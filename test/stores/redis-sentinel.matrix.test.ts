import { Redis } from "ioredis";
import { createSentinel } from "redis";
import { describe, expect, it } from "vitest";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { eventually } from "../support/eventually.js";
import {
  connectedIoredis,
  connectedNodeRedis,
  control,
  type ConnectedClient,
} from "../support/redis-clients.js";
import { redisForTests, type RedisServer } from "../support/redis-server.js";
import { keysBySubject } from "../support/listed-keys.js";
import { connected, entryOf, newKey, refused, started, textOf, TIMEOUT } from "./redis-away.js";

const isMissing = (await redisForTests()) === undefined;
/** A primary that answers a new replica at once. */
const NO_SYNC_DELAY = ["--repl-diskless-sync-delay", "0"];

/** A Sentinel that calls its primary dead after a second. */
async function sentinelOf(primary: RedisServer): Promise<RedisServer> {
  return started({
    sentinel: [
      `sentinel monitor one 127.0.0.1 ${String(primary.port)} 1`,
      "sentinel down-after-milliseconds one 1000",
      "sentinel failover-timeout one 5000",
    ],
  });
}

const SENTINEL_CLIENTS: Readonly<
  Record<"node-redis" | "ioredis", (sentinel: RedisServer) => Promise<ConnectedClient>>
> = {
  "node-redis": ({ port }) =>
    connectedNodeRedis(
      createSentinel({
        name: "one",
        sentinelRootNodes: [{ host: "127.0.0.1", port }],
        nodeClientOptions: { disableOfflineQueue: true },
        maxCommandRediscovers: 0,
        // Without it the client misses a planned failover until the old primary is demoted.
        scanInterval: 1000,
      }),
    ),
  ioredis: ({ port }) =>
    connectedIoredis(
      new Redis({
        sentinels: [{ host: "127.0.0.1", port }],
        name: "one",
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
        failoverDetector: true,
        // Without it the client keeps its connection to a frozen primary.
        socketTimeout: 1000,
      }),
    ),
};

describe.skipIf(isMissing).each(["node-redis", "ioredis"] as const)("Sentinel, %s:", (name) => {
  /** One primary, one replica that has all its data, and a store with one session in it. */
  const watched = async () => {
    const primary = await started({ args: NO_SYNC_DELAY });
    const replica = await started({ args: ["--replicaof", `127.0.0.1 ${String(primary.port)}`] });
    const sentinel = await sentinelOf(primary);
    await eventually(async () => {
      const replicas = (await control(sentinel, (client) =>
        client.sendCommand(["SENTINEL", "REPLICAS", "one"]),
      )) as unknown as unknown[];
      expect(replicas).toHaveLength(1);
      expect(await control(replica, (client) => client.info("replication"))).toContain(
        "master_link_status:up",
      );
    });
    const store = redisStore(await connected(SENTINEL_CLIENTS[name], sentinel), {
      timeout: TIMEOUT,
    });
    expect(store.problems).toEqual([]);
    const key = newKey();
    await eventually(() => store.insert(key, entryOf("kept", { subject: "s" })));
    const before = (await eventually(() => store.get(key)))!;
    expect(await control(primary, (client) => client.wait(1, 60_000)), "replicas").toBe(1);
    return { primary, replica, sentinel, store, key, before };
  };

  it.each(["killed", "frozen"] as const)(
    "a primary that is %s refuses for a while, then its replica goes on with everything",
    async (fate) => {
      const { primary, store, key, before } = await watched();
      // Frozen, it still accepts connections, also the one that takes the place of the silent one,
      // until its replica is promoted.
      const refusal = eventually(() => refused(store.get(key)));
      if (fate === "killed") await primary.kill();
      else primary.pause();
      await refusal;
      await eventually(async () => {
        expect(await store.get(key)).toEqual(before);
      }, 120_000);
      // A write whose answer comes too late is refused, although it may have been done.
      await eventually(async () => {
        await store.replace(key, entryOf("after"), before.version);
        expect(textOf((await store.get(key))!)).toBe("after");
      });
      expect(await eventually(() => keysBySubject(store, "s"))).toEqual([]);
    },
  );

  // Sentinel leaves the old primary in its role for about ten seconds. A client that finds out only
  // then has lost what it wrote meanwhile.
  it("after a planned failover the store writes to the new primary before the old one is demoted", async () => {
    const { primary, replica, sentinel, store } = await watched();
    // Sentinel refuses until it knows that the replica is fit.
    await eventually(() =>
      control(sentinel, (client) => client.sendCommand(["SENTINEL", "FAILOVER", "one"])),
    );
    const role = (server: RedisServer) =>
      control(server, async (client) => /role:(\w+)/.exec(await client.info("replication"))?.[1]);
    await eventually(async () => {
      expect(await role(replica)).toBe("master");
    });
    const key = newKey();
    const size = () => control(replica, (client) => client.dbSize());
    const before = await size();
    await eventually(async () => {
      await store.insert(newKey(), entryOf("written"));
      expect(await size()).toBeGreaterThan(before);
    });
    expect(await role(primary)).toBe("master");
    await eventually(() => store.insert(key, entryOf("kept")));
    await eventually(async () => {
      expect(await role(primary)).toBe("slave");
    });
    expect((await eventually(() => store.get(key)))?.data).toEqual(entryOf("kept").data);
  });
});

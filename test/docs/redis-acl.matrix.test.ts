import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { connectedIoredis, connectedNodeRedis, control } from "../support/redis-clients.js";
import { startRedisCluster, type RedisCluster } from "../support/redis-cluster.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { failuresOf, RULES, storeOf } from "../stores/redis-acl-use.js";

const isMissing = (await redisForTests()) === undefined;
const USER = { username: "app", password: "pw" };

describe.skipIf(isMissing)("a Redis user with the ACL of docs/reference/databases.md", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it.each(RULES.filter((rule) => rule.startsWith("+")))("needs %s", async (command) => {
    const fewer = RULES.filter((rule) => rule !== command);
    expect(await failuresOf(await storeOf(server, fewer), [server], 300)).not.toEqual([]);
  });

  it.each(["~idpauth:*", "&idpauth:*"])("needs %s", async (pattern) => {
    const fewer = RULES.filter((rule) => rule !== pattern);
    expect(await failuresOf(await storeOf(server, fewer), [server], 300)).not.toEqual([]);
  });

  it("without the channel: the store works, and only the ends aren't announced", async () => {
    const store = await storeOf(
      server,
      RULES.filter((rule) => rule !== "&idpauth:*"),
    );
    expect(await failuresOf(store, [server], 2_000)).toEqual(["watchEnds"]);
  });
});

describe.skipIf(isMissing)(
  "a user of a Redis Cluster with the ACL of docs/reference/databases.md",
  () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startRedisCluster();
      for (const node of cluster.nodes) {
        await control(node, (client) =>
          client.sendCommand(["ACL", "SETUSER", "app", ...RULES, "+cluster"]),
        );
      }
    });
    afterAll(() => cluster.stop());

    it("does everything over node-redis", async () => {
      const { client, close } = await connectedNodeRedis(
        createCluster({
          rootNodes: cluster.nodes.map(({ url }) => ({ url })),
          defaults: { ...USER, disableOfflineQueue: true },
        }),
      );
      onTestFinished(close);
      expect(await failuresOf(redisStore(client), cluster.nodes, 30_000)).toEqual([]);
    });

    it("does everything over ioredis", async () => {
      const { client, close } = await connectedIoredis(
        new Cluster(
          cluster.nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
          { enableOfflineQueue: false, redisOptions: USER },
        ),
      );
      onTestFinished(close);
      expect(await failuresOf(redisStore(client), cluster.nodes, 30_000)).toEqual([]);
    });
  },
);

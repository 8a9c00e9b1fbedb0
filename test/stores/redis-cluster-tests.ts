import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry } from "../../src/ports/session-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { testStore } from "../../packages/idpauth-conformance/src/index.js";
import { eventually } from "../support/eventually.js";
import { CLUSTER_CLIENTS, control, type ConnectedClient } from "../support/redis-clients.js";
import { startRedisCluster, type RedisCluster } from "../support/redis-cluster.js";
import { faketimeForTests, redisForTests, type RedisServer } from "../support/redis-server.js";
import { keysBySubject } from "../support/listed-keys.js";

const isMissing = (await redisForTests()) === undefined || (await faketimeForTests()) === undefined;

const newKey = (): string => randomBytes(32).toString("base64url");

/** Declares the tests of the store over a Cluster, with one of the two packages. */
export function testOverCluster(name: keyof typeof CLUSTER_CLIENTS): void {
  const connect = CLUSTER_CLIENTS[name];
  describe.skipIf(isMissing)(`a Redis Cluster, ${name}`, () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      // What is left of the Cluster goes on serving while a node is away: the harder case for steps
      // on two nodes.
      cluster = await startRedisCluster({
        faketime: true,
        durable: true,
        args: ["--cluster-require-full-coverage", "no"],
      });
    });
    afterAll(() => cluster.stop());

    let connected: ConnectedClient;
    const others: ConnectedClient[] = [];
    beforeAll(async () => {
      connected = await connect(cluster.nodes);
    });
    afterAll(() => {
      for (const { close } of [connected, ...others]) close();
    });

    testStore({
      name: `redis over ${name}, Cluster`,
      test: it,
      create: () => ({
        store: redisStore(connected.client),
        now: () => cluster.now(),
        advance: (seconds) => {
          cluster.advance(seconds);
          return Promise.resolve();
        },
        another: async () => {
          const other = await connect(cluster.nodes);
          others.push(other);
          return redisStore(other.client);
        },
        outage: {
          begin: async () => {
            await Promise.all(cluster.nodes.map((node) => node.kill()));
          },
          end: async () => {
            await Promise.all(cluster.nodes.map((node) => node.restart()));
            await cluster.formed();
            await served(connected);
          },
        },
      }),
    });

    it("its script is known on each node, also after SCRIPT FLUSH on all of them", async () => {
      const store = redisStore(connected.client);
      const keys = Array.from({ length: 30 }, newKey);
      await Promise.all(
        cluster.nodes.map((node) => control(node, (client) => client.scriptFlush())),
      );
      const entry: Entry = {
        data: Buffer.from("a"),
        expiresAt: cluster.now() + 100,
        subject: newKey(),
      };
      expect(await Promise.all(keys.map((key) => store.insert(key, entry)))).toEqual(
        keys.map(() => true),
      );
      expect((await keysBySubject(store, entry.subject!)).sort()).toEqual(keys.sort());
    });

    it("while the node of the index is away, nothing begins that it would have to know, and a logout still ends the session", async () => {
      const store = redisStore(connected.client);
      const hasty = redisStore(connected.client, { timeout: 500 });
      const [one, other] = cluster.nodes as readonly [RedisServer, RedisServer];
      const [key, later] = [await keyOn(one, "session"), await keyOn(one, "session")];
      const subject = await keyOn(other, "subject");
      const entry: Entry = { data: Buffer.from("a"), expiresAt: cluster.now() + 100, subject };
      await store.insert(key, entry);
      await other.kill();
      try {
        await expect(hasty.insert(later, entry)).rejects.toThrow(StoreUnavailableError);
        expect(await store.get(later)).toBeUndefined();
        const stamp = cluster.now();
        await expect(hasty.touch(key, stamp, stamp + 500)).rejects.toThrow(StoreUnavailableError);
        expect(await store.get(key), "stamped, not prolonged").toMatchObject({
          lastActive: stamp,
          expiresAt: entry.expiresAt,
        });
        await expect(hasty.listBySubject(subject)).rejects.toThrow(StoreUnavailableError);
        expect(await store.delete(key)).toMatchObject({ subject });
        expect(await store.get(key)).toBeUndefined();
      } finally {
        await other.restart();
        await cluster.formed();
        await served(connected);
      }
      await eventually(async () => {
        expect(await keysBySubject(store, subject)).toEqual([]);
      });
    });

    /** Waits until the client has found all nodes again. */
    async function served({ client }: ConnectedClient): Promise<void> {
      const store = redisStore(client);
      for (const node of cluster.nodes) {
        const key = await keyOn(node, "session");
        await eventually(() => store.get(key));
      }
    }

    /** A key that lies on this node. */
    async function keyOn(node: RedisServer, kind: "session" | "subject"): Promise<string> {
      return control(node, async (client) => {
        const index = cluster.nodes.indexOf(node);
        for (;;) {
          const key = newKey();
          const slot = Number(
            await client.sendCommand(["CLUSTER", "KEYSLOT", `idpauth:${kind}:${key}`]),
          );
          if (Math.floor((slot * cluster.nodes.length) / 16_384) === index) return key;
        }
      });
    }
  });
}

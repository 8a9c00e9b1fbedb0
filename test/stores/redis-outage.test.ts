import { inspect } from "node:util";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { eventually } from "../support/eventually.js";
import {
  CLIENTS,
  connectedIoredis,
  connectedNodeRedis,
  control,
  type ConnectedClient,
} from "../support/redis-clients.js";
import { redisForTests, type RedisServer } from "../support/redis-server.js";
import { keysBySubject } from "../support/listed-keys.js";
import {
  connected,
  entryOf,
  newKey,
  now,
  refused,
  started,
  textOf,
  TIMEOUT,
} from "./redis-away.js";

const isMissing = (await redisForTests()) === undefined;
/** A primary that answers a new replica at once. */
const NO_SYNC_DELAY = ["--repl-diskless-sync-delay", "0"];

/**
 * Clients that the store refuses at start: they keep what they are given during an outage, for
 * later.
 */
const QUEUEING: Readonly<
  Record<"node-redis" | "ioredis", (server: RedisServer) => Promise<ConnectedClient>>
> = {
  "node-redis": ({ url }) =>
    connectedNodeRedis(createClient({ url, socket: { reconnectStrategy: 20 } })),
  ioredis: ({ port }) =>
    connectedIoredis(
      new Redis(port, "127.0.0.1", { retryStrategy: () => 20, maxRetriesPerRequest: null }),
    ),
};

describe.skipIf(isMissing).each(["node-redis", "ioredis"] as const)(
  "Redis is away, %s:",
  (name) => {
    it("a server that is killed refuses at once, and loses nothing that it has acknowledged", async () => {
      const server = await started({ durable: true });
      const store = redisStore(await connected(CLIENTS[name], server));
      const key = newKey();
      await store.insert(key, entryOf("kept", { subject: "s", lastActive: now() }));
      const before = await store.get(key);
      await server.kill();
      await eventually(() => refused(store.get(key)));
      const refusals = [
        refused(store.get(key)),
        refused(store.delete(key)),
        refused(store.touch(key, now(), now() + 900)),
      ];
      for (const { message } of await Promise.all(refusals))
        expect(message, "at once, not after the timeout").not.toMatch(/in time/);
      await server.restart();
      expect(await eventually(() => store.get(key))).toEqual(before);
      expect(await keysBySubject(store, "s")).toEqual([key]);
    });

    it("a command whose server dies before it responds is refused without waiting for the timeout", async () => {
      const server = await started();
      const store = redisStore(await connected(CLIENTS[name], server), { timeout: 2_000 });
      server.pause();
      const answer = refused(store.get(newKey()));
      await server.kill();
      await answer;
    });

    it("[S2] a frozen server: every method rejects in time; after its death and restart nothing of that is done", async () => {
      const server = await started({ durable: true });
      const store = redisStore(await connected(CLIENTS[name], server), { timeout: TIMEOUT });
      const [key, other] = [newKey(), newKey()];
      await eventually(() =>
        store.insert(key, entryOf("kept", { subject: "s", lastActive: now() })),
      );
      const before = (await eventually(() => store.get(key)))!;
      server.pause();
      const refusals = await Promise.all([
        refused(store.get(key)),
        refused(store.insert(other, entryOf("other", { subject: "s" }))),
        refused(store.replace(key, entryOf("late"), before.version)),
        refused(store.touch(key, now() + 5, now() + 900)),
        refused(store.delete(key)),
        refused(store.listBySubject("s")),
      ]);
      for (const { message } of refusals) expect(message).toMatch(/in time/);
      await server.restart();
      expect(await eventually(() => store.get(key))).toEqual(before);
      expect(await store.get(other)).toBeUndefined();
    });

    it("a frozen server that goes on: steps that had not left this process are not taken any more", async () => {
      const server = await started();
      const store = redisStore(await connected(CLIENTS[name], server), { timeout: TIMEOUT });
      const [key, subject] = [newKey(), newKey()];
      // From here on the server knows the scripts.
      await eventually(() => store.insert(newKey(), entryOf("first", { subject: newKey() })));
      server.pause();
      // The index is the first of two steps; it lies in the server's socket.
      await refused(store.insert(key, entryOf("late", { subject })));
      server.resume();
      await eventually(async () => {
        expect(await control(server, (client) => client.exists(`idpauth:subject:${subject}`))).toBe(
          1,
        );
      });
      // Whoever comes next is answered after all that was sent before.
      for (let look = 0; look < 20; look += 1) expect(await store.get(key)).toBeUndefined();
      expect(await keysBySubject(store, subject)).toEqual([]);
    });

    it("a frozen server that goes on: what lay in its socket runs, and does no harm", async () => {
      const server = await started();
      const store = redisStore(await connected(CLIENTS[name], server), { timeout: TIMEOUT });
      const winner = redisStore(await connected(CLIENTS[name], server));
      const [replaced, touched] = [newKey(), newKey()];
      await eventually(() => store.insert(replaced, entryOf("first")));
      await eventually(() => store.insert(touched, entryOf("first", { lastActive: now() - 100 })));
      const { version } = (await eventually(() => store.get(replaced)))!;
      server.pause();
      const before = winner.replace(replaced, entryOf("winner"), version);
      await Promise.all([
        refused(store.replace(replaced, entryOf("late"), version)),
        refused(store.touch(touched, now() - 50, now() + 100)),
      ]);
      server.resume();
      await before.catch(() => undefined);
      const texts = [(await winner.get(replaced))!, (await winner.get(touched))!].map(textOf);
      expect(["winner", "late"], "one of the two, whole").toContain(texts[0]);
      expect(texts[1]).toBe("first");
      expect((await winner.get(touched))!.expiresAt).toBeGreaterThan(now() + 500);
    });

    it("a client that queues commands is refused at start, and its late commands overwrite nothing and bring nothing back", async () => {
      const server = await started({ durable: true });
      const store = redisStore(await connected(QUEUEING[name], server), { timeout: TIMEOUT });
      expect(store.problems).not.toEqual([]);
      const other = redisStore(await connected(CLIENTS[name], server));
      const [replaced, deleted, touched, fresh] = [newKey(), newKey(), newKey(), newKey()];
      const versions = new Map<string, string>();
      for (const key of [replaced, deleted, touched]) {
        await eventually(() =>
          store.insert(key, entryOf("first", { subject: "s", lastActive: now() })),
        );
        versions.set(key, (await eventually(() => store.get(key)))!.version);
      }
      await server.kill();
      // A command that waits for the whole time limit is one that the client keeps.
      await eventually(async () => {
        expect((await refused(store.get(fresh))).message).toMatch(/in time/);
      });
      await Promise.all([
        refused(store.replace(replaced, entryOf("late"), versions.get(replaced)!)),
        refused(store.replace(deleted, entryOf("late"), versions.get(deleted)!)),
        refused(store.touch(deleted, now() + 5, now() + 900)),
        refused(store.touch(touched, now() - 50, now() + 100)),
        refused(store.insert(fresh, entryOf("late"))),
      ]);
      await server.restart();
      // Another process may come before or after the late commands.
      const isReplaced = await eventually(() =>
        other.replace(replaced, entryOf("winner"), versions.get(replaced)!),
      );
      await eventually(() => other.delete(deleted));
      // The server answers this after everything that the client had queued before.
      await eventually(() => store.get(fresh));
      expect(textOf((await other.get(replaced))!)).toBe(isReplaced ? "winner" : "first");
      expect(await other.get(deleted)).toBeUndefined();
      expect(await other.get(touched)).toMatchObject({ version: versions.get(touched) });
      expect((await other.get(touched))!.expiresAt).toBeGreaterThan(now() + 500);
      // The restarted server knows no script, and the store sends none after it has rejected.
      expect(await other.get(fresh)).toBeUndefined();
    });

    it("[S6] a server without memory left refuses writes, and still reads and signs out", async () => {
      const server = await started({
        args: ["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"],
      });
      const store = redisStore(await connected(CLIENTS[name], server));
      const [key, filling] = [newKey(), Buffer.alloc(200_000, 1)];
      await store.insert(key, entryOf("kept", { subject: "s" }));
      const failure = await (async () => {
        for (;;) {
          const error = await store
            .insert(newKey(), { data: filling, expiresAt: now() + 600 })
            .then(
              () => undefined,
              (reason: unknown) => reason,
            );
          if (error !== undefined) return error as StoreUnavailableError;
        }
      })();
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(failure.cause).toMatchObject({ message: expect.stringMatching(/^OOM/) as string });
      expect(textOf((await store.get(key))!)).toBe("kept");
      expect((await store.delete(key))?.subject).toBe("s");
    });

    it("a replica, an unwilling user, a missing command: a refusal that shows nothing of what was sent", async () => {
      const primary = await started({ args: NO_SYNC_DELAY });
      const replica = await started({
        args: [
          "--replicaof",
          `127.0.0.1 ${String(primary.port)}`,
          "--rename-command",
          "EVALSHA",
          "",
        ],
      });
      const key = newKey();
      await eventually(async () => {
        expect(await control(replica, (client) => client.info("replication"))).toContain(
          "master_link_status:up",
        );
      });
      const failures: string[] = [];
      const told = async (work: Promise<unknown>): Promise<string> => {
        const failure = await refused(work);
        failures.push(inspect(failure, { depth: 10 }));
        return (failure.cause as Error).message;
      };
      const onPrimary = redisStore(await connected(CLIENTS[name], primary));
      await onPrimary.insert(key, entryOf("sealed bytes"));
      const onReplica = redisStore(await connected(CLIENTS[name], replica));
      expect(await told(onReplica.insert(newKey(), entryOf("sealed bytes")))).toMatch(
        /unknown command 'EVALSHA'$/i,
      );
      await control(replica, (client) =>
        client.sendCommand(["CONFIG", "SET", "replica-serve-stale-data", "no"]),
      );
      await primary.kill();
      await eventually(async () => {
        expect(await told(onReplica.get(key))).toMatch(/^MASTERDOWN/);
      });
      await primary.restart();
      await control(primary, (client) =>
        client.sendCommand(["ACL", "SETUSER", "default", "-eval", "-evalsha"]),
      );
      await eventually(async () => {
        expect(await told(onPrimary.insert(key, entryOf("sealed bytes")))).toMatch(/^NOPERM/);
      });
      await control(primary, (client) =>
        client.sendCommand(["ACL", "SETUSER", "default", "+@all"]),
      );
      await control(primary, (client) =>
        client.sendCommand(["CONFIG", "SET", "min-replicas-to-write", "3"]),
      );
      expect(await told(onPrimary.insert(key, entryOf("sealed bytes")))).toMatch(/NOREPLICAS/);
      for (const failure of failures) {
        expect(failure).not.toContain(key);
        expect(failure).not.toContain(inspect(Buffer.from("sealed bytes")).slice(8, 20));
      }
    });

    it("a replica that has become read-only under the client refuses writes", async () => {
      const server = await started();
      const store = redisStore(await connected(CLIENTS[name], server));
      const key = newKey();
      await store.insert(key, entryOf("kept"));
      await control(server, (client) => client.sendCommand(["REPLICAOF", "127.0.0.1", "1"]));
      const failure = await refused(store.touch(key, now(), now() + 900));
      expect(failure.cause).toMatchObject({ message: expect.stringMatching(/READONLY/) as string });
    });
  },
);

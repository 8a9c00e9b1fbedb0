import { randomBytes } from "node:crypto";
import { Cluster, Redis } from "ioredis";
import { inspect } from "node:util";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import { redisStore, type RedisClient } from "../../src/stores/redis/redis-store.js";
import {
  DELETE,
  INDEX,
  INSERT,
  REPLACE,
  TOUCH,
  type RedisScript,
} from "../../src/stores/redis/scripts.js";
import { packEntry, stampDigits } from "../../src/stores/redis/entry-format.js";
import { testStore } from "../../packages/idpauth-conformance/src/index.js";
import { eventually } from "../support/eventually.js";
import { CLIENTS, control, type ConnectedClient } from "../support/redis-clients.js";
import {
  dumpRedis,
  faketimeForTests,
  redisForTests,
  startRedis,
  type RedisServer,
} from "../support/redis-server.js";
import { keysBySubject } from "../support/listed-keys.js";

const isMissing = (await redisForTests()) === undefined || (await faketimeForTests()) === undefined;

const newKey = (): string => randomBytes(32).toString("base64url");

describe.skipIf(isMissing)("a Redis server", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ faketime: true, durable: true });
  });
  afterAll(() => server.stop());

  for (const [name, connect] of Object.entries(CLIENTS)) {
    describe(name, () => {
      let connected: ConnectedClient;
      const others: ConnectedClient[] = [];
      beforeAll(async () => {
        connected = await connect(server);
      });
      afterAll(() => {
        for (const { close } of [connected, ...others]) close();
      });

      testStore({
        name: `redis over ${name}`,
        test: it,
        create: () => ({
          store: redisStore(connected.client),
          now: () => server.now(),
          advance: (seconds) => {
            server.advance(seconds);
            return Promise.resolve();
          },
          another: async () => {
            const other = await connect(server);
            others.push(other);
            return redisStore(other.client);
          },
          outage: {
            begin: () => server.kill(),
            end: async () => {
              await server.restart();
              await eventually(() => redisStore(connected.client).get("anything"));
            },
          },
        }),
      });

      describe("the index by subject", () => {
        const entry = (subject: string, expiresAt: number): Entry => ({
          data: Buffer.from("data"),
          expiresAt,
          subject,
        });

        it("an orphan, left by a crash between the two steps, is not listed", async () => {
          const store = redisStore(connected.client);
          const [subject, key, orphan, foreign] = [newKey(), newKey(), newKey(), newKey()];
          await store.insert(key, entry(subject, server.now() + 100));
          await store.insert(foreign, entry(`${subject}x`, server.now() + 100));
          await control(server, (client) =>
            client.zAdd(
              `idpauth:subject:${subject}`,
              [orphan, foreign].map((value) => ({ value, score: server.now() + 100 })),
            ),
          );
          expect(await keysBySubject(store, subject)).toEqual([key]);
        });

        it("a page costs two commands, and many orphans hide no session", async () => {
          const store = redisStore(connected.client);
          const [subject, key] = [newKey(), newKey()];
          await store.insert(key, entry(subject, server.now() + 100));
          await control(server, (client) =>
            client.zAdd(
              `idpauth:subject:${subject}`,
              Array.from({ length: 2_000 }, () => ({ value: newKey(), score: server.now() + 100 })),
            ),
          );
          const before = await commandCalls(server);
          expect(await keysBySubject(store, subject)).toEqual([key]);
          const after = await commandCalls(server);
          const made = ["zscan", "mget", "get", "getrange"].map(
            (name) => (after.get(name) ?? 0) - (before.get(name) ?? 0),
          );
          expect(made[0]).toBe(made[1]);
          expect(made[0]).toBeLessThan(30);
          expect(made.slice(2)).toEqual([0, 0]);
        });

        it("drops expired members when it is written to, and ends by itself with its last member", async () => {
          const store = redisStore(connected.client);
          const subject = newKey();
          const name = `idpauth:subject:${subject}`;
          for (let session = 0; session < 5; session += 1)
            await store.insert(newKey(), entry(subject, server.now() + 100));
          const [long, key] = [newKey(), newKey()];
          await store.insert(long, entry(subject, server.now() + 150));
          server.advance(100);
          await store.insert(key, entry(subject, server.now() + 100));
          expect((await control(server, (client) => client.zRange(name, 0, -1))).sort()).toEqual(
            [long, key].sort(),
          );
          server.advance(101);
          expect(await control(server, (client) => client.exists(name))).toBe(0);
        });

        it("lives as long as a touch or a replace prolongs the record, also when others have expired", async () => {
          for (const prolong of ["touch", "replace"] as const) {
            const store = redisStore(connected.client);
            const [subject, key] = [newKey(), newKey()];
            await store.insert(key, entry(subject, server.now() + 100));
            const until = server.now() + 300;
            if (prolong === "touch") await store.touch(key, null, until);
            else
              await store.replace(
                key,
                entry(subject, until),
                (await store.get(key))?.version ?? "",
              );
            await store.insert(newKey(), entry(subject, server.now() + 10));
            server.advance(290);
            expect(await keysBySubject(store, subject), prolong).toEqual([key]);
          }
        });

        it("is not moved back by a step that comes late", async () => {
          const [subject, key] = [newKey(), newKey()];
          const name = `idpauth:subject:${subject}`;
          for (const until of [300, 100]) {
            const args = [key, stampDigits(server.now() + until)];
            await control(server, (client) =>
              client.sendCommand(["EVAL", INDEX.source, "1", name, ...args]),
            );
          }
          expect(await control(server, (client) => client.zScore(name, key))).toBeGreaterThan(
            server.now() + 200,
          );
          expect(await control(server, (client) => client.ttl(name))).toBeGreaterThan(200);
        });

        it("a replace that would shorten the life keeps the record in the index of a new subject until its end", async () => {
          const store = redisStore(connected.client);
          const [subject, key] = [newKey(), newKey()];
          await store.insert(key, { data: Buffer.from("pending"), expiresAt: server.now() + 300 });
          await store.replace(
            key,
            entry(subject, server.now() + 10),
            (await store.get(key))?.version ?? "",
          );
          server.advance(290);
          expect(await keysBySubject(store, subject)).toEqual([key]);
        });

        it("subjects that change to and fro at once leave every record in the index of the subject it has", async () => {
          const store = redisStore(connected.client);
          const subjects = [newKey(), newKey()];
          const key = newKey();
          await store.insert(key, entry(subjects[0]!, server.now() + 100));
          await Promise.all(
            subjects.map(async (subject) => {
              for (let write = 0; write < 50; write += 1) {
                const stored = await store.get(key);
                await store.replace(key, entry(subject, server.now() + 100), stored?.version ?? "");
              }
            }),
          );
          const { subject } = (await store.get(key))!;
          expect(await keysBySubject(store, subject!)).toEqual([key]);
          expect(
            await keysBySubject(
              store,
              subjects.find((other) => other !== subject)!,
            ),
          ).toEqual([]);
        });

        it("lists a thousand sessions", async () => {
          const store = redisStore(connected.client);
          const subject = newKey();
          const keys = Array.from({ length: 1000 }, newKey);
          // Not all at once, because the store's time limit also counts the time that a command
          // waits in this process.
          for (let next = 0; next < keys.length; next += 50)
            await Promise.all(
              keys
                .slice(next, next + 50)
                .map((key) => store.insert(key, entry(subject, server.now() + 100))),
            );
          expect((await keysBySubject(store, subject)).sort()).toEqual(keys.sort());
        });
      });

      it("a touch rewrites two stamps in place, not the data", async () => {
        const store = redisStore(connected.client);
        const key = newKey();
        await store.insert(key, {
          data: Buffer.alloc(100_000, 7),
          expiresAt: server.now() + 100,
          lastActive: server.now(),
        });
        const before = await commandCalls(server);
        await store.touch(key, server.now() + 5, server.now() + 200);
        const after = await commandCalls(server);
        expect(after.get("setrange")! - (before.get("setrange") ?? 0)).toBe(2);
        expect(after.get("set")).toBe(before.get("set"));
      });

      it("a write that the client sends twice says twice that it was done; another one does not", async () => {
        const key = `idpauth:session:${newKey()}`;
        const [first, second, third] = ["a", "b", "c"].map((letter) => letter.repeat(22)) as [
          string,
          string,
          string,
        ];
        const value = (version: string): Buffer =>
          packEntry({ data: Buffer.from("a"), expiresAt: server.now() + 100 }, version);
        const run = ({ source }: RedisScript, ...args: (string | Buffer)[]): Promise<unknown> =>
          control(server, (client) => client.sendCommand(["EVAL", source, "1", key, ...args]));
        expect(await run(INSERT, value(first))).toEqual([1]);
        expect(await run(INSERT, value(first))).toEqual([1]);
        expect(await run(INSERT, value(second))).toEqual([0]);
        expect(await run(REPLACE, value(second), first, "", "0")).toEqual([1]);
        expect(await run(REPLACE, value(second), first, "", "0")).toEqual([1]);
        expect(await run(REPLACE, value(third), first, "", "0")).toEqual([0]);
        expect(await run(INSERT, value(first))).toEqual([0]);
      });

      it("a script that runs late overwrites nothing, moves nothing back and brings nothing back", async () => {
        const store = redisStore(connected.client);
        const run = (
          { source }: RedisScript,
          key: string,
          ...args: (string | Buffer)[]
        ): Promise<unknown> =>
          control(server, (client) =>
            client.sendCommand(["EVAL", source, "1", `idpauth:session:${key}`, ...args]),
          );
        const late = packEntry(
          { data: Buffer.from("late"), expiresAt: server.now() + 50 },
          "l".repeat(22),
        );
        const lateTouch = [stampDigits(server.now() - 9), stampDigits(server.now() + 50), "", "0"];
        const key = newKey();
        await store.insert(key, {
          data: Buffer.from("a"),
          expiresAt: server.now() + 100,
          lastActive: server.now(),
        });
        const { version } = (await store.get(key))!;
        await store.replace(
          key,
          { data: Buffer.from("b"), expiresAt: server.now() + 100 },
          version,
        );
        const before = await store.get(key);
        expect(await run(REPLACE, key, late, version, "", "0")).toEqual([0]);
        expect(await run(INSERT, key, late)).toEqual([0]);
        expect(await run(TOUCH, key, ...lateTouch)).toEqual([1]);
        expect(await store.get(key)).toEqual(before);
        await store.delete(key);
        expect(await run(REPLACE, key, late, before!.version, "", "0")).toEqual([0]);
        expect(await run(TOUCH, key, ...lateTouch)).toEqual([0]);
        expect(await run(DELETE, key)).toBeNull();
        expect(await store.get(key)).toBeUndefined();
      });

      it("knows its scripts again after SCRIPT FLUSH", async () => {
        const store = redisStore(connected.client);
        const key = newKey();
        await control(server, (client) => client.scriptFlush());
        expect(
          await store.insert(key, {
            data: Buffer.from("a"),
            expiresAt: server.now() + 100,
            subject: "s",
          }),
        ).toBe(true);
        await control(server, (client) => client.scriptFlush());
        expect(await store.touch(key, null, server.now() + 200)).toBe(true);
        await control(server, (client) => client.scriptFlush());
        expect((await store.delete(key))?.expiresAt).toBeGreaterThan(0);
      });

      it("keeps to its prefix", async () => {
        const [one, other] = [
          redisStore(connected.client, { prefix: "one:" }),
          redisStore(connected.client, { prefix: "other:" }),
        ];
        const key = newKey();
        await one.insert(key, {
          data: Buffer.from("a"),
          expiresAt: server.now() + 100,
          subject: key,
        });
        expect(await other.get(key)).toBeUndefined();
        expect(await keysBySubject(other, key)).toEqual([]);
        expect(await keysBySubject(one, key)).toEqual([key]);
      });

      it("what another format wrote is neither a session nor none, and is not written over", async () => {
        const store = redisStore(connected.client);
        for (const value of ["2".repeat(200), "short"]) {
          const key = newKey();
          await control(server, (client) => client.set(`idpauth:session:${key}`, value));
          const entry = { data: Buffer.from("a"), expiresAt: server.now() + 100 };
          await expect(store.get(key)).rejects.toThrow(StoreUnavailableError);
          await expect(store.replace(key, entry, "2".repeat(22))).rejects.toThrow(
            StoreUnavailableError,
          );
          await expect(store.touch(key, 1, server.now() + 200)).rejects.toThrow(
            StoreUnavailableError,
          );
          expect(await store.insert(key, entry)).toBe(false);
          expect(await control(server, (client) => client.get(`idpauth:session:${key}`))).toBe(
            value,
          );
          // It may be a session of the user whose logout scans.
          await expect(scanAll(store)).rejects.toThrow(StoreUnavailableError);
          await control(server, (client) => client.del(`idpauth:session:${key}`));
        }
      });

      it("an error of the server comes as StoreUnavailableError and repeats nothing that was sent", async () => {
        const store = redisStore(connected.client);
        const [key, secret] = [newKey(), "sealed bytes that nobody must see"];
        await control(server, (client) => client.hSet(`idpauth:session:${key}`, "a", "b"));
        const failures = await Promise.all(
          [
            store.get(key),
            store.insert(key, { data: Buffer.from(secret), expiresAt: 2_000_000_000 }),
          ].map((work) => work.catch((error: unknown) => error)),
        );
        for (const failure of failures) {
          expect(failure).toBeInstanceOf(StoreUnavailableError);
          const cause = (failure as StoreUnavailableError).cause as Error;
          expect(cause.message).toContain("WRONGTYPE");
          expect(Object.keys(cause)).not.toContain("command");
          expect(inspect(failure, { depth: 10 })).not.toContain(key);
          expect(inspect(failure, { depth: 10 })).not.toContain(
            inspect(Buffer.from(secret)).slice(0, 20),
          );
        }
      });

      it("misuse is a TypeError and writes nothing", async () => {
        const store = redisStore(connected.client);
        const key = newKey();
        for (const entry of [
          { data: Buffer.from("a"), expiresAt: 1.5 },
          { data: Buffer.from("a"), expiresAt: Number.NaN },
          {
            data: Buffer.from("a"),
            expiresAt: server.now() + 100,
            lastActive: Number.POSITIVE_INFINITY,
          },
          { data: "text" as unknown as Uint8Array, expiresAt: server.now() + 100 },
        ]) {
          await expect(store.insert(key, entry)).rejects.toThrow(TypeError);
        }
        expect(await store.get(key)).toBeUndefined();
      });
    });
  }

  it("ioredis with enableAutoPipelining: every method, alone and many at once", async () => {
    const client = new Redis(server.port, "127.0.0.1", {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableAutoPipelining: true,
    });
    await new Promise((resolve) => client.once("ready", resolve));
    onTestFinished(() => {
      client.disconnect();
    });
    const store = redisStore(client);
    expect(store.problems).toEqual([]);
    await everyMethod(store, server.now() + 100);
    await control(server, (admin) => admin.scriptFlush());
    await everyMethod(store, server.now() + 100);
  });

  it("dumpRedis shows all keys and values as they are stored", async () => {
    const { client, close } = await CLIENTS.ioredis(server);
    const [key, subject] = [newKey(), newKey()];
    await redisStore(client).insert(key, {
      data: Buffer.from([0, 255, 1, 254]),
      expiresAt: server.now() + 100,
      subject,
    });
    close();
    const dump = await dumpRedis(server.url);
    for (const part of [
      `idpauth:session:${key}`,
      `idpauth:subject:${subject}`,
      Buffer.from([0, 255, 1, 254]),
    ]) {
      expect(dump.includes(part)).toBe(true);
    }
  });
});

describe("what the store refuses", () => {
  const listened = <Client extends { on(event: "error", listener: () => void): unknown }>(
    client: Client,
  ): Client => {
    client.on("error", () => undefined);
    return client;
  };
  const sentinelRootNodes = [{ host: "127.0.0.1", port: 1 }];
  const nodes = [{ host: "127.0.0.1", port: 1 }];
  const rootNodes = [{ url: "redis://127.0.0.1:1" }];

  /** Nothing here connects: the settings are read without I/O. */
  const table: [what: string, client: () => RedisClient, settings: RegExp[]][] = [
    [
      "createClient as recommended",
      () => listened(createClient({ disableOfflineQueue: true })),
      [],
    ],
    [
      "createClient with its defaults",
      () => listened(createClient()),
      [/disableOfflineQueue: true in createClient/],
    ],
    [
      "createClient with a URL alone",
      () => listened(createClient({ url: "redis://127.0.0.1:1" })),
      [/disableOfflineQueue: true/],
    ],
    [
      "createClient without a listener",
      () => createClient({ disableOfflineQueue: true }),
      [/on\("error"/],
    ],
    [
      "createClient with a socket timeout",
      () => listened(createClient({ disableOfflineQueue: true, socket: { socketTimeout: 1000 } })),
      [/reconnectStrategy/],
    ],
    [
      "createClient with a socket timeout and a strategy",
      () =>
        listened(
          createClient({
            disableOfflineQueue: true,
            socket: { socketTimeout: 1000, reconnectStrategy: 100 },
          }),
        ),
      [],
    ],
    // A Cluster or Sentinel client of this package has no public options.
    [
      "createCluster as recommended",
      () => listened(createCluster({ rootNodes, defaults: { disableOfflineQueue: true } })),
      [],
    ],
    [
      "createSentinel as recommended",
      () =>
        listened(
          createSentinel({
            name: "one",
            sentinelRootNodes,
            nodeClientOptions: { disableOfflineQueue: true },
            maxCommandRediscovers: 0,
            scanInterval: 1000,
          }),
        ),
      [],
    ],
    [
      "Redis as recommended",
      () =>
        new Redis({
          lazyConnect: true,
          enableOfflineQueue: false,
          autoResendUnfulfilledCommands: false,
        }),
      [],
    ],
    [
      "Redis with its defaults",
      () => new Redis({ lazyConnect: true }),
      [/enableOfflineQueue: false/, /autoResendUnfulfilledCommands: false/],
    ],
    [
      "Redis that asks Sentinel for a replica",
      () =>
        new Redis({
          lazyConnect: true,
          enableOfflineQueue: false,
          autoResendUnfulfilledCommands: false,
          sentinels: sentinelRootNodes,
          name: "one",
          role: "slave",
          failoverDetector: true,
        }),
      [/role/],
    ],
    [
      "Redis with Sentinel as recommended",
      () =>
        new Redis({
          lazyConnect: true,
          enableOfflineQueue: false,
          autoResendUnfulfilledCommands: false,
          sentinels: sentinelRootNodes,
          name: "one",
          failoverDetector: true,
        }),
      [],
    ],
    [
      "Redis with Sentinel that doesn't learn of a planned failover",
      () =>
        new Redis({
          lazyConnect: true,
          enableOfflineQueue: false,
          autoResendUnfulfilledCommands: false,
          sentinels: sentinelRootNodes,
          name: "one",
        }),
      [/failoverDetector: true/],
    ],
    [
      "Cluster as recommended",
      () => new Cluster(nodes, { lazyConnect: true, enableOfflineQueue: false }),
      [],
    ],
    [
      "Cluster with its defaults",
      () => new Cluster(nodes, { lazyConnect: true }),
      [/enableOfflineQueue: false/],
    ],
    [
      "Cluster that reads from replicas",
      () => new Cluster(nodes, { lazyConnect: true, enableOfflineQueue: false, scaleReads: "all" }),
      [/scaleReads/],
    ],
    [
      "a pool",
      () => createClientPool({ disableOfflineQueue: true }),
      [/createClient, createCluster or createSentinel/],
    ],
    ["something else", () => ({ status: "ready" }) as unknown as RedisClient, [/createClient/]],
  ];

  it.each(table)("%s", (_what, create, settings) => {
    const problems = redisStore(create()).problems ?? [];
    expect(problems.map(({ remedy }) => remedy)).toEqual(
      settings.map((setting) => expect.stringMatching(setting)),
    );
  });

  it("a listener that is added after the store counts", () => {
    const client = createClient({ disableOfflineQueue: true });
    const store = redisStore(client);
    expect(store.problems).toHaveLength(1);
    client.on("error", () => undefined);
    expect(store.problems).toEqual([]);
  });

  it.each([undefined, null, "redis://127.0.0.1", 6379])(
    "%s is no client: a TypeError",
    (client) => {
      expect(() => redisStore(client as unknown as RedisClient)).toThrow(TypeError);
    },
  );

  it("options without a valid value: a TypeError", () => {
    const client = createClient();
    for (const timeout of [0, -1, 1.5, 2_001, Number.NaN, "2000"])
      expect(() => redisStore(client, { timeout: timeout as number })).toThrow(TypeError);
    expect(() => redisStore(client, { prefix: 1 as unknown as string })).toThrow(TypeError);
  });

  it("a kind of client that is not known gives nothing", async () => {
    await expect(redisStore({} as RedisClient).get("key")).rejects.toThrow(StoreUnavailableError);
  });

  it.each([
    ["createClient", () => createClient({ disableOfflineQueue: true })],
    ["createCluster", () => createCluster({ rootNodes, defaults: { disableOfflineQueue: true } })],
    [
      "createSentinel",
      () => createSentinel({ name: "one", sentinelRootNodes, maxCommandRediscovers: 0 }),
    ],
  ])("%s that nobody has connected: every method says so", async (_what, create) => {
    const store = redisStore(create());
    const entry = { data: Buffer.from("a"), expiresAt: 2_000_000_000, subject: "s" };
    const answers = [
      store.get("key"),
      store.insert("key", entry),
      store.replace("key", entry, "version"),
      store.touch("key", 1, 2_000_000_000),
      store.delete("key"),
      store.listBySubject("s"),
    ];
    for (const answer of answers) {
      await expect(answer).rejects.toThrow(StoreUnavailableError);
      await expect(answer).rejects.toThrow(/isn't connected: call and await its connect/);
    }
  });
});

async function everyMethod(store: SessionStore, expiresAt: number): Promise<void> {
  const subject = newKey();
  const keys = Array.from({ length: 40 }, newKey);
  const done = keys.map(() => true);
  const insert = (key: string): Promise<boolean> =>
    store.insert(key, { data: Buffer.from(key), expiresAt, subject });
  expect(await Promise.all(keys.map(insert))).toEqual(done);
  const stored = await Promise.all(keys.map((key) => store.get(key)));
  expect(stored.map((entry) => Buffer.from(entry!.data as Uint8Array).toString())).toEqual(keys);
  const entry = { data: Buffer.from([0, 255]), expiresAt, subject };
  expect(
    await Promise.all(keys.map((key, index) => store.replace(key, entry, stored[index]!.version))),
  ).toEqual(done);
  expect(await Promise.all(keys.map((key) => store.touch(key, 1, expiresAt + 10)))).toEqual(done);
  expect((await keysBySubject(store, subject)).sort()).toEqual([...keys].sort());
  const deleted = await Promise.all(keys.map((key) => store.delete(key)));
  expect(deleted.map((gone) => Buffer.from(gone!.data as Uint8Array))).toEqual(
    keys.map(() => entry.data),
  );
  expect(await keysBySubject(store, subject)).toEqual([]);
}

/** How often the server has run each command, by scripts too. */
function commandCalls(server: RedisServer): Promise<Map<string, number>> {
  return control(server, async (client) => {
    const lines = (await client.info("commandstats")).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
    return new Map(Array.from(lines, ([, name = "", calls]) => [name, Number(calls)]));
  });
}

async function scanAll({ lossyIndex }: SessionStore): Promise<void> {
  let cursor: string | undefined;
  do cursor = (await lossyIndex!.scan(cursor)).next;
  while (cursor !== undefined);
}

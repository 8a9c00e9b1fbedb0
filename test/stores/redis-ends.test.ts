import { Redis } from "ioredis";
import { createClient, createSentinel } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { SessionStore } from "../../src/ports/session-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { eventually } from "../support/eventually.js";
import {
  CLIENTS,
  connectedIoredis,
  connectedNodeRedis,
  control,
  type ConnectedClient,
} from "../support/redis-clients.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { startSilentProxy } from "../support/silent-proxy.js";
import { last, told } from "./told-ends.js";

const isMissing = (await redisForTests()) === undefined;
const NAMES = ["node-redis", "ioredis"] as const;

function subscribers(server: RedisServer): Promise<number> {
  return control(
    server,
    async (client) =>
      (await client.sendCommand<[string, number]>(["PUBSUB", "NUMSUB", "idpauth:ended"]))[1],
  );
}

async function connected(
  name: (typeof NAMES)[number],
  server: RedisServer,
): Promise<ConnectedClient> {
  const client = await CLIENTS[name](server);
  onTestFinished(() => {
    client.close();
  });
  return client;
}

function watchedBy(store: SessionStore): ReturnType<typeof told> {
  const watcher = told();
  store.watchEnds?.(watcher);
  onTestFinished(() => store.close?.());
  return watcher;
}

describe.skipIf(isMissing).each(NAMES)("announced ends over Redis, %s:", (name) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ durable: true });
  });
  afterAll(() => server.stop());

  it("the store has a connection of its own while there is a watcher, and none before and after", async () => {
    const store = redisStore((await connected(name, server)).client);
    await store.announceEnd?.("nobody", "listens");
    expect(await subscribers(server)).toBe(0);
    const watcher = told();
    const remove = store.watchEnds?.(watcher);
    await last(watcher, "true");
    expect(await subscribers(server)).toBe(1);
    remove?.();
    await eventually(async () => expect(await subscribers(server)).toBe(0));
    expect(await store.get("anything")).toBeUndefined();
  });

  it("another prefix is another channel", async () => {
    const { client } = await connected(name, server);
    const [one, two] = [redisStore(client), redisStore(client, { prefix: "other:" })];
    const [first, second] = [watchedBy(one), watchedBy(two)];
    await last(first, "true");
    await last(second, "true");
    await one.announceEnd?.("key", "first");
    await two.announceEnd?.("key", "second");
    await last(first, "key first");
    await last(second, "key second");
    expect([first.log, second.log]).toEqual([
      ["true", "key first"],
      ["true", "key second"],
    ]);
  });

  it("after the server's death the watcher is connected again, and gets what is announced then", async () => {
    const store = redisStore((await connected(name, server)).client);
    const watcher = watchedBy(store);
    await last(watcher, "true");
    await server.kill();
    await last(watcher, "false");
    await server.restart();
    await last(watcher, "true");
    await store.announceEnd?.("key", "later");
    await last(watcher, "key later");
  });

  it("a connection that is closed by force opens again, and ends no process", async () => {
    const store = redisStore((await connected(name, server)).client);
    const watcher = watchedBy(store);
    await last(watcher, "true");
    await control(server, (client) => client.sendCommand(["CLIENT", "KILL", "TYPE", "pubsub"]));
    await eventually(() => {
      expect(watcher.log).toEqual(["true", "false", "true"]);
      return Promise.resolve();
    });
  });

  it("a connection that goes silent is found by the missing proof, and replaced", async () => {
    const proxy = await startSilentProxy(server.port);
    onTestFinished(() => proxy.stop());
    const client = await connected(name, server);
    // Only the subscriber goes through the proxy.
    const real = client.client as unknown as { duplicate(options?: object): unknown };
    const place = { host: "127.0.0.1", port: proxy.port };
    const duplicate = real.duplicate.bind(real);
    real.duplicate = (options) =>
      duplicate({ ...options, ...place, socket: place, url: undefined });
    const clock = new TestClock();
    const store = redisStore(client.client, { clock });
    const watcher = watchedBy(store);
    await last(watcher, "true");
    proxy.silence();
    await clock.advanceAsync(35_000);
    await last(watcher, "false");
    await last(watcher, "true");
    await store.announceEnd?.("key", "again");
    await last(watcher, "key again");
  });

  it("a user without the permission for the channel gets a store that works, and a watcher that is not connected", async () => {
    await control(server, (client) =>
      client.sendCommand([
        "ACL",
        "SETUSER",
        "shut",
        "on",
        ">secret",
        "~*",
        "resetchannels",
        "+@all",
      ]),
    );
    const client =
      name === "ioredis"
        ? await connectedIoredis(
            new Redis(server.port, "127.0.0.1", {
              username: "shut",
              password: "secret",
              enableOfflineQueue: false,
            }),
          )
        : await connectedNodeRedis(
            createClient({
              url: server.url,
              username: "shut",
              password: "secret",
              disableOfflineQueue: true,
            }),
          );
    onTestFinished(() => client.close());
    const clock = new TestClock();
    const store = redisStore(client.client, { clock });
    const watcher = watchedBy(store);
    await clock.advanceAsync(60_000);
    await store.announceEnd?.("key", "refused");
    expect(watcher.log).toEqual([]);
    expect(await store.get("anything")).toBeUndefined();
  });

  it("a client that the application has closed is not opened again", async () => {
    const { client, close } = await CLIENTS[name](server);
    const clock = new TestClock();
    const store = redisStore(client, { clock });
    const watcher = watchedBy(store);
    await last(watcher, "true");
    close();
    // The client closes in its own time. Until then, a failed proof may open one more connection,
    // and the next proof closes it.
    await eventually(async () => {
      await clock.advanceAsync(60_000);
      expect(watcher.log.at(-1)).toBe("false");
      expect(await subscribers(server)).toBe(0);
    });
  });
});

describe.skipIf(isMissing)("announced ends over Sentinel", () => {
  it.each(NAMES)("%s", async (name) => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const sentinel = await startRedis({
      sentinel: [`sentinel monitor primary 127.0.0.1 ${String(server.port)} 1`],
    });
    onTestFinished(() => sentinel.stop());
    const node = { host: "127.0.0.1", port: sentinel.port };
    const client =
      name === "ioredis"
        ? await connectedIoredis(
            new Redis({ sentinels: [node], name: "primary", enableOfflineQueue: false }),
          )
        : await connectedNodeRedis(
            createSentinel({
              name: "primary",
              sentinelRootNodes: [node],
              nodeClientOptions: { disableOfflineQueue: true },
            }),
          );
    onTestFinished(() => client.close());
    const store = redisStore(client.client);
    const watcher = watchedBy(store);
    await last(watcher, "true");
    await store.announceEnd?.("key", "reason");
    await last(watcher, "key reason");
    await store.close?.();
    await eventually(async () => expect(await subscribers(server)).toBe(0));
  });
});

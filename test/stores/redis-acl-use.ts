import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { expect, onTestFinished } from "vitest";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { eventually } from "../support/eventually.js";
import { keysBySid, keysBySubject } from "../support/listed-keys.js";
import { connectedIoredis, connectedNodeRedis, control } from "../support/redis-clients.js";
import { dumpRedis, type RedisServer } from "../support/redis-server.js";

const PAGE = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/reference/databases.md"),
  "utf8",
);

/** The rules of the page, with the password `pw`. */
export const RULES = (/^ACL SETUSER app (.+)$/m.exec(PAGE)?.[1] ?? "")
  .split(" ")
  .map((rule) => rule.replace(/^>.*/, ">pw"));

export const CLIENTS = {
  "node-redis": ({ url }: RedisServer, username: string) =>
    connectedNodeRedis(createClient({ url, username, password: "pw", disableOfflineQueue: true })),
  ioredis: ({ port }: RedisServer, username: string) =>
    connectedIoredis(
      new Redis(port, "127.0.0.1", {
        username,
        password: "pw",
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
      }),
    ),
};

/** Creates a user with these rules, and a store that connects as this user until the test ends. */
export async function storeOf(
  server: RedisServer,
  rules: readonly string[],
  connect: (typeof CLIENTS)[keyof typeof CLIENTS] = CLIENTS["node-redis"],
): Promise<SessionStore> {
  const name = `user-${randomBytes(4).toString("hex")}`;
  await control(server, async (client) => {
    await client.sendCommand(["ACL", "SETUSER", name, ...rules]);
    // The next script is sent whole.
    await client.scriptFlush();
  });
  const { client, close } = await connect(server, name);
  onTestFinished(close);
  return redisStore(client);
}

/**
 * Calls every method of the store, and returns the names of those that don't do their work.
 *
 * @param patience milliseconds to wait for what the store does in its own time
 */
export async function failuresOf(
  store: SessionStore,
  servers: readonly RedisServer[],
  patience: number,
): Promise<string[]> {
  const failures: string[] = [];
  const check = async (method: string, works: () => Promise<boolean>): Promise<void> => {
    if (!(await works().catch(() => false))) failures.push(method);
  };
  const [key, subject, sid] = [newKey(), newKey(), newKey()];
  const entry: Entry = {
    data: Buffer.from("data"),
    expiresAt: Math.floor(Date.now() / 1000) + 600,
    subject,
    sid,
  };
  await check("insert", () => store.insert(key, entry));
  await check("touch", () => store.touch(key, 5, entry.expiresAt + 10));
  await check("get and replace", async () =>
    store.replace(key, entry, (await store.get(key))!.version),
  );
  await check("listBySubject", async () => (await keysBySubject(store, subject))[0] === key);
  await check("listBySid", async () => (await keysBySid(store, sid))[0] === key);
  await check("getMany", async () => (await store.getMany!([key])).size === 1);
  await check("isWhole", () => store.lossyIndex!.isWhole());
  await check("scan", async () => (await scanned(store)).includes(key));
  await check("watchEnds", () => hearsOfAnEnd(store, patience));
  await check("delete", async () => (await store.delete(key)) !== undefined);
  await check("removal from the index", () =>
    eventually(async () => {
      const dumps = await Promise.all(servers.map(({ url }) => dumpRedis(url)));
      expect(dumps.join().includes(key)).toBe(false);
      return true;
    }, patience),
  );
  return failures;
}

async function hearsOfAnEnd(store: SessionStore, patience: number): Promise<boolean> {
  const key = newKey();
  return new Promise((resolve) => {
    const stop = store.watchEnds!({
      connected: (isConnected) => {
        if (isConnected) void store.announceEnd!(key, "logout");
      },
      ended(ended) {
        if (ended === key) done(true);
      },
    });
    const timer = setTimeout(() => {
      done(false);
    }, patience);
    function done(heard: boolean): void {
      clearTimeout(timer);
      stop();
      resolve(heard);
    }
  });
}

async function scanned({ lossyIndex }: SessionStore): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await lossyIndex!.scan(cursor);
    keys.push(...page.entries.keys());
    cursor = page.next;
  } while (cursor !== undefined);
  return keys;
}

function newKey(): string {
  return randomBytes(32).toString("base64url");
}

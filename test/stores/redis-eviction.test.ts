import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Redis, type Cluster } from "ioredis";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "redis";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { redisStore, type RedisStoreOptions } from "../../src/stores/redis/redis-store.js";
import { factsIn, serverProblemsOf } from "../../src/stores/redis/redis-server-facts.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application } from "../support/application.js";
import { eventually } from "../support/eventually.js";
import { keysBySubject } from "../support/listed-keys.js";
import {
  CLIENTS,
  CLUSTER_CLIENTS,
  connectedIoredis,
  connectedNodeRedis,
  control,
  type ConnectedClient,
} from "../support/redis-clients.js";
import { startRedisCluster } from "../support/redis-cluster.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";

// A Redis that evicts keys can lose the index of a user's sessions and keep the sessions.

const isMissing = (await redisForTests()) === undefined;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started(...args: string[]): Promise<RedisServer> {
  const server = await startRedis({ args });
  closers.push(() => server.stop());
  return server;
}

async function storeOn(
  connecting: Promise<ConnectedClient>,
  options?: RedisStoreOptions,
): Promise<SessionStore> {
  const { client, close } = await connecting;
  closers.push(close);
  return redisStore(client, options);
}

/** The options that the store requires of ioredis. */
const SAFE = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};
const EVICTING = ["--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru"];
const newKey = () => randomBytes(32).toString("base64url");
const entry = (fields: Partial<Entry> = {}): Entry => ({
  data: Buffer.from("data"),
  expiresAt: Math.floor(Date.now() / 1000) + 600,
  ...fields,
});

/** What eviction does to the indexes, and to nothing else. */
async function evictIndexes(server: RedisServer): Promise<number> {
  return control(server, async (client) => {
    const keys = [
      ...(await client.keys("idpauth:subject:*")),
      ...(await client.keys("idpauth:sid:*")),
    ];
    for (const key of keys) await client.del(key);
    return keys.length;
  });
}

/** A logout token for everybody who is signed in at the application under this `sub`. */
async function applicationOn(store: SessionStore): Promise<Application> {
  const app = await startApplication({
    store,
    clock: new TestClock(Date.now()),
    backchannelLogout: true,
    frontchannelLogout: true,
    provider: { accessTokenSeconds: 700_000, idTokenSeconds: 700_000 },
  });
  closers.push(() => app.stop());
  return app;
}

const logOut = (app: Application, claims: object): Promise<number> =>
  app
    .user()
    .post("/idpauth/backchannel-logout", { logout_token: app.provider.logoutToken(claims) })
    .then(({ status }) => status);

describe.skipIf(isMissing)("a Redis that evicts", () => {
  describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])("%s", (name) => {
    it("reports its policy: a warning at startup, and the index doesn't count as whole", async () => {
      const server = await started(...EVICTING);
      const store = await storeOn(CLIENTS[name](server));
      expect(await store.lossyIndex?.isWhole()).toBe(false);
      const app = await applicationOn(store);
      await eventually(() => {
        expect(app.log.filter(({ code }) => code === "W025")).toMatchObject([
          { level: "warn", message: expect.stringContaining("volatile-lru") as string },
        ]);
        return Promise.resolve();
      });
    });

    it("each replace, and each later expiry, puts a lost index entry back", async () => {
      const server = await started(...EVICTING);
      const store = await storeOn(CLIENTS[name](server));
      const [key, subject, sid] = [newKey(), newKey(), newKey()];
      const first = entry({ subject, sid });
      await store.insert(key, first);
      await evictIndexes(server);
      expect(await keysBySubject(store, subject)).toEqual([]);
      await store.replace(key, first, (await store.get(key))!.version);
      expect(await keysBySubject(store, subject)).toEqual([key]);
      expect([...(await store.listBySid(sid)).entries.keys()]).toEqual([key]);
      await evictIndexes(server);
      await store.touch(key, null, first.expiresAt + 86_400);
      expect(await keysBySubject(store, subject)).toEqual([key]);
      expect([...(await store.listBySid(sid)).entries.keys()]).toEqual([key]);
    });

    it("scans all sessions and nothing else, page by page", async () => {
      const server = await started(...EVICTING);
      const store = await storeOn(CLIENTS[name](server), { prefix: "a[*]:" });
      const other = await storeOn(CLIENTS[name](server), { prefix: "ax:" });
      const keys = Array.from({ length: 1_200 }, newKey);
      for (let start = 0; start < keys.length; start += 200)
        await Promise.all(
          keys.slice(start, start + 200).map((key) => store.insert(key, entry({ subject: "s" }))),
        );
      await other.insert(newKey(), entry({ subject: "s" }));
      await store.insert(newKey(), entry());
      await control(server, (client) => client.set("a[*]:session:foreign", "foreign"));
      expect(await scanned(store)).toEqual(keys.sort());
    });
  });

  it("a client with a prefix of its own: the scan finds the sessions, too", async () => {
    const server = await started(...EVICTING);
    const client = new Redis(server.port, "127.0.0.1", { ...SAFE, keyPrefix: "shop[1]:" });
    const store = await storeOn(connectedIoredis(client));
    const key = newKey();
    await store.insert(key, entry({ subject: "s" }));
    expect(await control(server, (direct) => direct.keys("shop*:session:*"))).toHaveLength(1);
    expect(await scanned(store)).toEqual([key]);
  });

  it("without its indexes: endAllSessions, endSession and the provider's logouts end every session", async () => {
    const server = await started(...EVICTING);
    const app = await applicationOn(await storeOn(CLIENTS["node-redis"](server)));
    const [ada, grace] = [
      { sub: "ada", email: "ada@example.com" },
      { sub: "grace", email: "grace@example.com" },
    ];
    const signedIn = async (person: object) => {
      const user = app.user();
      await user.signIn(undefined, person as never);
      return user;
    };
    const [one, two, three, hers] = [
      await signedIn(ada),
      await signedIn(ada),
      await signedIn(ada),
      await signedIn(grace),
    ];
    const subject = { iss: app.provider.issuer, sub: "ada" };
    const listed = (await app.auth.listSessions(subject, one.request("/"))).find(
      ({ current }) => !current,
    );
    expect(await evictIndexes(server)).toBeGreaterThan(0);
    expect(await app.auth.endSession(subject, listed!.id)).toBe(true);
    expect([await two.isSignedIn(), await three.isSignedIn()].filter(Boolean)).toHaveLength(1);
    expect(await app.auth.endAllSessions(subject)).toBe(2);
    expect(await one.isSignedIn()).toBe(false);
    const again = await signedIn(ada);
    await evictIndexes(server);
    expect(await logOut(app, { sub: "ada" })).toBe(200);
    expect(await again.isSignedIn()).toBe(false);
    expect(await hers.isSignedIn()).toBe(true);
  });

  it("strangers' front-channel logouts start no scans side by side", async () => {
    const server = await started(...EVICTING);
    const store = await storeOn(CLIENTS.ioredis(server));
    const { isWhole, scan } = store.lossyIndex!;
    const running = { now: 0, most: 0, all: 0 };
    const app = await applicationOn({
      ...store,
      lossyIndex: {
        isWhole,
        async scan(cursor) {
          running.all += 1;
          running.now += 1;
          running.most = Math.max(running.most, running.now);
          return scan(cursor).finally(() => (running.now -= 1));
        },
      },
    });
    const user = app.user();
    await user.signIn(undefined, { sub: "ada", sid: "of ada" });
    await evictIndexes(server);
    const frame = (sid: string) =>
      app
        .user()
        .get(
          `/idpauth/frontchannel-logout?${new URLSearchParams({ iss: app.provider.issuer, sid }).toString()}`,
        );
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => frame(`forged ${String(index)}`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(running.most).toBe(1);
    expect(running.all).toBeLessThan(10);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("a scan that fails: 400 for the logout token and a rejection, and the same token again ends the session", async () => {
    const server = await started(...EVICTING);
    const app = await applicationOn(await storeOn(CLIENTS["node-redis"](server)));
    const user = app.user();
    await user.signIn();
    await evictIndexes(server);
    const acl = (...rules: string[]) =>
      control(server, (client) => client.sendCommand(["ACL", "SETUSER", "default", ...rules]));
    await acl("-scan");
    const sub = (await app.auth.getSession(user.request("/")))!.user.id;
    const token = app.provider.logoutToken({ sub });
    const send = () =>
      app
        .user()
        .post("/idpauth/backchannel-logout", { logout_token: token })
        .then(({ status }) => status);
    const subject = { iss: app.provider.issuer, sub };
    expect(await send()).toBe(400);
    await expect(app.auth.endAllSessions(subject)).rejects.toThrow();
    expect(await user.isSignedIn()).toBe(true);
    await acl("+scan");
    expect(await send()).toBe(200);
    expect(await user.isSignedIn()).toBe(false);
  });

  it("reads the policy again after a minute, and an index that was evicted before doesn't count as whole", async () => {
    const server = await started();
    const clock = new TestClock();
    const store = await storeOn(CLIENTS.ioredis(server), { clock });
    const set = (name: string, value: string) =>
      control(server, (client) => client.configSet(name, value));
    expect(await store.lossyIndex?.isWhole()).toBe(true);
    await set("maxmemory-policy", "allkeys-lru");
    await set("maxmemory", "1");
    clock.advance(59_999);
    expect(await store.lossyIndex?.isWhole()).toBe(true);
    clock.advance(1);
    expect(await store.lossyIndex?.isWhole()).toBe(false);
    await set("maxmemory", "0");
    clock.advance(60_000);
    expect(await store.lossyIndex?.isWhole()).toBe(true);
    await control(server, (client) => client.set("evicted", "soon"));
    await set("maxmemory", "1");
    await control(server, (client) => client.get("anything"));
    await eventually(async () => {
      expect(await control(server, (client) => client.info("stats"))).not.toContain(
        "evicted_keys:0",
      );
    });
    await set("maxmemory", "0");
    clock.advance(60_000);
    expect(await store.lossyIndex?.isWhole()).toBe(false);
  });
});

describe.skipIf(isMissing)("a Redis user with an ACL", () => {
  async function withAcl(...rules: string[]) {
    const server = await started();
    await control(server, (client) =>
      client.sendCommand(["ACL", "SETUSER", "app", "on", ">pw", ...rules]),
    );
    const url = server.url.replace("redis://", "redis://app:pw@");
    const store = await storeOn(
      connectedNodeRedis(
        createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } }),
      ),
    );
    return store;
  }

  it("without INFO: one warning that the policy is unknown, and the index doesn't count as whole", async () => {
    const store = await withAcl("~idpauth:*", "&idpauth:*", "+@all", "-@dangerous");
    expect(await store.serverProblems?.()).toMatchObject([
      { isWarning: true, message: expect.stringContaining("doesn't say") as string },
    ]);
    expect(await store.lossyIndex?.isWhole()).toBe(false);
    expect(await scanned(store)).toEqual([]);
  });
});

describe("a server whose INFO isn't that of Redis", () => {
  /** A client of ioredis in front of a proxy. */
  const storeBehind = (info: () => Promise<unknown>) =>
    redisStore({
      status: "ready",
      options: {},
      callBuffer: (name: string) =>
        name === "INFO" ? info() : Promise.resolve([Buffer.from("0"), []]),
    } as never);

  it.each([
    ["ERR command 'INFO' is not supported"],
    ["unsupported command 'info'"],
    ["ERR unknown command 'INFO'"],
    ["NOPERM this user has no permissions to run the 'info' command"],
  ])("%s: unknown, a warning, and logouts scan", async (message) => {
    const store = storeBehind(() => Promise.reject(new Error(message)));
    expect(await store.lossyIndex!.isWhole()).toBe(false);
    expect(await scanned(store)).toEqual([]);
    expect(await store.serverProblems!()).toMatchObject([{ isWarning: true }]);
  });

  it.each([["LOADING Redis is loading the dataset in memory"], ["Connection is closed."]])(
    "%s: the startup reads it again, and logouts scan until then",
    async (message) => {
      const answers = [
        Promise.reject(new Error(message)),
        Promise.reject(new Error(message)),
        Promise.resolve("maxmemory:0\r\nmaxmemory_policy:noeviction\r\nevicted_keys:0\r\n"),
      ];
      for (const answer of answers) answer.catch(() => undefined);
      const store = storeBehind(() => answers.shift()!);
      await expect(store.serverProblems!()).rejects.toThrow();
      expect(await store.lossyIndex!.isWhole()).toBe(false);
      expect(await store.lossyIndex!.isWhole()).toBe(true);
    },
  );
});

it.skipIf(isMissing)("a replica is a problem that the application logs as E012", async () => {
  const [primary, replica] = [await started(), await started()];
  await control(replica, (client) =>
    client.sendCommand(["REPLICAOF", "127.0.0.1", String(primary.port)]),
  );
  const app = await applicationOn(await storeOn(CLIENTS.ioredis(replica)));
  await eventually(() => {
    expect(app.log.filter(({ code }) => code === "E012")).toMatchObject([
      { level: "error", message: expect.stringContaining("replica") as string },
    ]);
    return Promise.resolve();
  });
});

it("the server's problems are read again until it responds", async () => {
  const answers = [() => Promise.reject(new Error("away")), () => Promise.resolve([])];
  let asked = 0;
  const pool = new pg.Pool({ connectionTimeoutMillis: 1 });
  closers.push(() => pool.end());
  const store: SessionStore = {
    ...postgresStore(pool, { sweepInterval: 0 }),
    serverProblems: () => answers[asked++]!(),
  };
  const app = await startApplication({ store });
  closers.push(() => app.stop());
  await app.clock.advanceAsync(999);
  expect(asked).toBe(1);
  await app.clock.advanceAsync(1);
  expect(asked).toBe(2);
  await app.clock.advanceAsync(600_000);
  expect(asked).toBe(2);
});

describe("what INFO says", () => {
  const info = (policy: string, maxmemory = "100", evicted = "0") =>
    `# Memory\r\nmaxmemory:${maxmemory}\r\nmaxmemory_policy:${policy}\r\n# Stats\r\nevicted_keys:${evicted}\r\nrole:master\r\n`;

  it.each([
    ["noeviction", "100", undefined],
    ["allkeys-lru", "0", undefined],
    ["allkeys-lru", "100", "allkeys-lru"],
    ["volatile-ttl", "100", "volatile-ttl"],
    ["allkeys-lrm", "100", "allkeys-lrm"],
    ["a policy\u001b[31m", "100", "unknown"],
  ])("%s with maxmemory %s: %s", (policy, maxmemory, evicts) => {
    expect(factsIn(info(policy, maxmemory))).toEqual({
      isReplica: false,
      evicts,
      hasEvicted: false,
    });
  });

  it("nothing: unknown", () => {
    expect(factsIn("")).toEqual({ isReplica: false, evicts: "unknown", hasEvicted: true });
  });

  it("several nodes: one problem of each kind", () => {
    const facts = [info("allkeys-lru"), info("volatile-lru"), info("noeviction"), ""].map(factsIn);
    expect(serverProblemsOf(facts)).toMatchObject([
      { message: expect.stringContaining("allkeys-lru and volatile-lru") as string },
    ]);
    expect(serverProblemsOf([factsIn(info("noeviction"))])).toEqual([]);
  });
});

describe.skipIf(isMissing)("a Redis Cluster", () => {
  it("every primary is read and scanned, with each client", async () => {
    const cluster = await startRedisCluster();
    closers.push(() => cluster.stop());
    for (const connect of Object.values(CLUSTER_CLIENTS)) {
      const store = await storeOn(connect(cluster.nodes));
      const keys = Array.from({ length: 60 }, newKey);
      await Promise.all(keys.map((key) => store.insert(key, entry({ subject: "s" }))));
      expect(await scanned(store)).toEqual(expect.arrayContaining(keys));
      expect(await store.lossyIndex?.isWhole()).toBe(true);
      const [, , last] = cluster.nodes;
      const set = (name: string, value: string) =>
        control(last!, (client) => client.configSet(name, value));
      await set("maxmemory", "100mb");
      await set("maxmemory-policy", "allkeys-lru");
      expect(await store.serverProblems?.()).toMatchObject([{ isWarning: true }]);
      await set("maxmemory", "0");
    }
  });
});

describe.skipIf(isMissing)("a Redis Cluster of which ioredis has lost a node", () => {
  it("is scanned as a whole, and not at all while the node is away", async () => {
    const cluster = await startRedisCluster();
    closers.push(() => cluster.stop());
    const { client, close } = await CLUSTER_CLIENTS.ioredis(cluster.nodes);
    closers.push(close);
    const store = redisStore(client);
    const keys = Array.from({ length: 60 }, newKey);
    await Promise.all(keys.map((key) => store.insert(key, entry({ subject: "s" }))));
    const [lost] = (client as unknown as Cluster).nodes("master");
    lost!.disconnect();
    await once(lost!, "end");
    expect(await scanned(store)).toEqual(expect.arrayContaining(keys));
    const [, away] = (client as unknown as Cluster).nodes("master");
    const isLost = once(away!, "end");
    await cluster.nodes.find(({ port }) => port === away!.options.port)!.stop();
    await isLost;
    await expect(scanned(store)).rejects.toThrow();
    expect(await store.lossyIndex!.isWhole()).toBe(false);
  });
});

async function scanned({ lossyIndex }: SessionStore): Promise<string[]> {
  const found = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await lossyIndex!.scan(cursor);
    expect(page.entries.size).toBeLessThanOrEqual(500);
    for (const key of page.entries.keys()) found.add(key);
    cursor = page.next;
  } while (cursor !== undefined);
  return [...found].sort();
}

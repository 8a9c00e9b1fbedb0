import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkStore } from "../../src/cli/live/check-live-store.js";
import type { SessionStore, Stored } from "../../src/ports/session-store.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { postgresMigration } from "../../src/stores/postgres/postgres-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { ensurePostgres, startPostgres, type PostgresServer } from "../support/postgres-server.js";
import { control } from "../support/redis-clients.js";
import { redisForTests, startRedis, type RedisServer } from "../support/redis-server.js";
import { ROOT, runLive, checkIo } from "./live-run.js";
import { methodsOf } from "../support/store-with-replaceable-methods.mjs";

const redis = (await redisForTests()) === undefined ? "is not there" : "is there";
const postgres = (await ensurePostgres()) === undefined ? "is not there" : "is there";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-check-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Time that passes 20 times as fast, for what takes seconds. */
function fastClock() {
  const began = Date.now();
  return { ...checkIo().clock, now: () => began + (Date.now() - began) * 20 };
}

async function judge(
  address: string,
  changes: Parameters<typeof checkIo>[0] = {},
  env: Record<string, string> = {},
) {
  const checked = await checkStore(address, env, checkIo({ clock: fastClock(), ...changes }));
  return {
    ...checked,
    codes: checked.findings.map(({ code }) => code),
    messages: checked.findings.map(({ message }) => message),
  };
}

/** The packages of the project, and no others, in a folder of their own. */
function projectWith(...packages: string[]): string {
  mkdirSync(path.join(folder, "node_modules"));
  for (const name of packages)
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name));
  return folder;
}

describe.runIf(redis === "is there")("a Redis server", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis({ args: ["--requirepass", "hunter2"] });
  });

  afterAll(async () => {
    await server.stop();
  });

  const withPassword = (password: string) =>
    server.url.replace("redis://", `redis://:${password}@`);

  it.each(["redis", "ioredis"])(
    "keeps its guarantees through the project's %s, and keeps nothing else",
    async (name) => {
      const { codes, fact } = await judge(withPassword("hunter2"), {
        folder: projectWith(name),
        clock: checkIo().clock,
      });
      expect(codes).toEqual([]);
      expect(fact?.name).toBe("redis");
      expect(fact?.roundTripMs).toBeGreaterThan(0);
      await control({ ...server, url: withPassword("hunter2") }, async (client) => {
        expect((await client.keys("idpauth:session:*")).filter((key) => key !== "")).toEqual([]);
      });
    },
  );

  it.each(["redis", "ioredis"])(
    "refuses the password, which is not repeated, through %s: E111",
    async (name) => {
      const { codes, messages } = await judge(withPassword("wrong-hunter3"), {
        folder: projectWith(name),
      });
      expect(codes).toEqual(["E111"]);
      expect(messages[0]).toBe("The Redis server in --store refuses the user name or password.");
    },
  );

  it.each(["redis", "ioredis"])("is down, seen through %s: E111", async (name) => {
    const { codes, messages } = await judge("redis://:hunter2@127.0.0.1:1", {
      folder: projectWith(name),
    });
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).toBe("The Redis server in --store refuses connections.");
  });

  it("that may evict sessions: W025; that is a replica: E012, and nothing else", async () => {
    const set = (...command: string[]) =>
      control({ ...server, url: withPassword("hunter2") }, (client) => client.sendCommand(command));
    await set("CONFIG", "SET", "maxmemory", "100mb");
    await set("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
    const evicting = await judge(withPassword("hunter2"), { clock: checkIo().clock });
    expect(evicting.codes).toEqual(["W025"]);
    expect(evicting.messages[0]).toContain("allkeys-lfu");
    await set("CONFIG", "SET", "maxmemory", "0");
    await set("REPLICAOF", "127.0.0.1", "1");
    expect((await judge(withPassword("hunter2"))).codes).toEqual(["E012"]);
    await set("REPLICAOF", "NO", "ONE");
  });

  it("may be named by a variable", async () => {
    const env = { REDIS_URL: withPassword("hunter2") };
    expect((await judge("env:REDIS_URL", { clock: checkIo().clock }, env)).codes).toEqual([]);
    expect((await judge("env:REDIS_URL", {}, {})).codes).toEqual(["E111"]);
    expect((await judge("env:A", {}, { A: "env:A" })).codes).toEqual(["E111"]);
  });
});

describe.runIf(postgres === "is there")("a PostgreSQL server", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(async () => {
    await server.stop();
  });

  it("without the table is reported with how to create it; with it keeps its guarantees, and no row", async () => {
    const without = await judge(server.url);
    expect(without.codes).toEqual(["E111"]);
    expect(without.messages[0]).toContain("run the store's migrate()");
    const client = new pg.Client(server.url);
    await client.connect();
    try {
      await client.query(postgresMigration());
      expect(await judge(server.url, { clock: checkIo().clock })).toMatchObject({
        codes: [],
        fact: { name: "postgres" },
      });
      // The one whose end was waited for is the sweep's.
      const { rows } = await client.query(
        "SELECT 1 FROM idpauth_sessions WHERE expires_at > extract(epoch FROM now())",
      );
      expect(rows).toEqual([]);
    } finally {
      await client.end();
    }
  });

  it("that is down: E111, without its address", async () => {
    const { codes, messages } = await judge("postgres://me:hunter2@127.0.0.1:1/shop");
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).not.toContain("hunter2");
  });
});

describe("an address that its driver does not understand", () => {
  it.each([
    "redis://:hunter2@[::",
    "rediss://:hunter2@host:99999999",
    "postgres://me:hunter2@[::/x",
  ])("%s: E111, and it is not repeated", async (address) => {
    const { codes, messages } = await judge(address);
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).not.toContain("hunter2");
  });
});

describe("an SQLite file", () => {
  it("keeps its guarantees", async () => {
    const file = path.join(folder, "sessions.db");
    await sqliteStore(file).close();
    expect(await judge("sqlite:sessions.db", { folder })).toMatchObject({
      codes: [],
      fact: { name: "sqlite" },
    });
  });

  it("that is not there is not made: W111", async () => {
    expect((await judge("sqlite:sessions.db", { folder })).codes).toEqual(["W111"]);
    expect(existsSync(path.join(folder, "sessions.db"))).toBe(false);
  });

  it("that is none is the store's own problem: E012", async () => {
    writeFileSync(
      path.join(folder, "sessions.db"),
      "no database at all, but long enough to be looked at".repeat(40),
    );
    expect((await judge("sqlite:sessions.db", { folder })).codes).toEqual(["E012"]);
  });
});

describe("a driver that is not installed", () => {
  it.each([
    ["redis://127.0.0.1:1", "npm install redis"],
    ["postgres://127.0.0.1:1/x", "npm install pg"],
  ])("%s: E111 says what to install", async (address, remedy) => {
    const { codes, findings } = await judge(address, { folder: projectWith() });
    expect(codes).toEqual(["E111"]);
    expect(findings[0]!.remedy).toContain(remedy);
  });
});

describe("a module of the project", () => {
  const give = (exports: unknown) => ({ importModule: () => Promise.resolve(exports) });

  it("gives a store, or a function that gives one", async () => {
    const clock = fastClock();
    const store = memoryStore({ clock });
    for (const given of [store, () => store, async () => store]) {
      expect(await judge("./store.mjs", { ...give({ default: given }), clock })).toMatchObject({
        codes: [],
        fact: { name: "memory" },
      });
    }
  });

  it("is read from the project's folder, and sees the settings", async () => {
    const asked: unknown[] = [];
    const importModule = async (file: string, env: object) => {
      asked.push(file, env);
      return { default: memoryStore() };
    };
    await judge("./lib/store.mjs", { folder, importModule }, { REDIS_URL: "x" });
    expect(asked).toEqual([path.join(folder, "lib/store.mjs"), { REDIS_URL: "x" }]);
  });

  it.each<[string, unknown, string]>([
    [
      "has no default export",
      { store: 1 },
      "doesn't return a session store: it has no default export.",
    ],
    [
      "is something else",
      { default: "redis" },
      "doesn't return a session store: its default export is a string.",
    ],
    [
      "gives something else",
      { default: () => undefined },
      "doesn't return a session store: its default export returns undefined.",
    ],
    [
      "gives half a store",
      {
        default: {
          get: async () => undefined,
          insert: async () => true,
          replace: true,
          touch: async () => true,
        },
      },
      "doesn't return a session store: its store doesn't have replace, delete, listBySubject and listBySid.",
    ],
    [
      "throws",
      { default: () => Promise.reject(new Error("redis://:hunter2@host is bad")) },
      "didn't return its store: it fails",
    ],
  ])("that %s: E111", async (_name, exports, message) => {
    const { codes, messages } = await judge("./store.mjs", give(exports));
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).toContain(message);
    expect(messages[0]).not.toContain("hunter2");
  });

  it.each([
    ["./store.mjs", "Run `node ./store.mjs` to see its error."],
    ["./my stores/store.mjs", 'Run `node "./my stores/store.mjs"` to see its error.'],
  ])("that cannot be loaded says where its error is to be seen: %s", async (file, remedy) => {
    const { codes, findings } = await judge(file, {
      importModule: () => Promise.reject(new Error("redis://:hunter2@host is bad")),
    });
    expect(codes).toEqual(["E111"]);
    expect(findings[0]).toMatchObject({
      message: expect.stringContaining("couldn't be loaded: it fails"),
      remedy,
    });
  });

  it("that is not there: E111", async () => {
    const { codes, messages } = await judge("./store.mjs", {
      importModule: () =>
        Promise.reject(Object.assign(new Error("/secret/place"), { code: "ERR_MODULE_NOT_FOUND" })),
    });
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).toContain("doesn't exist, or imports a module that doesn't exist");
  });

  it("whose store has a problem of its own: E012, and it is not tried", async () => {
    const store = {
      ...copyOf(memoryStore()),
      problems: [{ message: "It queues.", remedy: "Do not." }],
      get: fail,
    };
    expect((await judge("./store.mjs", give({ default: store }))).findings).toMatchObject([
      { code: "E012", message: "It queues." },
    ]);
  });

  it("whose store is away: E111, with the driver's code alone", async () => {
    const store = { ...copyOf(memoryStore()), name: "mine", get: fail };
    const { codes, messages } = await judge("./store.mjs", give({ default: store }));
    expect(codes).toEqual(["E111"]);
    expect(messages[0]).toBe("The mine store in --store refuses connections.");
  });

  it("whose store never responds: E111, in bounded time", async () => {
    const store = {
      ...copyOf(memoryStore()),
      name: "mine",
      get: () => new Promise<never>(() => undefined),
    };
    expect((await judge("./store.mjs", give({ default: store }))).messages).toEqual([
      "The mine store in --store doesn't respond in time.",
    ]);
  });

  it("whose store cannot delete: E111", async () => {
    const store = { ...copyOf(memoryStore()), delete: fail };
    expect((await judge("./store.mjs", give({ default: store }))).codes).toEqual(["E111"]);
  });

  it("is closed again", async () => {
    let isClosed = false;
    const close = async () => {
      isClosed = true;
    };
    await judge("./store.mjs", give({ default: { ...copyOf(memoryStore()), close } }));
    expect(isClosed).toBe(true);
  });
});

const fail = () =>
  Promise.reject(Object.assign(new Error("redis://:hunter2@host"), { code: "ECONNREFUSED" }));

const copyOf = (store: SessionStore) => ({ ...methodsOf(store), inProcess: true });

describe.concurrent("a store that breaks one requirement: E112 names it", () => {
  const broken: Record<string, (store: SessionStore) => Partial<SessionStore>> = {
    "insert: refuses a key that exists": (store) => ({
      insert: async (key, entry) => {
        await store.delete(key);
        return store.insert(key, entry);
      },
    }),
    "replace: of many replaces at once with one version, one wins": (store) => ({
      async replace(key, entry, version) {
        if ((await store.get(key))?.version !== version) return false;
        await new Promise((resolve) => setImmediate(resolve));
        return store.replace(key, entry, (await store.get(key))?.version ?? "");
      },
    }),
    "replace: refuses an old version": (store) => {
      // Races are won by one; whoever comes when a race is over is believed.
      const decided = new Set<string>();
      return {
        async replace(key, entry, version) {
          const isLate = decided.has(key);
          const won = await store.replace(key, entry, version);
          if (won) decided.add(key);
          return (
            won || (isLate && store.replace(key, entry, (await store.get(key))?.version ?? ""))
          );
        },
      };
    },
    "touch: gives no new version": (store) => ({
      async touch(key, lastActive, expiresAt) {
        const stored = await store.get(key);
        if (stored === undefined) return false;
        return store.replace(
          key,
          { ...stored, expiresAt, ...(lastActive !== null && { lastActive }) },
          stored.version,
        );
      },
    }),
    "delete: returns the entry and removes it": (store) => ({
      async delete(key) {
        return store.get(key);
      },
    }),
    "listBySubject: returns all entries of the subject": () => ({
      listBySubject: async () => ({ entries: new Map() }),
    }),
    "listBySid: returns all entries of the sid": () => ({
      listBySid: async () => ({ entries: new Map() }),
    }),
    "after it expired": (store) => {
      const kept = new Map<string, Stored>();
      return {
        async insert(key, entry) {
          kept.set(key, { ...entry, version: randomUUID() });
          return store.insert(key, entry);
        },
        get: async (key) => (await store.get(key)) ?? (isGone.has(key) ? undefined : kept.get(key)),
        async delete(key) {
          isGone.add(key);
          return store.delete(key);
        },
      };
    },
  };
  const isGone = new Set<string>();

  it.each(Object.keys(broken))("%s", async (words) => {
    const clock = fastClock();
    const store = memoryStore({ clock });
    const given = { ...copyOf(store), ...broken[words]!(store) };
    const { codes, messages } = await judge("./store.mjs", {
      clock,
      importModule: () => Promise.resolve({ default: given }),
    });
    expect(codes).toEqual(["E112"]);
    expect(messages[0]).toContain(words);
  });
});

it("what a broken store creates when it is touched is removed again", async () => {
  const clock = fastClock();
  const store = memoryStore({ clock });
  const touched: string[] = [];
  const given = {
    ...copyOf(store),
    async touch(key: string, lastActive: number | null, expiresAt: number) {
      touched.push(key);
      if (await store.touch(key, lastActive, expiresAt)) return true;
      return store.insert(key, {
        data: Object.freeze({ idp_state: Object.freeze({ v: 1 as const }) }),
        expiresAt,
      });
    },
  };
  await judge("./store.mjs", { clock, importModule: () => Promise.resolve({ default: given }) });
  expect(touched.length).toBeGreaterThan(1);
  for (const key of touched) expect(await store.get(key)).toBeUndefined();
});

it("the store's facts and findings stand in the report", async () => {
  const env = { IDP_ISSUER: "http://login.example" };
  const args = ["--store=./store.mjs"];
  const report = await runLive(env, {
    args,
    clock: fastClock(),
    importModule: () => Promise.resolve({ default: memoryStore() }),
  });
  expect(report.facts.store).toEqual({ name: "memory", roundTripMs: expect.any(Number) });
  expect(report.notSeen.join()).toContain("Whether the application uses the store");
});

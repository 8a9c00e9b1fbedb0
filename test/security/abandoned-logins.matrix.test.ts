import { afterEach, expect, it } from "vitest";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { startApplication, type Application } from "../support/application.js";
import { redisStore } from "../../src/stores/redis/redis-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { eventually } from "../support/eventually.js";
import { CLIENTS, control } from "../support/redis-clients.js";
import { faketimeForTests, redisForTests, startRedis } from "../support/redis-server.js";

const LOGINS = 100_000;
const MINUTE = 60_000;
const IN_REDIS = 10_000;

let app: Application;

afterEach(() => app.stop());

/** A store that is handed bytes, as one outside the process, and tells what lies in it. */
function weighedStore(
  clock: TestClock,
): SessionStore & { readonly keys: string[]; largest: number } {
  const inner = memoryStore({ clock, maxSessions: 2 * LOGINS });
  return {
    name: "weighed",
    keys: [],
    largest: 0,
    insert(key: string, entry: Entry) {
      this.keys.push(key);
      this.largest = Math.max(this.largest, (entry.data as Uint8Array).length);
      return inner.insert(key, entry);
    },
    get: (key) => inner.get(key),
    replace: (key, entry, version) => inner.replace(key, entry, version),
    touch: (key, lastActive, expiresAt) => inner.touch(key, lastActive, expiresAt),
    delete: (key) => inner.delete(key),
    listBySubject: (subject, cursor) => inner.listBySubject(subject, cursor),
    listBySid: (sid, cursor) => inner.listBySid(sid, cursor),
  };
}

it(
  "[INC-60] [L5] 100,000 logins that nobody finishes leave ten minutes of small records, and then nothing",
  { timeout: 400_000 },
  async () => {
    const clock = new TestClock();
    const store = weighedStore(clock);
    app = await startApplication({ store, clock });
    const stranger = () =>
      app.user().get("/idpauth/login/", { headers: { "x-origin-url": "x".repeat(4_000) } });
    const live = async () => {
      let count = 0;
      for (const key of store.keys) if ((await store.get(key)) !== undefined) count += 1;
      return count;
    };

    // Over twenty minutes: at no moment more than those of the last ten are there.
    for (let login = 1; login <= LOGINS; login += 1) {
      expect((await stranger()).status).toBe(302);
      if (login % (LOGINS / 20) !== 0) continue;
      await clock.advanceAsync(MINUTE);
      if (login % (LOGINS / 5) === 0) expect(await live()).toBeLessThanOrEqual(LOGINS / 2);
    }
    expect(store.keys).toHaveLength(LOGINS);
    expect(store.largest).toBeLessThan(1_024);

    await clock.advanceAsync(10 * MINUTE);
    expect(await live()).toBe(0);
    // The store holds a timer exactly while it holds anything: what has expired was also removed.
    await clock.advanceAsync(MINUTE);
    expect(clock.pendingTimers).toBe(0);
  },
);

/** A login whose page to come back to is kept, in a record that holds nothing else. */
async function largestWithPage(length: number): Promise<number> {
  const clock = new TestClock();
  const store = weighedStore(clock);
  app = await startApplication({ store, clock });
  const page = `http://app.example/${"x".repeat(length)}`.slice(0, length);
  const target = `/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=${page}`;
  expect((await app.user().get(target)).status).toBe(302);
  return store.largest;
}

it.each([
  ["of 700 characters", 700, 2_048],
  ["of 2,048 characters, the longest that is kept", 2_048, 5_120],
])("[L5] with a page to come back to %s a record stays small", async (_name, length, most) => {
  const size = await largestWithPage(length);
  // The page is in it.
  expect(size).toBeGreaterThan(length);
  expect(size).toBeLessThan(most);
});

it("[L5] in Redis: every key below 2 KB of the server's memory and gone after ten minutes, a signed-in session stays", async ({
  skip,
}) => {
  skip(
    (await redisForTests()) === undefined || (await faketimeForTests()) === undefined,
    "there is no redis-server, or no libfaketime",
  );
  const server = await startRedis({ faketime: true });
  const { client, close } = await CLIENTS["node-redis"](server);
  const clock = new TestClock(server.now() * 1000);
  try {
    app = await startApplication({ store: redisStore(client), clock });
    const member = app.user();
    await member.signIn();
    const sizes = () =>
      control(server, async (redis) => ({
        keys: await redis.dbSize(),
        memory: Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]),
      }));
    const before = await sizes();
    for (let login = 0; login < IN_REDIS; login += 100) {
      await Promise.all(Array.from({ length: 100 }, () => app.user().get("/idpauth/login/")));
    }
    const full = await sizes();
    expect(full.keys).toBe(before.keys + IN_REDIS);
    expect((full.memory - before.memory) / IN_REDIS).toBeLessThan(2_048);
    await control(server, async (redis) => {
      for await (const keys of redis.scanIterator({ MATCH: "*", COUNT: 1_000 })) {
        const lives = await Promise.all(keys.map((key) => redis.ttl(key)));
        // Ten minutes and what the store adds; the member's own keys live for two weeks.
        expect(lives.filter((life) => life < 0)).toEqual([]);
        expect(lives.filter((life) => life > 900).length).toBeLessThanOrEqual(before.keys);
      }
    });
    server.advance(900);
    clock.advance(900_000);
    await eventually(async () => {
      // The trace of the member's own callback has expired, too.
      expect((await sizes()).keys).toBe(before.keys - 1);
    });
    expect(await member.isSignedIn()).toBe(true);
  } finally {
    close();
    await server.stop();
  }
});

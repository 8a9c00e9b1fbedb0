import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore } from "../../src/ports/session-store.js";
import { EMPTY_RECORD } from "../../src/record/record.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { testStore } from "../../packages/idpauth-conformance/src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";

const START = 1_800_000_000;

/** The store's own time, in seconds. */
function stoppedClock() {
  const clock = new TestClock(START * 1000);
  return {
    clock,
    now: () => clock.now() / 1000,
    timers: () => clock.pendingTimers,
    /** Moves the time without running timers: the moment between an expiry and the sweep. */
    skip(seconds: number) {
      clock.setNow(clock.now() + seconds * 1000);
    },
    /** Runs the sweep too, of which one slice at least gets its turn. */
    advance: (seconds: number) => clock.advanceAsync(seconds * 1000),
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

// A store in this process: nobody else can reach it, and there is no server that could be away.
const without = ["bytes", "another", "outage"] as const;

testStore({
  name: "memory",
  without,
  test: it,
  create: () => {
    const { clock, now, advance } = stoppedClock();
    return { store: memoryStore({ clock }), now, advance };
  },
});

testStore({
  name: "memory, swept late,",
  without,
  test: it,
  create: () => {
    const { clock, now, skip } = stoppedClock();
    return {
      store: memoryStore({ clock }),
      now,
      advance: (seconds) => {
        skip(seconds);
        return Promise.resolve();
      },
    };
  },
});

function pending(expiresAt = START + 600): Entry {
  return { data: EMPTY_RECORD, expiresAt };
}

function signedIn(expiresAt = START + 86_400, subject = "subject"): Entry {
  return { data: EMPTY_RECORD, expiresAt, subject };
}

async function present(store: SessionStore, ...keys: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const key of keys) if ((await store.get(key)) !== undefined) found.push(key);
  return found;
}

describe("memory store: bounds", () => {
  it("[L5] a pending login gives way, the oldest first, and the signed-in sessions stay", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 4 });
    await store.insert("ada", signedIn());
    await store.insert("p1", pending());
    await store.insert("p2", pending());
    await store.insert("grace", signedIn());
    expect(await store.insert("p3", pending())).toBe(true);
    expect(await present(store, "ada", "grace", "p1", "p2", "p3")).toEqual([
      "ada",
      "grace",
      "p2",
      "p3",
    ]);
    expect(await store.insert("mary", signedIn())).toBe(true);
    expect(await present(store, "ada", "grace", "mary", "p2", "p3")).toEqual([
      "ada",
      "grace",
      "mary",
      "p3",
    ]);
  });

  it("when there is no pending login left, a new insert is refused, pending or signed in, and nothing changes", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 2 });
    await store.insert("ada", signedIn());
    await store.insert("grace", signedIn());
    for (const entry of [pending(), signedIn()]) {
      const refusal = await store.insert("mary", entry).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(StoreUnavailableError);
      expect(refusal).toMatchObject({ status: 503, code: "store_unavailable", retryAfter: 60 });
      expect(String(refusal)).toMatch(/full.*2 signed-in sessions.*maxSessions/);
    }
    expect(await present(store, "ada", "grace", "mary")).toEqual(["ada", "grace"]);
  });

  it("a full store still reads, replaces, touches, refuses a present key and takes a new one after a logout", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 1 });
    await store.insert("ada", signedIn());
    const version = (await store.get("ada"))?.version ?? "";
    expect(await store.insert("ada", signedIn())).toBe(false);
    expect(await store.replace("ada", signedIn(), version)).toBe(true);
    expect(await store.touch("ada", START, START + 90_000)).toBe(true);
    await store.delete("ada");
    expect(await store.insert("grace", signedIn())).toBe(true);
  });

  it.each([
    ["a signed-in session", signedIn(START + 10)],
    ["a pending login", pending(START + 10)],
  ])(
    "%s that has expired goes before a live pending login, also before the sweep has come",
    async (_what, expired) => {
      const { clock, skip } = stoppedClock();
      const store = memoryStore({ clock, maxSessions: 3 });
      await store.insert("older", pending(START + 600));
      await store.insert("expired", expired);
      await store.insert("ada", signedIn());
      skip(10);
      expect(await store.insert("new", pending(START + 610))).toBe(true);
      expect(await present(store, "older", "ada", "new", "expired")).toEqual([
        "older",
        "ada",
        "new",
      ]);
    },
  );

  it("a login that has become a session is no longer evicted, and one that is pending again is", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 2 });
    await store.insert("one", pending());
    await store.insert("two", pending());
    await store.replace("one", signedIn(), (await store.get("one"))?.version ?? "");
    await store.insert("three", pending());
    expect(await present(store, "one", "two", "three")).toEqual(["one", "three"]);
    await store.replace("three", signedIn(), (await store.get("three"))?.version ?? "");
    await expect(store.insert("four", pending())).rejects.toThrow(StoreUnavailableError);
    await store.replace("one", pending(), (await store.get("one"))?.version ?? "");
    expect(await store.insert("four", pending())).toBe(true);
    expect(await present(store, "one", "three", "four")).toEqual(["three", "four"]);
  });

  it("what was deleted gives its place back, wherever it stood", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 50 });
    // A fixed shuffle: 17 and 50 have no common divisor.
    const keys = Array.from({ length: 50 }, (_, index) => `key ${String((index * 17) % 50)}`);
    for (const [index, key] of keys.entries())
      await store.insert(key, signedIn(START + 100 + ((index * 7) % 50)));
    for (const key of keys.slice(10, 40)) await store.delete(key);
    for (let index = 0; index < 30; index += 1)
      expect(await store.insert(`new ${String(index)}`, signedIn())).toBe(true);
    await expect(store.insert("one more", signedIn())).rejects.toThrow(StoreUnavailableError);
    expect(await present(store, ...keys.slice(0, 10), ...keys.slice(40))).toHaveLength(20);
  });

  it("a full store takes a new session as soon as one has expired, also if an earlier search found none", async () => {
    const { clock, skip } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 2 });
    await store.insert("ada", signedIn(START + 10));
    await store.insert("grace", signedIn(START + 20));
    await store.touch("ada", null, START + 30);
    const expired: string[] = [];
    for (let second = 1; second <= 31; second += 1) {
      skip(1);
      const isNew = await store.insert(`new ${String(second)}`, signedIn()).catch(() => false);
      if (isNew) expired.push(`new ${String(second)}`);
    }
    expect(expired).toEqual(["new 20", "new 30"]);
  });

  it("a full store of expired sessions takes as many new ones, before the sweep has run", async () => {
    const { clock, skip } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 5_000 });
    for (let index = 0; index < 5_000; index += 1)
      await store.insert(`key ${String(index)}`, signedIn(START + 10));
    skip(10);
    for (let index = 0; index < 5_000; index += 1)
      expect(await store.insert(`new ${String(index)}`, signedIn())).toBe(true);
    await expect(store.insert("one more", signedIn())).rejects.toThrow(StoreUnavailableError);
  });

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    16_000_001,
    "10" as unknown as number,
  ])("maxSessions %s is a TypeError", (maxSessions) => {
    expect(() => memoryStore({ maxSessions })).toThrow(TypeError);
  });

  it("a flood of logins stays within the bound and is fast at any size", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 1_000 });
    await store.insert("ada", signedIn());
    for (let index = 0; index < 20_000; index += 1)
      await store.insert(`flood ${String(index)}`, pending());
    const newest = Array.from({ length: 999 }, (_, index) => `flood ${String(19_001 + index)}`);
    expect(await present(store, ...newest)).toHaveLength(999);
    expect(await present(store, "ada", "flood 19000")).toEqual(["ada"]);
  });
});

describe("memory store: sweep", () => {
  it("an empty store holds no timer, one with entries exactly one, one that is empty again none", async () => {
    const { clock, timers } = stoppedClock();
    const store = memoryStore({ clock });
    expect(timers()).toBe(0);
    await store.get("nobody");
    await store.touch("nobody", START, START + 1);
    expect(timers()).toBe(0);
    await store.insert("one", signedIn());
    await store.insert("two", pending());
    expect(timers()).toBe(1);
    await store.delete("one");
    await store.delete("one");
    expect(timers()).toBe(1);
    await store.delete("two");
    expect(timers()).toBe(0);
    await store.insert("three", pending());
    expect(timers()).toBe(1);
  });

  it("removes what has expired and nothing else, and then holds no timer", async () => {
    const { clock, advance, skip, timers } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 2 });
    await store.insert("short", signedIn(START + 20));
    await store.insert("long", signedIn(START + 40));
    await advance(30);
    expect(timers()).toBe(1);
    // Room is there without an eviction, so the sweep has removed the one and kept the other.
    skip(-20);
    expect(await present(store, "short", "long")).toEqual(["long"]);
    await advance(60);
    expect(timers()).toBe(0);
  });

  it("follows an expiry that touch and replace have moved", async () => {
    const { clock, advance, skip } = stoppedClock();
    const store = memoryStore({ clock });
    for (let index = 0; index < 20; index += 1)
      await store.insert(`key ${String(index)}`, signedIn(START + 20));
    await store.touch("key 3", null, START + 500);
    await store.replace("key 7", signedIn(START + 400), (await store.get("key 7"))?.version ?? "");
    await advance(30);
    skip(-30);
    const keys = Array.from({ length: 20 }, (_, index) => `key ${String(index)}`);
    expect(await present(store, ...keys)).toEqual(["key 3", "key 7"]);
  });

  it("gives way to other work between slices", async () => {
    const { clock, advance, skip } = stoppedClock();
    const store = memoryStore({ clock, maxSessions: 50_000 });
    const keys = Array.from({ length: 30_000 }, (_, index) => `key ${String(index)}`);
    for (const key of keys) await store.insert(key, signedIn(START + 10));
    await advance(30);
    skip(-30);
    const early = (await present(store, ...keys)).length;
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(30_000);
    skip(30);
    await turns(20);
    skip(-30);
    expect(await present(store, ...keys)).toEqual([]);
  });

  it("leaves one timer when the store runs empty and fills again between two slices", async () => {
    const { clock, advance, timers } = stoppedClock();
    const store = memoryStore({ clock });
    for (let index = 0; index < 10_000; index += 1)
      await store.insert(`key ${String(index)}`, signedIn(START + 10));
    await advance(30);
    for (let index = 0; index < 10_000; index += 1) await store.delete(`key ${String(index)}`);
    await store.insert("new", signedIn());
    await turns(20);
    expect(timers()).toBe(1);
    await store.delete("new");
    expect(timers()).toBe(0);
  });
});

describe("memory store: what it says of itself", () => {
  it("is called memory and keeps records in this process, as they are", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock });
    expect(store.name).toBe("memory");
    expect(store.inProcess).toBe(true);
    await store.insert("key", signedIn());
    expect((await store.get("key"))?.data).toBe(EMPTY_RECORD);
  });

  it("what it hands out cannot be used to change what it holds", async () => {
    const { clock } = stoppedClock();
    const store = memoryStore({ clock });
    await store.insert("key", signedIn());
    const stored = (await store.get("key")) as { expiresAt: number };
    expect(() => {
      stored.expiresAt = 0;
    }).toThrow(TypeError);
  });
});

it.each(["subject", "sid"] as const)(
  "lists by %s in the order of the last writes, so that a write in between hides no session",
  async (field) => {
    const { clock, now } = stoppedClock();
    const store = memoryStore({ clock });
    const list = (cursor?: string) =>
      field === "subject" ? store.listBySubject("ada", cursor) : store.listBySid("ada", cursor);
    const entry: Entry = { data: EMPTY_RECORD, expiresAt: now() + 60, [field]: "ada" };
    const keys = Array.from({ length: 150 }, (_, index) => `key ${String(index)}`);
    for (const key of keys) await store.insert(key, entry);
    const first = await list();
    expect([...first.entries.keys()]).toEqual(keys.slice(0, 100));
    await store.delete("key 99");
    await store.replace("key 120", entry, (await store.get("key 120"))?.version ?? "");
    const last = await list(first.next);
    expect([...last.entries.keys()]).toEqual([
      ...keys.slice(100, 120),
      ...keys.slice(121),
      "key 120",
    ]);
    expect(last.next).toBeUndefined();
  },
);

import { describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore, Stored } from "../../src/ports/session-store.js";
import {
  allPages,
  createReportedStore,
  type ReportedStore,
} from "../../src/sessions/store-failures.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { polluted } from "../support/polluted.js";

const entry: Entry = { data: new Uint8Array(1), expiresAt: Date.UTC(2024, 0, 1) / 1000 + 60 };
const stored: Stored = { ...entry, version: "1" };
const FULL: Stored = {
  ...stored,
  lastActive: 1,
  subject: "user",
  sid: "session",
  summary: Uint8Array.of(1),
};

/** A store that returns what a test says. */
function fake(methods: Partial<SessionStore> = {}): SessionStore {
  return { name: "fake", ...methods } as SessionStore;
}

const reported = (methods: Partial<SessionStore> = {}) =>
  createReportedStore(fake(methods), new TestClock());
/** What a database without such a row returns. */
const none = () => Promise.resolve(null as unknown as undefined);

it("a last page has no next page after a pollution of Object.prototype, and null counts as none", async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const reported = createReportedStore(store, clock);
  await polluted({ next: "0" }, async () => {
    expect((await reported.listBySubject("ada")).next).toBeUndefined();
  });
  store.listBySubject = () => Promise.resolve({ entries: new Map(), next: null as never });
  expect((await reported.listBySubject("ada")).next).toBeUndefined();
});

it("an entry without a subject, a sid, a stamp and a summary has none after a pollution of Object.prototype", async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  await store.insert("key", entry);
  const reported = createReportedStore(store, clock);
  await polluted(
    {
      subject: "of another user",
      sid: "of another session",
      lastActive: 1,
      summary: new Uint8Array(1),
    },
    async () => {
      for (const entry of [await reported.get("key"), await reported.delete("key")]) {
        expect([entry?.subject, entry?.sid, entry?.lastActive, entry?.summary]).toEqual([
          undefined,
          undefined,
          undefined,
          undefined,
        ]);
      }
    },
  );
});

describe("an entry", () => {
  it("arrives with every field, and without a column of the store's own", async () => {
    const store = reported({ get: () => Promise.resolve({ ...FULL, id: 7 } as Stored) });
    expect(await store.get("key")).toStrictEqual(FULL);
  });

  it("that the store returns as null is undefined, alone and in a list", async () => {
    const pairs = new Map([
      ["here", FULL],
      ["gone", null as unknown as Stored],
    ]);
    const list = () => Promise.resolve({ entries: pairs });
    const store = reported({
      get: none,
      delete: none,
      listBySubject: list,
      listBySid: list,
      getMany: () => Promise.resolve(pairs),
    });
    expect([await store.get("key"), await store.delete("key")]).toEqual([undefined, undefined]);
    const here = new Map([["here", FULL]]);
    expect(await store.getMany(["here", "gone"])).toEqual(here);
    for (const page of [await store.listBySubject("user"), await store.listBySid("session")])
      expect(page).toEqual({ entries: here, next: undefined });
  });

  it("is read one by one with the others, if the store cannot read several at once", async () => {
    const get = vi.fn((key: string) => (key === "gone" ? none() : Promise.resolve(FULL)));
    expect(await reported({ get }).getMany(["a", "gone", "b"])).toEqual(
      new Map([
        ["a", FULL],
        ["b", FULL],
      ]),
    );
    expect(get.mock.calls).toEqual([["a"], ["gone"], ["b"]]);
  });
});

describe("what the store gets and says", () => {
  it("passes through unchanged", async () => {
    const page = { entries: new Map([["key", FULL]]), next: "2" };
    const methods = {
      insert: vi.fn(() => Promise.resolve(true)),
      replace: vi.fn(() => Promise.resolve(false)),
      touch: vi.fn(() => Promise.resolve(true)),
      delete: vi.fn(() => Promise.resolve(FULL)),
      listBySubject: vi.fn(() => Promise.resolve(page)),
      listBySid: vi.fn(() => Promise.resolve(page)),
    };
    const store = reported(methods);
    expect(await store.insert("key", entry)).toBe(true);
    expect(methods.insert).toHaveBeenCalledExactlyOnceWith("key", entry);
    expect(await store.replace("key", entry, "1")).toBe(false);
    expect(methods.replace).toHaveBeenCalledExactlyOnceWith("key", entry, "1");
    expect(await store.touch("key", 5, 6)).toBe(true);
    expect(methods.touch).toHaveBeenCalledExactlyOnceWith("key", 5, 6);
    expect(await store.delete("key")).toEqual(FULL);
    expect(methods.delete).toHaveBeenCalledExactlyOnceWith("key");
    expect(await store.listBySubject("user", "1")).toEqual(page);
    expect(methods.listBySubject).toHaveBeenCalledExactlyOnceWith("user", "1");
    expect(await store.listBySid("session", "1")).toEqual(page);
    expect(methods.listBySid).toHaveBeenCalledExactlyOnceWith("session", "1");
  });

  it("is in this process only if the store says so itself", () => {
    expect(reported({ inProcess: true }).inProcess).toBe(true);
    expect(reported().inProcess).toBe(false);
    expect(reported({ inProcess: 1 as unknown as boolean }).inProcess).toBe(false);
  });

  it("has a search if the store's lists can lose entries, which reads every page of the scan", async () => {
    expect(reported().lossyIndex).toBeUndefined();
    const scan = vi
      .fn()
      .mockResolvedValueOnce({ entries: new Map([["one", FULL]]), next: "1" })
      .mockResolvedValueOnce({ entries: new Map([["gone", null]]), next: "2" })
      .mockResolvedValueOnce({ entries: new Map([["two", FULL]]) });
    const { lossyIndex } = reported({
      lossyIndex: { isWhole: () => Promise.resolve(false), scan },
    });
    expect(await lossyIndex?.isWhole()).toBe(false);
    await polluted({ next: "3" }, async () => {
      expect(await lossyIndex?.search("subject", ["user"])).toEqual({
        entries: new Map([
          ["one", FULL],
          ["two", FULL],
        ]),
        failure: undefined,
      });
    });
    expect(scan.mock.calls).toEqual([[undefined], ["1"], ["2"]]);
  });

  it("lets other work run between two pages of a list", async () => {
    const pages = [
      { entries: new Map([["a", FULL]]), next: "1" },
      { entries: new Map([["b", FULL]]) },
    ];
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    for await (const entries of allPages((cursor = "0") => Promise.resolve(pages[Number(cursor)]!)))
      order.push(...entries.keys());
    expect(order).toEqual(["a", "other work", "b"]);
  });

  it("has the announcements of ends as they are", () => {
    const store = fake();
    expect(createReportedStore(store, new TestClock()).announcements).toBe(store);
  });
});

describe("a failure of the store", () => {
  const uses: [string, (store: ReportedStore) => Promise<unknown> | undefined][] = [
    ["get", (store) => store.get("key")],
    ["insert", (store) => store.insert("key", entry)],
    ["replace", (store) => store.replace("key", entry, "1")],
    ["touch", (store) => store.touch("key", 1, 2)],
    ["delete", (store) => store.delete("key")],
    ["listBySubject", (store) => store.listBySubject("user")],
    ["listBySid", (store) => store.listBySid("session")],
    ["getMany", (store) => store.getMany(["key"])],
    ["isWhole", (store) => store.lossyIndex?.isWhole()],
  ];
  it.each(uses)("of %s is an outage, and is reported once with its duration", async (name, use) => {
    const clock = new TestClock();
    clock.advance(1_000);
    const reason = new Error("the connection was cut");
    const fail = () => {
      clock.advance(7);
      return Promise.reject(reason);
    };
    const onFailure = vi.fn();
    const methods: object = { [name]: fail, lossyIndex: { [name]: fail } };
    await expect(
      use(createReportedStore(fake(methods), clock, { onFailure })),
    ).rejects.toMatchObject({
      name: "StoreUnavailableError",
      cause: reason,
    });
    expect(onFailure).toHaveBeenCalledExactlyOnceWith(reason, 7);
    await expect(use(createReportedStore(fake(methods), clock))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });

  it("of a scan is reported, and returned with what was found", async () => {
    const reason = new Error("cut");
    const onFailure = vi.fn();
    const lossyIndex = {
      isWhole: () => Promise.resolve(false),
      scan: () => Promise.reject(reason),
    };
    const store = createReportedStore(fake({ lossyIndex }), new TestClock(), { onFailure });
    expect(await store.lossyIndex?.search("subject", ["user"])).toEqual({
      entries: new Map(),
      failure: expect.objectContaining({ name: "StoreUnavailableError", cause: reason }),
    });
    expect(onFailure).toHaveBeenCalledExactlyOnceWith(reason, 0);
  });

  it("of one read among several is an outage of all of them", async () => {
    const get = (key: string) =>
      key === "bad" ? Promise.reject(new Error("cut")) : Promise.resolve(FULL);
    await expect(reported({ get }).getMany(["good", "bad"])).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });
});

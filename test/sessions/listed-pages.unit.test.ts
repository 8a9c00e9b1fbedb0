import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, SessionStore, Stored } from "../../src/ports/session-store.js";
import { allPagesUnder, pagesUnder } from "../../src/sessions/listed-pages.js";
import { createReportedStore, type EntryPages } from "../../src/sessions/store-failures.js";
import { TestClock } from "../../src/testing/test-clock.js";

const START = Date.UTC(2024, 0, 1) / 1000;
const stored = (entry: Entry, version = "1"): Stored => ({ ...entry, version });

describe("the pages of a user's sessions", () => {
  async function keysOf(pages: EntryPages): Promise<string[]> {
    const keys: string[] = [];
    for await (const entries of pages) keys.push(...entries.keys());
    return keys;
  }
  /** A store with a list of pages under each hash. */
  function listing(pages: Record<string, string[][]>, more: Partial<SessionStore> = {}) {
    const reads: string[] = [];
    const list = (field: string) => (hash: string, cursor?: string) => {
      reads.push(`${field} ${hash} ${cursor ?? "-"}`);
      const page = Number(cursor ?? 0);
      const keys = pages[hash]?.[page] ?? [];
      const isLast = page + 1 >= (pages[hash]?.length ?? 0);
      return Promise.resolve({
        entries: new Map(keys.map((key) => [key, entryUnder(hash)])),
        ...(!isLast && { next: String(page + 1) }),
      });
    };
    const store = {
      listBySubject: list("subject"),
      listBySid: list("sid"),
      ...more,
    } as SessionStore;
    return { store: createReportedStore(store, new TestClock()), reads };
  }
  const entryUnder = (hash: string): Stored =>
    stored({ data: Uint8Array.of(0), expiresAt: START, subject: hash, sid: `sid of ${hash}` });

  it("are read one after the other, under every key and then in reverse order", async () => {
    const { store, reads } = listing({ new: [["a"], ["b"]], old: [["c"]] });
    expect(await keysOf(pagesUnder(store, "subject", ["new", "old", "older"]))).toEqual(
      ["a", "b", "c"].concat(["c", "a", "b"]),
    );
    expect(reads).toEqual(
      ["new -", "new 1", "old -", "older -", "old -", "new -", "new 1"].map(
        (read) => `subject ${read}`,
      ),
    );
  });

  it("are read once if there is one key", async () => {
    const { store, reads } = listing({ one: [["a"]] });
    expect(await keysOf(pagesUnder(store, "sid", ["one"]))).toEqual(["a"]);
    expect(reads).toEqual(["sid one -"]);
  });

  it("let other work run in between", async () => {
    const { store } = listing({ one: [["a"], ["b"]] });
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    for await (const entries of pagesUnder(store, "subject", ["one"]))
      order.push(...entries.keys());
    expect(order).toEqual(["a", "other work", "b"]);
  });

  describe("in a store whose lists can lose entries", () => {
    const scanned = (isWhole: boolean) => {
      const all: [string, Stored][] = [
        ["lost", entryUnder("one")],
        ["of another user", entryUnder("another")],
        ["under the old key", entryUnder("two")],
        ["without a user", stored({ data: Uint8Array.of(0), expiresAt: START })],
      ];
      return listing(
        { one: [["listed"]] },
        {
          lossyIndex: {
            isWhole: () => Promise.resolve(isWhole),
            scan: (cursor = "0") =>
              Promise.resolve({
                entries: new Map([all[Number(cursor)]!]),
                ...(cursor !== "3" && { next: String(Number(cursor) + 1) }),
              }),
          },
        },
      ).store;
    };

    it("are completed with the user's lost entries", async () => {
      expect(await keysOf(allPagesUnder(scanned(false), "subject", ["one", "two"]))).toEqual([
        "listed",
        "listed",
        "lost",
        "under the old key",
      ]);
    });

    it("are completed with the entries of the provider's session", async () => {
      expect(await keysOf(allPagesUnder(scanned(false), "sid", ["sid of another"]))).toEqual([
        "of another user",
      ]);
    });

    it("that were found count, if the scan fails afterwards, and the failure isn't hidden", async () => {
      const { store } = listing(
        { one: [["listed"]] },
        {
          lossyIndex: {
            isWhole: () => Promise.resolve(false),
            scan: (cursor) =>
              cursor === undefined
                ? Promise.resolve({ entries: new Map([["lost", entryUnder("one")]]), next: "1" })
                : Promise.reject(new Error("cut")),
          },
        },
      );
      const keys: string[] = [];
      const read = async () => {
        for await (const entries of allPagesUnder(store, "subject", ["one"]))
          keys.push(...entries.keys());
      };
      await expect(read()).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(keys).toEqual(["listed", "lost"]);
    });

    it("are all there is while the lists are whole", async () => {
      expect(await keysOf(allPagesUnder(scanned(true), "subject", ["one"]))).toEqual(["listed"]);
      const { store } = listing({ one: [["listed"]] });
      expect(await keysOf(allPagesUnder(store, "subject", ["one"]))).toEqual(["listed"]);
    });
  });
});

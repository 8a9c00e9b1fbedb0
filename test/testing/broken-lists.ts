import type { Entry, EntryPage, Stored } from "../../src/adapter.js";
import { broken, type BrokenStore } from "./broken-store.js";
import { MapStore } from "./map-store.js";

// Stores whose lists, getMany or lossyIndex are broken on purpose.

type List = (
  of: Lists,
  belongs: (stored: Stored) => boolean,
  cursor: string | undefined,
  hash: string,
) => EntryPage;

/** A map store with its members open. */
class Lists extends MapStore {
  all(): [key: string, stored: Stored][] {
    return [...this.entries].sort(([one], [other]) => (one < other ? -1 : 1));
  }
  override live(key: string): Stored | undefined {
    return super.live(key);
  }
  override page(belongs: (stored: Stored) => boolean, cursor?: string): EntryPage {
    return super.page(belongs, cursor);
  }
}

const listMethods = [
  ["listBySubject", "subject"],
  ["listBySid", "sid"],
] as const;

const brokenListsOf = ([method, field]: (typeof listMethods)[number]): BrokenStore[] => {
  const listing = (list: List) =>
    class extends Lists {
      override async listBySubject(hash: string, cursor?: string) {
        return field === "subject"
          ? list(this, ({ subject }) => subject === hash, cursor, hash)
          : super.listBySubject(hash, cursor);
      }
      override async listBySid(hash: string, cursor?: string) {
        return field === "sid"
          ? list(this, ({ sid }) => sid === hash, cursor, hash)
          : super.listBySid(hash, cursor);
      }
    };
  return [
    broken(
      `${method} lists what has expired`,
      ["expiry", "each method treats an expired entry"],
      ["expiry", "everywhere"],
      listing((store, belongs, after = "") => {
        const found = store.all().filter(([key, stored]) => key > after && belongs(stored));
        return { entries: new Map(found.slice(0, 100)), next: found[100] && found[99]?.[0] };
      }),
    ),
    broken(
      `lists the entries of every ${field}`,
      [method, "returns all entries of the"],
      ["everywhere", "separation"],
      listing((store, _belongs, cursor) =>
        store.page((stored) => stored[field] !== undefined, cursor),
      ),
    ),
    broken(
      `${method} lists entries without their summary`,
      [method, "returns all entries of the"],
      ["everywhere"],
      listing((store, belongs, cursor) => {
        const { entries, next } = store.page(belongs, cursor);
        return {
          entries: new Map([...entries].map(([key, { summary: _, ...stored }]) => [key, stored])),
          next,
        };
      }),
    ),
    broken(
      `${method} lists a first page only`,
      [method, "returns many entries in pages of"],
      ["everywhere"],
      listing((store, belongs) => ({ entries: store.page(belongs).entries })),
    ),
    broken(
      `${method} lists everything at once`,
      [method, "returns many entries in pages of"],
      ["everywhere"],
      listing((store, belongs) => ({
        entries: new Map(store.all().filter(([key, stored]) => store.live(key) && belongs(stored))),
      })),
    ),
    broken(
      `${method} has no last page`,
      [method, "returns many entries in pages of"],
      ["expiry", "everywhere", "separation"],
      listing((store, belongs, cursor) => {
        const { entries, next } = store.page(belongs, cursor);
        return { entries, next: next ?? "" };
      }),
    ),
    broken(
      `${method} counts the entries to skip`,
      [method, "misses no entry while those of"],
      ["everywhere"],
      listing((store, belongs, cursor = "0") => {
        const found = store.all().filter(([key, stored]) => store.live(key) && belongs(stored));
        const end = Number(cursor) + 100;
        return {
          entries: new Map(found.slice(Number(cursor), end)),
          next: end < found.length ? String(end) : undefined,
        };
      }),
    ),
    broken(
      `keeps the ${field} of the insert`,
      [method, "follows a replace that changes the"],
      ["everywhere"],
      class extends MapStore {
        override async replace(key: string, entry: Entry, version: string) {
          const stored = this.live(key)?.[field];
          return super.replace(
            key,
            { ...entry, ...(stored !== undefined && { [field]: stored }) },
            version,
          );
        }
      },
    ),
    broken(
      `matches the ${field} in any letter case`,
      [method, "compares the"],
      ["everywhere", "separation"],
      listing((store, _belongs, cursor, hash) =>
        store.page((stored) => stored[field]?.toLowerCase() === hash.toLowerCase(), cursor),
      ),
    ),
    broken(
      `matches the ${field} as a pattern`,
      [method, "compares the"],
      ["everywhere", "separation"],
      listing((store, _belongs, cursor, hash) =>
        store.page(
          (stored) => new RegExp(`^${hash.replaceAll("*", ".*")}$`).test(stored[field] ?? ""),
          cursor,
        ),
      ),
    ),
  ];
};

/** A store whose getMany does what `change` makes of the right entries. */
const getting = (
  change: (found: Map<string, Stored>, of: Lists, keys: readonly string[]) => Map<string, Stored>,
) =>
  class extends Lists {
    async getMany(keys: readonly string[]) {
      const found = new Map<string, Stored>();
      for (const key of keys) {
        const stored = await this.get(key);
        if (stored !== undefined) found.set(key, stored);
      }
      return change(found, this, keys);
    }
  };

/** A store whose scan gives the page after the `cursor` that `change` makes of the right one. */
const scanning = (change: (page: EntryPage, of: Lists) => EntryPage) =>
  class extends Lists {
    readonly lossyIndex = {
      isWhole: async () => false,
      scan: async (cursor?: string) =>
        change(
          this.page(({ subject, sid }) => (subject ?? sid) !== undefined, cursor),
          this,
        ),
    };
  };

export const brokenLists: readonly BrokenStore[] = [
  ...listMethods.flatMap(brokenListsOf),
  broken(
    "refuses an insert, and indexes its sid all the same",
    ["listBySid", "returns the results of insert, replace"],
    ["expiry", "everywhere", "separation"],
    class extends MapStore {
      readonly index = new Map<string, string[]>();
      override async insert(key: string, entry: Entry) {
        if (entry.sid !== undefined)
          this.index.set(entry.sid, [...(this.index.get(entry.sid) ?? []), key]);
        return super.insert(key, entry);
      }
      override async listBySid(sid: string, cursor?: string) {
        const indexed = (this.index.get(sid) ?? []).map((key) => this.live(key));
        return this.page((stored) => stored.sid === sid || indexed.includes(stored), cursor);
      }
    },
  ),
  broken(
    "scan leaves out what has only a sid",
    ["lossyIndex", "scan returns all entries"],
    [6, "everywhere"],
    scanning(({ entries, next }) => ({
      entries: new Map([...entries].filter(([, { subject }]) => subject !== undefined)),
      next,
    })),
  ),
  broken(
    "scan has one page",
    ["lossyIndex", "scan misses no entry"],
    [6, "everywhere"],
    scanning(({ entries }) => ({ entries })),
  ),
  broken(
    "getMany gives an entry under another key",
    ["getMany", "returns each stored entry under"],
    ["expiry", "separation"],
    getting(
      (found) =>
        new Map(
          [...found.keys()].map((key, index) => [
            key,
            [...found.values()].reverse()[index] as Stored,
          ]),
        ),
    ),
  ),
  broken(
    "getMany returns the first hundred",
    ["getMany", "returns 500 entries at once"],
    ["separation"],
    getting((found) => new Map([...found].slice(0, 100))),
  ),
  broken(
    "getMany returns what has expired",
    ["getMany", "leaves out an entry that has expired"],
    ["expiry"],
    getting((found, store, keys) => {
      for (const [key, stored] of store.all()) if (keys.includes(key)) found.set(key, stored);
      return found;
    }),
  ),
];

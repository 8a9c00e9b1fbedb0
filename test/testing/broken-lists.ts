import type { Entry, Stored } from "../../src/index.js";
import { broken, type BrokenStore } from "./broken-store.js";
import { MapStore } from "./map-store.js";

// Stores whose lists or whose getMany are broken on purpose.

type List = (of: Lists, hash: string) => string[] | Promise<string[]>;

/** A map store with its members open. */
class Lists extends MapStore {
  all(): [key: string, stored: Stored][] {
    return [...this.entries];
  }
  override live(key: string): Stored | undefined {
    return super.live(key);
  }
}

const listMethods = [
  ["listBySubject", "subject"],
  ["listBySid", "sid"],
] as const;

const brokenListsOf = ([method, field]: (typeof listMethods)[number]): BrokenStore[] => {
  const listing = (list: List) =>
    class extends Lists {
      override async listBySubject(hash: string) {
        return field === "subject" ? list(this, hash) : super.listBySubject(hash);
      }
      override async listBySid(hash: string) {
        return field === "sid" ? list(this, hash) : super.listBySid(hash);
      }
    };
  const matching = (store: Lists, isMatch: (value: string) => boolean): string[] =>
    store.all().flatMap(([key]) => (isMatch(store.live(key)?.[field] ?? "") ? key : []));
  return [
    broken(
      `${method} lists what has expired`,
      ["expiry", "each method treats an expired entry"],
      ["expiry", "everywhere"],
      listing((store, hash) => store.all().flatMap(([key, stored]) => (stored[field] === hash ? key : []))),
    ),
    broken(
      `lists the keys of every ${field}`,
      [method, "returns all keys of the"],
      ["everywhere", "separation"],
      listing((store) => matching(store, (value) => value !== "")),
    ),
    broken(
      `${method} lists a first page`,
      [method, "returns each of many keys once,"],
      ["everywhere"],
      listing((store, hash) => matching(store, (value) => value === hash).slice(0, 100)),
    ),
    broken(
      `${method} lists in pages that overlap`,
      [method, "returns each of many keys once,"],
      ["everywhere"],
      listing((store, hash) => {
        const keys = matching(store, (value) => value === hash);
        return keys.length > 100 ? [...keys, ...keys.slice(100)] : keys;
      }),
    ),
    broken(
      `keeps the ${field} of the insert`,
      [method, "follows a replace that changes the"],
      ["everywhere"],
      class extends MapStore {
        override async replace(key: string, entry: Entry, version: string) {
          const stored = this.live(key)?.[field];
          return super.replace(key, { ...entry, ...(stored !== undefined && { [field]: stored }) }, version);
        }
      },
    ),
    broken(
      `matches the ${field} in any letter case`,
      [method, "compares the"],
      ["everywhere", "separation"],
      listing((store, hash) => matching(store, (value) => value.toLowerCase() === hash.toLowerCase())),
    ),
    broken(
      `matches the ${field} as a pattern`,
      [method, "compares the"],
      ["everywhere", "separation"],
      listing((store, hash) => matching(store, (value) => new RegExp(`^${hash.replaceAll("*", ".*")}$`).test(value))),
    ),
  ];
};

/** A store whose getMany does what `change` makes of the right entries. */
const getting = (change: (found: Map<string, Stored>, of: Lists, keys: readonly string[]) => Map<string, Stored>) =>
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

export const brokenLists: readonly BrokenStore[] = [
  ...listMethods.flatMap(brokenListsOf),
  broken(
    "refuses an insert, and indexes its sid all the same",
    ["listBySid", "returns the results of insert, replace"],
    ["expiry", "everywhere", "separation"],
    class extends MapStore {
      readonly index = new Map<string, string[]>();
      override async insert(key: string, entry: Entry) {
        if (entry.sid !== undefined) this.index.set(entry.sid, [...(this.index.get(entry.sid) ?? []), key]);
        return super.insert(key, entry);
      }
      override async listBySid(sid: string) {
        const listed = await super.listBySid(sid);
        return [...new Set([...listed, ...(this.index.get(sid) ?? []).filter((key) => this.live(key))])];
      }
    },
  ),
  broken(
    "getMany gives an entry under another key",
    ["getMany", "returns each stored entry under"],
    ["expiry", "separation"],
    getting((found) => new Map([...found.keys()].map((key, index) => [key, [...found.values()].reverse()[index] as Stored]))),
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

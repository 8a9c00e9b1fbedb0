import type { Stored } from "../../src/adapter.js";
import { StoreUnavailableError, type Clock, type SessionStore } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";

/**
 * A memory store that remembers what it was asked, and can be made to fail. Records lie in it as
 * they are.
 */
export interface WatchedStore extends SessionStore {
  /** The names of the operations so far, in order; may be emptied. */
  readonly operations: string[];
  /** Operations that changed something or could have. */
  readonly writes: readonly string[];
  /** The live entries. */
  entries(): Promise<Stored[]>;
  /** Every operation fails until it is false again. */
  isDown: boolean;
}

export function watchedStore(clock: Clock): WatchedStore {
  const store = memoryStore({ clock });
  const keys = new Set<string>();
  const operations: string[] = [];
  const watched: WatchedStore = {
    name: "watched",
    inProcess: true,
    operations,
    isDown: false,
    get writes() {
      return operations.filter((operation) => operation !== "get");
    },
    async entries() {
      const found = await Promise.all([...keys].map((key) => store.get(key)));
      return found.filter((entry) => entry !== undefined);
    },
    get: (key) => ask("get", () => store.get(key)),
    insert(key, entry) {
      keys.add(key);
      return ask("insert", () => store.insert(key, entry));
    },
    replace: (key, entry, version) => ask("replace", () => store.replace(key, entry, version)),
    touch: (key, lastActive, expiresAt) =>
      ask("touch", () => store.touch(key, lastActive, expiresAt)),
    delete: (key) => ask("delete", () => store.delete(key)),
    listBySubject: (subject, cursor) =>
      ask("listBySubject", () => store.listBySubject(subject, cursor)),
    listBySid: (sid, cursor) => ask("listBySid", () => store.listBySid(sid, cursor)),
  };
  function ask<Answer>(operation: string, question: () => Promise<Answer>): Promise<Answer> {
    operations.push(operation);
    return watched.isDown ? Promise.reject(new StoreUnavailableError()) : question();
  }
  return watched;
}

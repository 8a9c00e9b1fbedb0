import type { Entry, Stored } from "../../src/adapter.js";
import type { SessionStore } from "../../src/index.js";
import type { BrokenStore } from "./broken-store.js";
import { ServerData, SharedStore, underTest, type Server } from "./shared-store.js";

// Shared stores that are broken on purpose, each in one way that only several processes or an outage
// bring to light.

function broken(
  name: string,
  breaks: BrokenStore["breaks"],
  loses: BrokenStore["loses"],
  open: new (server: Server) => SessionStore,
  timeLimit?: number,
  afterOutage?: (server: Server) => void,
): BrokenStore {
  return { name, breaks, loses, create: () => underTest(open, timeLimit, afterOutage) };
}

/** Lets one call at a time through: what a process can do against itself, and against no other. */
class TakingTurns extends SharedStore {
  #last: Promise<unknown> = Promise.resolve();
  protected inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Remembers what it has read, until it writes itself. */
class Remembering extends SharedStore {
  protected readonly known = new Map<string, Stored>();
  override async get(key: string) {
    const known = this.known.get(key);
    const isFresh = known !== undefined && known.expiresAt > this.server.clock.seconds;
    const stored = isFresh ? known : await super.get(key);
    if (stored) this.known.set(key, stored);
    return stored && structuredClone(stored);
  }
  override replace(key: string, entry: Entry, version: string) {
    this.known.delete(key);
    return super.replace(key, entry, version);
  }
  override touch(key: string, lastActive: number | null, expiresAt: number) {
    this.known.delete(key);
    return super.touch(key, lastActive, expiresAt);
  }
  override delete(key: string) {
    this.known.delete(key);
    return super.delete(key);
  }
}

export const brokenSharedStores: readonly BrokenStore[] = [
  broken(
    "compares and sets under a lock of its own process",
    ["processes", "of many replaces at once over"],
    [2, 4, 5],
    class extends TakingTurns {
      override replace(key: string, entry: Entry, version: string) {
        return this.inTurn(async () => {
          if ((await super.get(key))?.version !== version) return false;
          return this.server.ask(async (store) =>
            store.replace(key, entry, (await store.get(key))?.version ?? ""),
          );
        });
      }
    },
  ),
  broken(
    "inserts under a lock of its own process",
    ["processes", "of many inserts at once over"],
    [5],
    class extends TakingTurns {
      override insert(key: string, entry: Entry) {
        return this.inTurn(async () => {
          if (await super.get(key)) return false;
          return this.server.ask(async (store) => {
            await store.delete(key);
            return store.insert(key, entry);
          });
        });
      }
    },
  ),
  broken(
    "reads, then deletes, under a lock of its own process",
    ["processes", "a delete by one store against"],
    [6],
    class extends TakingTurns {
      override replace(key: string, entry: Entry, version: string) {
        return this.inTurn(() => super.replace(key, entry, version));
      }
      override delete(key: string) {
        return this.inTurn(async () => {
          const stored = await super.get(key);
          await super.delete(key);
          return stored;
        });
      }
    },
  ),
  broken(
    "remembers what it has read",
    ["processes", "one store returns what the other"],
    [2, 3, 5, 6, 7, "expiry", "idle"],
    Remembering,
  ),
  broken(
    "falls back to what it remembers where the server has nothing",
    ["processes", "an entry that one store has"],
    [6],
    class extends Remembering {
      override async get(key: string) {
        const [remembered, stored] = [
          this.known.get(key),
          await SharedStore.prototype.get.call(this, key),
        ];
        if (stored) this.known.set(key, stored);
        return (
          stored ??
          (remembered && remembered.expiresAt > this.server.clock.seconds ? remembered : undefined)
        );
      }
    },
  ),
  broken(
    "touch reads and writes back, under a lock of its own process",
    ["processes", "a touch by one store against"],
    [3, 5],
    class extends TakingTurns {
      override replace(key: string, entry: Entry, version: string) {
        return this.inTurn(() => super.replace(key, entry, version));
      }
      override delete(key: string) {
        return this.inTurn(() => super.delete(key));
      }
      override touch(key: string, lastActive: number | null, expiresAt: number) {
        return this.inTurn(async () => {
          const early = await super.get(key);
          if (!early) return false;
          return this.server.ask(async (store) => {
            if ((await store.get(key)) === undefined) return false;
            store.restore(key, early);
            return store.touch(key, lastActive, expiresAt);
          });
        });
      }
    },
  ),
  broken(
    "keeps stamps in its own process, to write them later",
    ["processes", "a time stamp by one store"],
    ["expiry", "idle", "everywhere"],
    class extends SharedStore {
      readonly #stamps = new Map<string, { lastActive: number | null; expiresAt: number }[]>();
      override async get(key: string) {
        return this.server.ask(async (store) => {
          const stored = await store.get(key);
          const stamps = this.#stamps.get(key) ?? [];
          if (!stored) return undefined;
          const lastActive = Math.max(
            stored.lastActive ?? -1,
            ...stamps.map((stamp) => stamp.lastActive ?? -1),
          );
          const expiresAt = Math.max(stored.expiresAt, ...stamps.map((stamp) => stamp.expiresAt));
          return { ...stored, expiresAt, ...(lastActive >= 0 && { lastActive }) };
        });
      }
      override async touch(key: string, lastActive: number | null, expiresAt: number) {
        if ((await super.get(key)) === undefined) return false;
        this.#stamps.set(key, [...(this.#stamps.get(key) ?? []), { lastActive, expiresAt }]);
        return true;
      }
    },
  ),
  broken(
    "keeps the index of subjects in its own process",
    ["processes", "each store lists what the other"],
    ["everywhere"],
    class extends SharedStore {
      readonly #keys = new Set<string>();
      override insert(key: string, entry: Entry) {
        this.#keys.add(key);
        return super.insert(key, entry);
      }
      override async listBySubject(subject: string, cursor?: string) {
        const { entries, next } = await super.listBySubject(subject, cursor);
        return { entries: new Map([...entries].filter(([key]) => this.#keys.has(key))), next };
      }
    },
  ),
  broken(
    "says inProcess, and is handed records in the clear",
    ["processes", "a store that another process can"],
    ["secrecy"],
    class extends SharedStore {
      override readonly inProcess = true;
    },
  ),
  broken(
    "takes an outage for an empty store",
    ["outage", "every method rejects in time, and"],
    [7],
    class extends SharedStore {
      override get(key: string) {
        return super.get(key).catch(() => undefined);
      }
      override touch(key: string, lastActive: number | null, expiresAt: number) {
        return super.touch(key, lastActive, expiresAt).catch(() => false);
      }
    },
  ),
  broken(
    "waits for its server for ever",
    ["outage", "every method rejects in time, and"],
    [7],
    class extends SharedStore {
      override async get(key: string): Promise<Stored | undefined> {
        return this.server.isAway ? new Promise<undefined>(() => undefined) : super.get(key);
      }
    },
    100,
  ),
  broken(
    "rejects with a text",
    ["outage", "every method rejects in time, and"],
    [7],
    class extends SharedStore {
      override async get(key: string) {
        if (this.server.isAway) throw "away";
        return super.get(key);
      }
    },
  ),
  ...(["insert", "replace", "touch", "delete"] as const).map((method) =>
    broken(
      `queues each ${method} during an outage and does it after`,
      ["outage", "after an outage, no refused operation"],
      [7],
      class extends SharedStore {
        readonly #queue: (() => Promise<unknown>)[] = [];
        #queued<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
          if (this.server.isAway && name === method) this.#queue.push(work);
          return work();
        }
        override async get(key: string) {
          if (!this.server.isAway) for (const work of this.#queue.splice(0)) await work();
          return super.get(key);
        }
        override insert(key: string, entry: Entry) {
          return this.#queued("insert", () => super.insert(key, entry));
        }
        override replace(key: string, entry: Entry, version: string) {
          return this.#queued("replace", () => super.replace(key, entry, version));
        }
        override touch(key: string, lastActive: number | null, expiresAt: number) {
          return this.#queued("touch", () => super.touch(key, lastActive, expiresAt));
        }
        override delete(key: string) {
          return this.#queued("delete", () => super.delete(key));
        }
      },
    ),
  ),
  broken(
    "loses everything with its server",
    ["outage", "after an outage, every entry still"],
    [7],
    SharedStore,
    undefined,
    (server) => (server.store = new ServerData(server.clock)),
  ),
  broken(
    "shows in its errors what was to be written",
    ["outage", "no error contains the data of"],
    ["secrecy"],
    class extends SharedStore {
      override replace(key: string, entry: Entry, version: string) {
        return super.replace(key, entry, version).catch((cause: unknown) => {
          throw new Error("The command failed.", {
            cause: { command: ["SET", entry.data], cause },
          });
        });
      }
    },
  ),
];

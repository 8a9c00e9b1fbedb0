import assert from "node:assert/strict";
import { StoreUnavailableError } from "../../src/errors.js";
import type { Entry, EntryPage, SessionStore, Stored } from "../../src/ports/session-store.js";
import type { EpochSeconds } from "../../src/clock.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import type { Ledger } from "./ledger.js";
import type { Fault, Process, Scheduler } from "./scheduler.js";

/** Milliseconds that an operation may take, as every store of the package keeps to. */
const TIMEOUT = 2_000;
/** Entries in a page of a list. */
const PAGE = 2;

/**
 * One store that all processes share, as one outside of them would be: bytes go in and copies come
 * out, and each operation is two steps of the scheduler. The ledger is shown every operation in the
 * step that does its work.
 */
export class ScheduledStore {
  isDown = false;
  /** The probability that a single operation fails although the store is up. */
  hiccups = 0;
  readonly #scheduler: Scheduler;
  readonly #ledger: Ledger;
  readonly #store: SessionStore;

  constructor(scheduler: Scheduler, ledger: Ledger) {
    this.#scheduler = scheduler;
    this.#ledger = ledger;
    const { clock } = scheduler;
    // No sweeps: expiry shows without them, and they would be steps of nobody.
    const still = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer: () => () => undefined,
    };
    this.#store = memoryStore({ clock: still });
  }

  /** What lies under a key, past the scheduler. */
  peek(key: string): Promise<Stored | undefined> {
    return this.#store.get(key);
  }

  /** The connection of one process. */
  of(process: Process): SessionStore {
    const store = this.#store;
    const ledger = this.#ledger;
    const call = <Result>(method: string, key: string, work: () => Promise<Result>) =>
      this.#scheduler.operation<Result>(process, {
        label: `store.${method} ${ledger.nameOf(key)}`,
        work: () => {
          this.#scheduler.count(`store.${method}`);
          return work();
        },
        fault: () => this.#fault(),
        failure: (how) => new StoreUnavailableError(`The session store did not answer (${how}).`),
        timeout: TIMEOUT,
      });
    /** By key, and so small that other steps come between two pages of a list. */
    const page = async (list: () => Promise<EntryPage>, after = ""): Promise<EntryPage> => {
      const { entries, next } = await list();
      assert.equal(next, undefined, "more sessions than a page of the memory store has");
      const keys = [...entries.keys()].sort().filter((key) => key > after);
      ledger.listed(keys);
      const shown = keys
        .slice(0, PAGE)
        .map((key) => [key, copyOf(entries.get(key))] as [string, Stored]);
      return { entries: new Map(shown), next: keys.length > PAGE ? shown.at(-1)?.[0] : undefined };
    };
    return {
      name: "scheduled",
      get: (key) => call("get", key, async () => copyOf(await store.get(key))),
      insert: (key, entry) => {
        const kept = onlyBytes(entry);
        return call("insert", key, async () => {
          const isDone = await store.insert(key, kept);
          if (isDone) ledger.inserted(process, key, await store.get(key));
          return isDone;
        });
      },
      replace: (key, entry, version) => {
        const kept = onlyBytes(entry);
        return call("replace", key, async () => {
          const isDone = await store.replace(key, kept, version);
          if (isDone) ledger.replaced(process, key, await store.get(key));
          else this.#scheduler.count("conflict");
          return isDone;
        });
      },
      touch: (key, lastActive: EpochSeconds | null, expiresAt) =>
        call("touch", key, async () => {
          const isDone = await store.touch(key, lastActive, expiresAt);
          if (isDone) ledger.touched(key, await store.get(key));
          return isDone;
        }),
      delete: (key) =>
        call("delete", key, async () => {
          const removed = await store.delete(key);
          ledger.deleted(key, removed);
          return copyOf(removed);
        }),
      listBySubject: (subject, cursor) =>
        call("listBySubject", subject, () => page(() => store.listBySubject(subject), cursor)),
      listBySid: (sid, cursor) =>
        call("listBySid", sid, () => page(() => store.listBySid(sid), cursor)),
    };
  }

  #fault(): Fault {
    const { random } = this.#scheduler;
    if (this.isDown) return random.pick(["before", "before", "before", "after", "hang"]);
    return this.hiccups > 0 && random.chance(this.hiccups)
      ? random.pick(["before", "after", "after", "hang"])
      : "none";
  }
}

function copyOf(stored: Stored | undefined): Stored | undefined {
  return stored && { ...stored, data: Uint8Array.from(stored.data as Uint8Array) };
}

/** The process goes on with its objects; the store keeps what they were. */
function onlyBytes(entry: Entry): Entry {
  assert.ok(entry.data instanceof Uint8Array, "a record left the process unsealed");
  return {
    ...entry,
    data: Uint8Array.from(entry.data),
    ...(entry.summary && { summary: Uint8Array.from(entry.summary) }),
  };
}

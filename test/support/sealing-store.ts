import assert from "node:assert/strict";
import type { Entry, EntryPage, SessionStore, Stored } from "../../src/ports/session-store.js";
import type { Clock, EpochSeconds } from "../../src/clock.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";

export type StoreMethod =
  "get" | "insert" | "replace" | "touch" | "delete" | "listBySubject" | "listBySid";

export interface StoreCall {
  readonly method: StoreMethod;
  /** The session's key; the hash that is listed by. */
  readonly key: string;
  /** What was listed, for `after`. */
  readonly page?: EntryPage | undefined;
}

type Hook = ((call: StoreCall) => void | Promise<void>) | undefined;

/**
 * A store as one outside the process would be: it is handed bytes only, and gives back copies. Its
 * hooks schedule and break it: a hook that waits holds the call there, one that throws makes the
 * call reject.
 */
export class SealingStore implements SessionStore {
  readonly name = "sealing";
  readonly inProcess = false;
  /** Every call so far. May be emptied. */
  readonly calls: StoreCall[] = [];
  /** Every key that was ever inserted, in order. */
  readonly inserted: string[] = [];
  /** Before the work: what it throws leaves nothing changed. */
  before: Hook;
  /**
   * After the work and before the answer: what it throws leaves the caller in the dark about what
   * was done.
   */
  after: Hook;
  readonly #store: SessionStore;

  constructor(clock: Clock) {
    this.#store = memoryStore({ clock });
  }

  /** How often a method was called since `calls` was last emptied. */
  count(method: StoreMethod): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  /** What lies under a key, bypassing hooks and counts. */
  async peek(key: string): Promise<Stored | undefined> {
    return this.#store.get(key);
  }

  /** Puts other bytes where a record lies, as somebody with access to the store could. */
  async tamper(key: string, change: (data: Uint8Array) => Uint8Array): Promise<void> {
    const stored = await this.#store.get(key);
    assert.ok(stored?.data instanceof Uint8Array, "there is nothing to tamper with");
    await this.#store.replace(
      key,
      { ...stored, data: change(Uint8Array.from(stored.data)) },
      stored.version,
    );
  }

  async get(key: string): Promise<Stored | undefined> {
    const stored = await this.#call("get", key, () => this.#store.get(key));
    return stored && { ...stored, data: Uint8Array.from(stored.data as Uint8Array) };
  }

  async insert(key: string, entry: Entry): Promise<boolean> {
    const kept = onlyBytes(entry);
    this.inserted.push(key);
    return this.#call("insert", key, () => this.#store.insert(key, kept));
  }

  async replace(key: string, entry: Entry, version: string): Promise<boolean> {
    const kept = onlyBytes(entry);
    return this.#call("replace", key, () => this.#store.replace(key, kept, version));
  }

  async touch(
    key: string,
    lastActive: EpochSeconds | null,
    expiresAt: EpochSeconds,
  ): Promise<boolean> {
    return this.#call("touch", key, () => this.#store.touch(key, lastActive, expiresAt));
  }

  async delete(key: string): Promise<Stored | undefined> {
    return this.#call("delete", key, () => this.#store.delete(key));
  }

  async listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.#call("listBySubject", subject, async () =>
      copyOf(await this.#store.listBySubject(subject, cursor)),
    );
  }

  async listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.#call("listBySid", sid, async () =>
      copyOf(await this.#store.listBySid(sid, cursor)),
    );
  }

  async #call<Result>(
    method: StoreMethod,
    key: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const call = { method, key };
    this.calls.push(call);
    await this.before?.(call);
    const result = await work();
    await this.after?.(method.startsWith("listBy") ? { ...call, page: result as EntryPage } : call);
    return result;
  }
}

/** The process goes on with its objects; the store keeps what they were. */
function onlyBytes(entry: Entry): Entry {
  assert.ok(entry.data instanceof Uint8Array, "a record left the process unsealed");
  return { ...entry, data: Uint8Array.from(entry.data) };
}

function copyOf({ entries, next }: EntryPage): EntryPage {
  return { entries: structuredClone(entries), next };
}

import type { Clock } from "../clock.js";
import { asStoreUnavailable } from "../errors.js";
import type { Entry, EntryPage, SessionStore, Stored } from "../ports/session-store.js";

/** @param duration milliseconds */
export type StoreFailureListener = (error: unknown, duration: number) => void;

/**
 * A store whose every failure is reported and becomes a `StoreUnavailableError`. Entries have own properties only, and null, which many
 * databases return for a missing row, becomes undefined.
 */
export class ReportedStore {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #onFailure: StoreFailureListener | undefined;
  readonly inProcess: boolean;
  /** How the store announces ends. Failures of this are not outages, and are not reported here. */
  readonly announcements: Pick<SessionStore, "announceEnd" | "watchEnds">;

  constructor(store: SessionStore, clock: Clock, onFailure?: StoreFailureListener) {
    this.#store = store;
    this.inProcess = store.inProcess === true;
    this.announcements = store;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /** Runs for every request: no closure. */
  async get(key: string): Promise<Stored | undefined> {
    const started = this.#clock.monotonic();
    try {
      return owned(await this.#store.get(key));
    } catch (error) {
      throw this.#failed(error, started);
    }
  }

  insert(key: string, entry: Entry): Promise<boolean> {
    return this.#run((store) => store.insert(key, entry));
  }

  replace(key: string, entry: Entry, version: string): Promise<boolean> {
    return this.#run((store) => store.replace(key, entry, version));
  }

  touch(key: string, lastActive: number | null, expiresAt: number): Promise<boolean> {
    return this.#run((store) => store.touch(key, lastActive, expiresAt));
  }

  async delete(key: string): Promise<Stored | undefined> {
    return owned(await this.#run((store) => store.delete(key)));
  }

  listBySubject(subject: string, cursor?: string): Promise<EntryPage> {
    return this.#list((store) => store.listBySubject(subject, cursor));
  }

  listBySid(sid: string, cursor?: string): Promise<EntryPage> {
    return this.#list((store) => store.listBySid(sid, cursor));
  }

  /** Several entries at once, at most 500; missing ones are left out. */
  async getMany(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    return this.#run(async (store) => allOwned(await (store.getMany?.(keys) ?? getEach(store, keys))));
  }

  #list(list: (store: SessionStore) => Promise<EntryPage>): Promise<EntryPage> {
    return this.#run(async (store) => {
      const page = await list(store);
      return { entries: allOwned(page.entries), next: Object.hasOwn(page, "next") ? (page.next ?? undefined) : undefined };
    });
  }

  async #run<Result>(work: (store: SessionStore) => Promise<Result>): Promise<Result> {
    const started = this.#clock.monotonic();
    try {
      return await work(this.#store);
    } catch (error) {
      throw this.#failed(error, started);
    }
  }

  #failed(error: unknown, started: number): Error {
    this.#onFailure?.(error, this.#clock.monotonic() - started);
    return asStoreUnavailable(error);
  }
}

async function getEach(store: SessionStore, keys: readonly string[]): Promise<[key: string, stored: Stored | undefined][]> {
  return Promise.all(keys.map(async (key) => [key, await store.get(key)] as [string, Stored | undefined]));
}

function allOwned(entries: Iterable<readonly [key: string, stored: Stored | null | undefined]>): Map<string, Stored> {
  const found = new Map<string, Stored>();
  for (const [key, stored] of entries) {
    const entry = owned(stored);
    if (entry !== undefined) found.set(key, entry);
  }
  return found;
}

/** Hides a polluted `Object.prototype` behind the optional fields. Runs for every request: a literal is much cheaper than a spread. */
function owned(stored: Stored | null | undefined): Stored | undefined {
  if (!stored) return undefined;
  return {
    data: stored.data,
    version: stored.version,
    expiresAt: stored.expiresAt,
    lastActive: Object.hasOwn(stored, "lastActive") ? stored.lastActive : undefined,
    subject: Object.hasOwn(stored, "subject") ? stored.subject : undefined,
    sid: Object.hasOwn(stored, "sid") ? stored.sid : undefined,
    summary: Object.hasOwn(stored, "summary") ? stored.summary : undefined,
  } as Stored;
}

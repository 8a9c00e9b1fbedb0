import { nextTurn, type Clock, type EpochSeconds } from "../clock.js";
import { asStoreUnavailable } from "../errors.js";
import type { Operation, Operations } from "../ports/observer.js";
import type { EndWatcher, Entry, EntryPage, SessionStore, Stored } from "../ports/session-store.js";
import { createSharedScans, type Search } from "./shared-scans.js";

/** @param duration milliseconds */
export type StoreFailureListener = (error: unknown, duration: number) => void;

const GET: Operation = { name: "store", method: "get" };

/** Where a store's calls are reported. */
export interface StoreReports {
  readonly onFailure?: StoreFailureListener;
  readonly operations?: Operations;
}

/** How a store announces the ends of sessions to other processes, if it can. */
export interface EndAnnouncements {
  announceEnd?(key: string, reason: string): Promise<void>;
  watchEnds?(watcher: EndWatcher): () => void;
}

/** A store that can lose what its lists read. */
export interface SearchedIndex {
  isWhole(): Promise<boolean>;
  /** Finds what the lists have lost. */
  readonly search: Search;
}

/** A store as sessions use it: with every method, as `SessionStore` describes them. */
export interface ReportedStore {
  readonly inProcess: boolean;
  get(key: string): Promise<Stored | undefined>;
  insert(key: string, entry: Entry): Promise<boolean>;
  replace(key: string, entry: Entry, version: string): Promise<boolean>;
  touch(key: string, lastActive: EpochSeconds | null, expiresAt: EpochSeconds): Promise<boolean>;
  delete(key: string): Promise<Stored | undefined>;
  listBySubject(subject: string, cursor?: string): Promise<EntryPage>;
  listBySid(sid: string, cursor?: string): Promise<EntryPage>;
  getMany(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>>;
  /** Failures of these are not outages, and are not reported here. */
  readonly announcements: EndAnnouncements;
  /** Undefined: the lists contain every entry. */
  readonly lossyIndex: SearchedIndex | undefined;
}

/**
 * A store whose every failure is reported and becomes a `StoreUnavailableError`. Entries have own
 * properties only, and null, which many databases return for a missing row, becomes undefined.
 */
export function createReportedStore(
  store: SessionStore,
  clock: Clock,
  { onFailure, operations }: StoreReports = {},
): ReportedStore {
  const list = (method: string, read: () => Promise<EntryPage>) =>
    run(method, async () => {
      const page = await read();
      return {
        entries: allOwned(page.entries),
        next: Object.hasOwn(page, "next") ? (page.next ?? undefined) : undefined,
      };
    });

  async function run<Result>(method: string, work: () => Promise<Result>): Promise<Result> {
    const started = clock.monotonic();
    try {
      return await (operations?.run({ name: "store", method }, () => work()) ?? work());
    } catch (error) {
      throw failed(error, started);
    }
  }

  function failed(error: unknown, started: number): Error {
    onFailure?.(error, clock.monotonic() - started);
    return asStoreUnavailable(error);
  }

  const { lossyIndex } = store;
  return {
    inProcess: store.inProcess === true,
    announcements: store,
    lossyIndex: lossyIndex && {
      isWhole: () => run("isWhole", () => lossyIndex.isWhole()),
      search: createSharedScans(clock, () =>
        allPages((cursor) => list("scan", () => lossyIndex.scan(cursor))),
      ),
    },
    /** Runs for every request: no closure unless an observer needs it. */
    async get(key) {
      const started = clock.monotonic();
      try {
        return owned(
          await (operations?.observer === undefined
            ? store.get(key)
            : operations.run(GET, () => store.get(key))),
        );
      } catch (error) {
        throw failed(error, started);
      }
    },
    insert: (key, entry) => run("insert", () => store.insert(key, entry)),
    replace: (key, entry, version) => run("replace", () => store.replace(key, entry, version)),
    touch: (key, lastActive, expiresAt) =>
      run("touch", () => store.touch(key, lastActive, expiresAt)),
    delete: async (key) => owned(await run("delete", () => store.delete(key))),
    listBySubject: (subject, cursor) =>
      list("listBySubject", () => store.listBySubject(subject, cursor)),
    listBySid: (sid, cursor) => list("listBySid", () => store.listBySid(sid, cursor)),
    /** Several entries at once, at most 500; missing ones are left out. */
    getMany: (keys) =>
      run("getMany", async () => allOwned(await (store.getMany?.(keys) ?? getEach(store, keys)))),
  };
}

/** The entries of a list, one page after the other. */
export type EntryPages = AsyncIterable<ReadonlyMap<string, Stored>>;

/** Reads a list, and lets other work run between two pages. */
export async function* allPages(read: (cursor?: string) => Promise<EntryPage>): EntryPages {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page.entries;
    cursor = page.next;
    // A store in this process responds at once.
    if (cursor !== undefined) await nextTurn();
  } while (cursor !== undefined);
}

async function getEach(
  store: SessionStore,
  keys: readonly string[],
): Promise<[key: string, stored: Stored | undefined][]> {
  return Promise.all(
    keys.map(async (key) => [key, await store.get(key)] as [string, Stored | undefined]),
  );
}

function allOwned(
  entries: Iterable<readonly [key: string, stored: Stored | null | undefined]>,
): Map<string, Stored> {
  const found = new Map<string, Stored>();
  for (const [key, stored] of entries) {
    const entry = owned(stored);
    if (entry !== undefined) found.set(key, entry);
  }
  return found;
}

/**
 * Hides a polluted `Object.prototype` behind the optional fields. Runs for every request: a literal
 * is much cheaper than a spread.
 */
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

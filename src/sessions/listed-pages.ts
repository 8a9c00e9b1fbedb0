/** How the entries of a user, or of a session of the provider, are found without their cookies. */
import type { KeyedHashes } from "./seal.js";
import { allPages, type EntryPages, type ReportedStore } from "./store-failures.js";

/** The lists of a store, and the way to find what they have lost. */
export type ListedStore = Pick<ReportedStore, "listBySubject" | "listBySid" | "lossyIndex">;

/**
 * Reads the pages under the hashes of SECRET_KEY and of each fallback, and lets other work run in
 * between. A session that was not written since a rotation still has the earlier hash. Then reads
 * in reverse order, because a write in between may move a session from one hash to the other. So an
 * entry may occur twice.
 */
export async function* pagesUnder(
  store: ListedStore,
  field: "subject" | "sid",
  hashes: KeyedHashes,
): EntryPages {
  for (const hash of [...hashes, ...hashes.slice(0, -1).reverse()]) {
    yield* allPages((cursor) =>
      field === "subject" ? store.listBySubject(hash, cursor) : store.listBySid(hash, cursor),
    );
  }
}

/**
 * As {@link pagesUnder}, and then everything that the lists have lost, if the store says that they
 * can. For what must find every session: a logout.
 */
export async function* allPagesUnder(
  store: ListedStore,
  field: "subject" | "sid",
  hashes: KeyedHashes,
): EntryPages {
  yield* pagesUnder(store, field, hashes);
  const { lossyIndex } = store;
  if (lossyIndex === undefined || (await lossyIndex.isWhole())) return;
  const { entries, failure } = await lossyIndex.search(field, hashes);
  // What was found ends, also if the search has failed afterwards.
  yield entries;
  if (failure !== undefined) throw failure;
}

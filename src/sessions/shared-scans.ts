import { wait, type Clock } from "../clock.js";
import { asStoreUnavailable } from "../errors.js";
import type { EntryPage, Stored } from "../ports/session-store.js";

/** The entries that a search has found. `failure`: the error after which it ended early. */
interface Found {
  readonly entries: ReadonlyMap<string, Stored>;
  readonly failure: Error | undefined;
}

/** Finds the entries with one of these hashes among all of a store's. Never rejects. */
export type Search = (field: "subject" | "sid", hashes: readonly string[]) => Promise<Found>;

/** What the searches of a pass have found, by the hash that they look for. */
type Wanted = Map<string, Map<string, Stored>>;

/**
 * Returns the search. All searches that wait share the next pass over the entries, and after a pass
 * the process rests for as long as it took: anyone can start searches, with front-channel logouts.
 *
 * @param pages reads all entries, page by page
 */
export function createSharedScans(
  clock: Clock,
  pages: () => AsyncIterable<EntryPage["entries"]>,
): Search {
  /** The pass that has not begun yet. */
  let next: { readonly wanted: Wanted; readonly failure: Promise<Error | undefined> } | undefined;
  /** Ends after the last pass and its rest. */
  let last = Promise.resolve();

  function schedule(): NonNullable<typeof next> {
    const wanted: Wanted = new Map();
    const pass = last.then(async () => {
      next = undefined;
      const startedAt = clock.monotonic();
      const failure = await collect(wanted).then(() => undefined, asStoreUnavailable);
      return { failure, milliseconds: clock.monotonic() - startedAt };
    });
    last = pass.then(({ milliseconds }) =>
      milliseconds > 0 ? wait(clock, milliseconds) : undefined,
    );
    return { wanted, failure: pass.then(({ failure }) => failure) };
  }

  async function collect(wanted: Wanted): Promise<void> {
    for await (const entries of pages())
      for (const [key, stored] of entries)
        for (const field of ["subject", "sid"] as const)
          wanted.get(nameOf(field, stored[field]))?.set(key, stored);
  }

  return async (field, hashes) => {
    next ??= schedule();
    const { wanted, failure } = next;
    const found = [...new Set(hashes)].map((hash) => {
      const name = nameOf(field, hash);
      const entries = wanted.get(name) ?? new Map<string, Stored>();
      wanted.set(name, entries);
      return entries;
    });
    const ended = await failure;
    return { entries: new Map(found.flatMap((entries) => [...entries])), failure: ended };
  };
}

function nameOf(field: string, hash = ""): string {
  return `${field} ${hash}`;
}

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Entry, EntryPage, EpochSeconds, SessionRecord, Stored } from "../../../adapter.js";
import type { SessionStore } from "../../../index.js";
import type { StoreUnderTest } from "../store-under-test.js";

/** Seconds; longer than any check that does not wait for expiry. */
export const LIFE_SECONDS = 600;

/** How often each race runs, so that it also hits rare interleavings. */
export const ROUNDS = 20;
/** How many writers take part in a race. */
export const WRITERS = 20;

/**
 * Returns a new key of the same form as a session's: SHA-256 in base64url. It never repeats on a
 * shared server.
 */
export function newKey(): string {
  return createHash("sha256").update(randomBytes(32)).digest("base64url");
}

/** Returns data that contains `text`, in the form that this store gets. */
export function dataFor(store: SessionStore, text: string): Uint8Array | SessionRecord {
  if (store.inProcess === true)
    return Object.freeze<SessionRecord>({
      idp_state: Object.freeze({ v: 1 }),
      final_redirect: text,
    });
  return new TextEncoder().encode(text);
}

export function textOf(stored: Stored | undefined): string {
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.data instanceof Uint8Array
    ? new TextDecoder().decode(stored.data)
    : String(stored.data.final_redirect);
}

export function sameData(stored: Stored | undefined, data: Uint8Array | SessionRecord): void {
  assert.ok(stored !== undefined, "the entry is gone");
  if (data instanceof Uint8Array) {
    assert.ok(stored.data instanceof Uint8Array, "the store got bytes and returned another type");
    sameBytes(stored.data, data);
  } else assert.deepEqual(stored.data, data);
}

export function sameBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(found !== undefined, "the bytes are gone");
  assert.equal(found.length, expected.length, "the number of bytes has changed");
  if (Buffer.compare(found, expected) === 0) return;
  assert.fail(`byte ${expected.findIndex((byte, index) => found[index] !== byte)} has changed`);
}

/** Returns an entry that outlives its check. */
export function entryOf(under: StoreUnderTest, text: string, fields: Partial<Entry> = {}): Entry {
  return { data: dataFor(under.store, text), expiresAt: under.now() + LIFE_SECONDS, ...fields };
}

export interface Inserted {
  readonly key: string;
  readonly entry: Entry;
  readonly version: string;
}

export async function inserted(
  under: StoreUnderTest,
  text = "first",
  fields: Partial<Entry> = {},
): Promise<Inserted> {
  const key = newKey();
  const entry = entryOf(under, text, fields);
  return { key, entry, version: await insertedAs(under, key, entry) };
}

export async function insertedAs(
  under: StoreUnderTest,
  key: string,
  entry: Entry,
): Promise<string> {
  assert.equal(await under.store.insert(key, entry), true, "insert of a new key");
  return versionOf(under, key);
}

export async function versionOf(under: StoreUnderTest, key: string): Promise<string> {
  const stored = await under.store.get(key);
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.version;
}

/** Returns the fields other than data and summary. */
export function fieldsOf(stored: Stored | undefined) {
  if (stored === undefined) return undefined;
  const { lastActive, expiresAt, subject, sid, version } = stored;
  return { lastActive, expiresAt, subject, sid, version };
}

/** Far more pages than any check has entries. */
const MOST_PAGES = 1_000;

/**
 * Returns all entries of a list.
 * @param onPage called with each page before the next one is read
 */
export async function listed(
  store: SessionStore,
  method: "listBySubject" | "listBySid",
  hash: string,
  onPage: (page: EntryPage) => unknown = () => undefined,
): Promise<Map<string, Stored>> {
  const found = new Map<string, Stored>();
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    assert.ok(pages < MOST_PAGES, "the list has no last page");
    const page = await store[method](hash, cursor);
    for (const [key, stored] of page.entries) found.set(key, stored);
    await onPage(page);
    cursor = page.next;
  }
  return found;
}

/** Returns the keys with this hash as their subject, and those with it as their sid. */
export async function listedBoth(
  store: SessionStore,
  hash: string,
): Promise<[bySubject: string[], bySid: string[]]> {
  const [bySubject, bySid] = await Promise.all([
    listed(store, "listBySubject", hash),
    listed(store, "listBySid", hash),
  ]);
  return [[...bySubject.keys()].sort(), [...bySid.keys()].sort()];
}

/** Returns what {@link listedBoth} returns for sessions with one hash as their subject and sid. */
export function both(...keys: string[]): [string[], string[]] {
  return [[...keys].sort(), [...keys].sort()];
}

/** Checks that every method treats the entry as absent. */
export async function isAbsent(under: StoreUnderTest, key: string, version: string): Promise<void> {
  const { store } = under;
  assert.equal(await store.get(key), undefined, "get returned an absent entry");
  assert.equal(
    await store.replace(key, entryOf(under, "revenant"), version),
    false,
    "a late replace returned true",
  );
  assert.equal(await store.get(key), undefined, "a late replace brought the entry back");
  assert.equal(
    await store.touch(key, under.now(), under.now() + LIFE_SECONDS),
    false,
    "a late touch returned true",
  );
  assert.equal(await store.get(key), undefined, "a late touch brought the entry back");
  assert.equal(await store.delete(key), undefined, "delete returned an absent entry");
}

/** Lets time pass until the store's own time is `time`. */
export async function until(under: StoreUnderTest, time: EpochSeconds): Promise<void> {
  for (let attempt = 0; under.now() < time; attempt += 1) {
    assert.ok(attempt < 100, "advance() lets no time pass: now() stays the same");
    await under.advance(time - under.now());
  }
}

/**
 * Runs all functions at once. Each round starts with another one, so that each is first in some
 * rounds.
 */
export function atOnce<Result>(
  round: number,
  work: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  const results = new Array<Promise<Result>>(work.length);
  for (let step = 0; step < work.length; step += 1) {
    const turn = (round + step) % work.length;
    const run = work[turn];
    if (run !== undefined) results[turn] = run();
  }
  return Promise.all(results);
}

/**
 * Gives a store that writes later than it results the time to do so: some turns of the event loop,
 * and short timers.
 */
export function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Counts up from many writers at once, each of which reads and replaces until it succeeds, and
 * checks the sum.
 */
export async function countTogether(
  under: StoreUnderTest,
  stores: readonly SessionStore[],
  times: number,
): Promise<void> {
  const { key } = await inserted(under, "0");
  const count = async (store: SessionStore): Promise<void> => {
    for (let done = 0, tries = 0; done < times; tries += 1) {
      // A try fails only because another writer's try has succeeded.
      assert.ok(
        tries <= stores.length * times,
        "of many writers that read and replace, none succeeds",
      );
      const stored = await store.get(key);
      assert.ok(stored !== undefined, "the entry is gone");
      const next = entryOf(under, String(Number(textOf(stored)) + 1));
      if (await store.replace(key, next, stored.version)) done += 1;
    }
  };
  await Promise.all(stores.map(count));
  assert.equal(
    textOf(await under.store.get(key)),
    String(stores.length * times),
    "writes were lost",
  );
}

/** Checks that exactly one of many simultaneous writes won, and that its data is stored. */
export async function oneWinner(
  under: StoreUnderTest,
  key: string,
  entries: readonly Entry[],
  won: readonly boolean[],
): Promise<void> {
  assert.equal(won.filter(Boolean).length, 1, `of ${won.length} writers, not exactly one got true`);
  const winner = entries[won.indexOf(true)];
  assert.ok(winner !== undefined);
  sameData(await under.store.get(key), winner.data);
}

/** Returns a second store over the same data. Use it only in requirements that need `another`. */
export async function anotherStore(under: StoreUnderTest): Promise<SessionStore> {
  const other = await under.another?.();
  assert.ok(other !== undefined, "there is no another()");
  return other;
}

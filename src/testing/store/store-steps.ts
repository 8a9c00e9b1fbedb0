import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Entry, EntryPage, EpochSeconds, SessionRecord, Stored } from "../../adapter.js";
import type { SessionStore } from "../../index.js";

/** A store whose requirements are checked, and its time. */
export interface StoreToCheck {
  /** The store whose calls are checked. */
  readonly store: SessionStore;
  /** Returns the store's current time. */
  now(): EpochSeconds;
}

/** Seconds; longer than any check that does not wait for expiry. */
const LIFE_SECONDS = 600;

/** How often each race runs, so that it also hits rare interleavings. */
const ROUNDS = 20;
/** How many writers take part in a race. */
const WRITERS = 20;

/**
 * Returns a new key of the same form as a session's: SHA-256 in base64url. It never repeats on a
 * shared server.
 */
function newKey(): string {
  return createHash("sha256").update(randomBytes(32)).digest("base64url");
}

/** Returns data that contains `text`, in the form that this store gets. */
function dataFor(store: SessionStore, text: string): Uint8Array | SessionRecord {
  if (store.inProcess === true)
    return Object.freeze<SessionRecord>({
      idp_state: Object.freeze({ v: 1 }),
      final_redirect: text,
    });
  return new TextEncoder().encode(text);
}

/** Fails unless the entry exists and has this data. */
function sameData(stored: Stored | undefined, data: Uint8Array | SessionRecord): void {
  assert.ok(stored !== undefined, "the entry is gone");
  if (data instanceof Uint8Array) {
    assert.ok(stored.data instanceof Uint8Array, "the store got bytes and returned another type");
    sameBytes(stored.data, data);
  } else assert.deepEqual(stored.data, data);
}

/** Fails unless both have the same bytes, and names the first that differs. */
function sameBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(found !== undefined, "the bytes are gone");
  assert.equal(found.length, expected.length, "the number of bytes has changed");
  if (Buffer.compare(found, expected) === 0) return;
  assert.fail(`byte ${expected.findIndex((byte, index) => found[index] !== byte)} has changed`);
}

/** Returns an entry that outlives its check. */
function entryOf(under: StoreToCheck, text: string, fields: Partial<Entry> = {}): Entry {
  return { data: dataFor(under.store, text), expiresAt: under.now() + LIFE_SECONDS, ...fields };
}

/** An entry that a step has inserted. */
export interface InsertedEntry {
  /** Under which it is stored. */
  readonly key: string;
  /** As it was inserted. */
  readonly entry: Entry;
  /** The version that the store gave it. */
  readonly version: string;
}

/** Inserts an entry under a new key. Fails if the store refuses it. */
async function inserted(
  under: StoreToCheck,
  text = "first",
  fields: Partial<Entry> = {},
): Promise<InsertedEntry> {
  const key = newKey();
  const entry = entryOf(under, text, fields);
  return { key, entry, version: await insertedAs(under, key, entry) };
}

/** Inserts an entry under this key and returns its version. Fails if the store refuses it. */
async function insertedAs(under: StoreToCheck, key: string, entry: Entry): Promise<string> {
  assert.equal(await under.store.insert(key, entry), true, "insert of a new key");
  return versionOf(under, key);
}

/** Returns the version of an entry. Fails if the entry is gone. */
async function versionOf(under: StoreToCheck, key: string): Promise<string> {
  const stored = await under.store.get(key);
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.version;
}

/** Returns the fields other than data and summary. */
function fieldsOf(stored: Stored | undefined) {
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
async function listed(
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

/** Checks that every method treats the entry as absent. */
async function isAbsent(under: StoreToCheck, key: string, version: string): Promise<void> {
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

/**
 * Runs all functions at once. Each round starts with another one, so that each is first in some
 * rounds.
 */
function atOnce<Result>(
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

/** Checks that exactly one of many simultaneous writes won, and that its data is stored. */
async function oneWinner(
  under: StoreToCheck,
  key: string,
  entries: readonly Entry[],
  won: readonly boolean[],
): Promise<void> {
  assert.equal(won.filter(Boolean).length, 1, `of ${won.length} writers, not exactly one got true`);
  const winner = entries[won.indexOf(true)];
  assert.ok(winner !== undefined);
  sameData(await under.store.get(key), winner.data);
}

/**
 * What the requirements of stores have in common, for `liveStoreRequirements` and for
 * `idpauth-conformance`.
 * @hidden
 */
export const storeSteps = {
  LIFE_SECONDS,
  ROUNDS,
  WRITERS,
  newKey,
  dataFor,
  sameData,
  sameBytes,
  entryOf,
  inserted,
  insertedAs,
  versionOf,
  fieldsOf,
  listed,
  isAbsent,
  atOnce,
  oneWinner,
};

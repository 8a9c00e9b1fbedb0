import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Entry, EpochSeconds, SessionRecord, SessionStore, Stored } from "../../../index.js";
import type { StoreUnderTest } from "../store-under-test.js";

/** Seconds: longer than any requirement takes that does not wait for an end. */
export const LONG = 600;

/** How often a race is run: a window that is rarely hit has many chances. */
export const ROUNDS = 20;
/** How many take part in a race. */
export const WRITERS = 20;

/** A key as the bundled sessions make them: SHA-256, base64url. A new one each time, so that a shared server can be used. */
export function newKey(): string {
  return createHash("sha256").update(randomBytes(32)).digest("base64url");
}

/** Data that says `text`, of the kind that this store is handed. */
export function dataFor(store: SessionStore, text: string): Uint8Array | SessionRecord {
  if (store.inProcess === true) return Object.freeze<SessionRecord>({ idp_state: Object.freeze({ v: 1 }), final_redirect: text });
  return new TextEncoder().encode(text);
}

export function textOf(stored: Stored | undefined): string {
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.data instanceof Uint8Array ? new TextDecoder().decode(stored.data) : String(stored.data.final_redirect);
}

export function sameData(stored: Stored | undefined, data: Uint8Array | SessionRecord): void {
  assert.ok(stored !== undefined, "the entry is gone");
  if (data instanceof Uint8Array) {
    assert.ok(stored.data instanceof Uint8Array, "bytes went in and something else came out");
    sameBytes(stored.data, data);
  } else assert.deepEqual(stored.data, data);
}

export function sameBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(found !== undefined, "the bytes are gone");
  assert.equal(found.length, expected.length, "the number of bytes is another");
  if (Buffer.compare(found, expected) === 0) return;
  assert.fail(`byte ${expected.findIndex((byte, index) => found[index] !== byte)} came back as another`);
}

/** An entry that outlives its requirement. */
export function entryOf(under: StoreUnderTest, text: string, fields: Partial<Entry> = {}): Entry {
  return { data: dataFor(under.store, text), expiresAt: under.now() + LONG, ...fields };
}

export interface Inserted {
  readonly key: string;
  readonly entry: Entry;
  readonly version: string;
}

export async function inserted(under: StoreUnderTest, text = "first", fields: Partial<Entry> = {}): Promise<Inserted> {
  const key = newKey();
  const entry = entryOf(under, text, fields);
  return { key, entry, version: await insertedAs(under, key, entry) };
}

export async function insertedAs(under: StoreUnderTest, key: string, entry: Entry): Promise<string> {
  assert.equal(await under.store.insert(key, entry), true, "insert of a new key");
  return versionOf(under, key);
}

export async function versionOf(under: StoreUnderTest, key: string): Promise<string> {
  const stored = await under.store.get(key);
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.version;
}

/** The fields that are neither data nor bytes, for comparing. */
export function fieldsOf(stored: Stored | undefined) {
  return stored && { lastActive: stored.lastActive, expiresAt: stored.expiresAt, subject: stored.subject, version: stored.version };
}

/** What each method says of an entry that does not exist, for whatever reason. */
export async function isAbsent(under: StoreUnderTest, key: string, version: string): Promise<void> {
  const { store } = under;
  assert.equal(await store.get(key), undefined, "get gave what is not there any more");
  assert.equal(await store.replace(key, entryOf(under, "revenant"), version), false, "a late replace was answered with true");
  assert.equal(await store.get(key), undefined, "a late replace brought the entry back");
  assert.equal(await store.touch(key, under.now(), under.now() + LONG), false, "a late touch was answered with true");
  assert.equal(await store.get(key), undefined, "a late touch brought the entry back");
  assert.equal(await store.delete(key), undefined, "delete gave what is not there any more");
}

/** Lets time pass until the store's own time is `time`, however coarsely `advance` works. */
export async function until(under: StoreUnderTest, time: EpochSeconds): Promise<void> {
  for (let attempt = 0; under.now() < time; attempt += 1) {
    assert.ok(attempt < 100, "advance() lets no time pass: now() stays the same");
    await under.advance(time - under.now());
  }
}

/** Runs them all at once, beginning with another one in each round, so that each comes first at times. */
export function atOnce<Answer>(round: number, work: readonly (() => Promise<Answer>)[]): Promise<Answer[]> {
  const answers = new Array<Promise<Answer>>(work.length);
  for (let step = 0; step < work.length; step += 1) {
    const turn = (round + step) % work.length;
    const run = work[turn];
    if (run !== undefined) answers[turn] = run();
  }
  return Promise.all(answers);
}

/** Gives a store that writes later than it answers the time to do so: some turns of the event loop, and short timers. */
export function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/** The sum of what many add at once, each by reading and replacing until it works: none may be lost. */
export async function countTogether(under: StoreUnderTest, stores: readonly SessionStore[], times: number): Promise<void> {
  const { key } = await inserted(under, "0");
  const count = async (store: SessionStore): Promise<void> => {
    for (let done = 0, tries = 0; done < times; tries += 1) {
      // Each try that fails is one of another's that succeeded.
      assert.ok(tries <= stores.length * times, "of many writers who read and replace, none gets through");
      const stored = await store.get(key);
      assert.ok(stored !== undefined, "the entry is gone");
      const next = entryOf(under, String(Number(textOf(stored)) + 1));
      if (await store.replace(key, next, stored.version)) done += 1;
    }
  };
  await Promise.all(stores.map(count));
  assert.equal(textOf(await under.store.get(key)), String(stores.length * times), "writes were lost");
}

/** Of all that were tried at once, one must have won, and what it wrote must be what is there. */
export async function oneWinner(under: StoreUnderTest, key: string, entries: readonly Entry[], won: readonly boolean[]): Promise<void> {
  assert.equal(won.filter(Boolean).length, 1, `of ${won.length} writers, not exactly one was told that it won`);
  const winner = entries[won.indexOf(true)];
  assert.ok(winner !== undefined);
  sameData(await under.store.get(key), winner.data);
}

/** A second store over the same data. Only where `another` is needed, and so is there. */
export async function anotherStore(under: StoreUnderTest): Promise<SessionStore> {
  const other = await under.another?.();
  assert.ok(other !== undefined, "there is no another()");
  return other;
}

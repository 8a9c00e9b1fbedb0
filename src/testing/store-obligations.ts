import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Entry, EpochSeconds, SessionRecord, SessionStore, Stored } from "../index.js";

/** A store under test, with the power over its time that the obligations need. */
export interface StoreUnderTest {
  readonly store: SessionStore;
  /** What the store takes for now. */
  now(): EpochSeconds;
  /** Lets this many seconds pass for the store. */
  advance(seconds: number): Promise<void>;
  /** Called once at the end, also when the obligation was not met. */
  close?(): Promise<void>;
}

export type StoreFactory = () => StoreUnderTest | Promise<StoreUnderTest>;

/** One thing that a store owes. `check` rejects with an AssertionError when it does not hold. */
export interface StoreObligation {
  readonly method: string;
  readonly promise: string;
  check(under: StoreUnderTest): Promise<void>;
}

const LIFE = 600;

/** A key as the bundled sessions make them: SHA-256, base64url. A new one each time, so that a shared server can be used. */
function newKey(): string {
  return createHash("sha256").update(randomBytes(32)).digest("base64url");
}

function dataFor(store: SessionStore, text: string): Uint8Array | SessionRecord {
  if (store.inProcess === true) return Object.freeze<SessionRecord>({ idp_state: Object.freeze({ v: 1 }), final_redirect: text });
  return new TextEncoder().encode(text);
}

function sameData(stored: Stored | undefined, data: Uint8Array | SessionRecord): void {
  assert.ok(stored !== undefined, "the entry is gone");
  if (data instanceof Uint8Array) {
    assert.ok(stored.data instanceof Uint8Array, "bytes went in and something else came out");
    assert.deepEqual([...stored.data], [...data]);
  } else assert.deepEqual(stored.data, data);
}

function entryOf(under: StoreUnderTest, text: string, fields: Partial<Entry> = {}): Entry {
  return { data: dataFor(under.store, text), expiresAt: under.now() + LIFE, ...fields };
}

async function inserted(
  under: StoreUnderTest,
  text = "first",
  fields: Partial<Entry> = {},
): Promise<{ key: string; entry: Entry; version: string }> {
  const key = newKey();
  const entry = entryOf(under, text, fields);
  assert.equal(await under.store.insert(key, entry), true);
  const stored = await under.store.get(key);
  assert.ok(stored !== undefined, "an entry that was just inserted is there");
  return { key, entry, version: stored.version };
}

async function versionOf(under: StoreUnderTest, key: string): Promise<string> {
  const stored = await under.store.get(key);
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.version;
}

/** What each method says of an entry that does not exist, for whatever reason. */
async function isAbsent(under: StoreUnderTest, key: string, version: string, subject: string): Promise<void> {
  const { store } = under;
  assert.equal(await store.get(key), undefined, "get");
  assert.equal(await store.replace(key, entryOf(under, "revenant", { subject }), version), false, "replace");
  assert.equal(await store.touch(key, under.now(), under.now() + LIFE), false, "touch");
  assert.equal((await store.listBySubject(subject)).includes(key), false, "listBySubject");
  assert.equal(await store.delete(key), undefined, "delete");
  assert.equal(await store.get(key), undefined, "get, after all of them");
}

export const storeObligations: readonly StoreObligation[] = [
  {
    method: "get",
    promise: "gives undefined for a key that was never inserted",
    async check({ store }) {
      assert.equal(await store.get(newKey()), undefined);
    },
  },
  {
    method: "get",
    promise: "gives every field back as it was inserted",
    async check(under) {
      const summary = new Uint8Array([0, 1, 127, 128, 255]);
      const subject = newKey();
      const { key, entry } = await inserted(under, "all fields", { lastActive: under.now() - 5, subject, summary });
      const stored = await under.store.get(key);
      sameData(stored, entry.data);
      assert.deepEqual([stored?.expiresAt, stored?.lastActive, stored?.subject], [entry.expiresAt, entry.lastActive, subject]);
      assert.deepEqual([...(stored?.summary ?? [])], [...summary]);
      assert.equal(typeof stored?.version, "string");
    },
  },
  {
    method: "get",
    promise: "leaves out what was not inserted, rather than giving null or zero",
    async check(under) {
      const { key } = await inserted(under);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.subject, stored?.summary], [undefined, undefined, undefined]);
    },
  },
  {
    method: "get",
    promise: "gives the same version while nothing is written",
    async check(under) {
      const { key, version } = await inserted(under);
      assert.equal(await versionOf(under, key), version);
    },
  },
  {
    method: "get",
    promise: "what was given stays as it was when the entry changes afterwards",
    async check(under) {
      const { key, version } = await inserted(under, "first", { lastActive: under.now() });
      const early = await under.store.get(key);
      const copy = { ...early };
      await under.store.touch(key, under.now() + 5, under.now() + 2 * LIFE);
      await under.store.replace(key, entryOf(under, "second"), version);
      await under.store.delete(key);
      assert.deepEqual({ ...early }, copy);
    },
  },
  {
    method: "insert",
    promise: "refuses a key that exists and writes nothing",
    async check(under) {
      const { key, entry, version } = await inserted(under, "first");
      assert.equal(await under.store.insert(key, entryOf(under, "second", { subject: newKey() })), false);
      sameData(await under.store.get(key), entry.data);
      assert.equal(await versionOf(under, key), version);
    },
  },
  {
    method: "insert",
    promise: "of many at once under one key, one wins and its data is what is kept",
    async check(under) {
      const key = newKey();
      const entries = Array.from({ length: 20 }, (_, index) => entryOf(under, `writer ${String(index)}`));
      const won = await Promise.all(entries.map((entry) => under.store.insert(key, entry)));
      assert.equal(won.filter(Boolean).length, 1);
      const winner = entries[won.indexOf(true)];
      assert.ok(winner !== undefined);
      sameData(await under.store.get(key), winner.data);
    },
  },
  {
    method: "insert",
    promise: "takes a key again once its entry has been deleted",
    async check(under) {
      const { key } = await inserted(under, "first");
      await under.store.delete(key);
      const again = entryOf(under, "again");
      assert.equal(await under.store.insert(key, again), true);
      sameData(await under.store.get(key), again.data);
    },
  },
  {
    method: "insert",
    promise: "takes a key again once its entry has expired, and nothing of the old one is left",
    async check(under) {
      const { key } = await inserted(under, "first", { subject: newKey(), lastActive: under.now(), summary: new Uint8Array([1]) });
      await under.advance(LIFE);
      const again = entryOf(under, "again");
      assert.equal(await under.store.insert(key, again), true);
      const stored = await under.store.get(key);
      sameData(stored, again.data);
      assert.deepEqual([stored?.lastActive, stored?.subject, stored?.summary], [undefined, undefined, undefined]);
    },
  },
  {
    method: "replace",
    promise: "writes when the version still is the stored one, and gives a new version",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      const second = entryOf(under, "second", { subject: newKey(), summary: new Uint8Array([2]) });
      assert.equal(await under.store.replace(key, second, version), true);
      const stored = await under.store.get(key);
      sameData(stored, second.data);
      assert.deepEqual(stored?.subject, second.subject);
      assert.deepEqual([...(stored?.summary ?? [])], [2]);
      assert.notEqual(stored?.version, version);
    },
  },
  {
    method: "replace",
    promise: "takes away subject and summary that the new entry does not carry",
    async check(under) {
      const subject = newKey();
      const { key, version } = await inserted(under, "first", { subject, summary: new Uint8Array([1]) });
      await under.store.replace(key, entryOf(under, "second"), version);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.subject, stored?.summary], [undefined, undefined]);
      assert.deepEqual(await under.store.listBySubject(subject), []);
    },
  },
  {
    method: "replace",
    promise: "refuses an old version and writes nothing",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      const second = entryOf(under, "second");
      await under.store.replace(key, second, version);
      assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
      sameData(await under.store.get(key), second.data);
    },
  },
  {
    method: "replace",
    promise: "of many at once with one version, one wins and its data is what is kept",
    async check(under) {
      const { key, version } = await inserted(under);
      const entries = Array.from({ length: 20 }, (_, index) => entryOf(under, `writer ${String(index)}`));
      const won = await Promise.all(entries.map((entry) => under.store.replace(key, entry, version)));
      assert.equal(won.filter(Boolean).length, 1);
      const winner = entries[won.indexOf(true)];
      assert.ok(winner !== undefined);
      sameData(await under.store.get(key), winner.data);
    },
  },
  {
    method: "replace",
    promise: "gives no version twice, and believes no version that it never gave",
    async check(under) {
      const { key, version } = await inserted(under);
      const seen = new Set([version]);
      for (let write = 0; write < 10; write += 1) {
        assert.equal(await under.store.replace(key, entryOf(under, `write ${String(write)}`), await versionOf(under, key)), true);
        seen.add(await versionOf(under, key));
      }
      assert.equal(seen.size, 11);
      for (const invented of ["", "0", "-1", "NaN", "null", "undefined", "*", `${await versionOf(under, key)}0`, " "]) {
        assert.equal(await under.store.replace(key, entryOf(under, "invented"), invented), false, JSON.stringify(invented));
      }
    },
  },
  {
    method: "replace",
    promise: "an old version is not valid again after delete and insert under the same key",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      await under.store.delete(key);
      const again = entryOf(under, "first");
      await under.store.insert(key, again);
      assert.notEqual(await versionOf(under, key), version);
      assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
      sameData(await under.store.get(key), again.data);
    },
  },
  {
    method: "replace",
    promise: "an old version is not valid again after expiry and insert under the same key",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      await under.advance(LIFE);
      await under.store.insert(key, entryOf(under, "first"));
      assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
    },
  },
  {
    method: "replace",
    promise: "does not create what is not there",
    async check(under) {
      const key = newKey();
      assert.equal(await under.store.replace(key, entryOf(under, "out of nothing"), "1"), false);
      assert.equal(await under.store.get(key), undefined);
    },
  },
  {
    method: "replace",
    promise: "keeps the later of stored and given lastActive and expiresAt",
    async check(under) {
      const now = under.now();
      const table: [stored: number | undefined, given: number | undefined, kept: number | undefined][] = [
        [now - 10, now - 5, now - 5],
        [now - 5, now - 10, now - 5],
        [now - 5, undefined, now - 5],
        [undefined, now - 5, now - 5],
        [undefined, undefined, undefined],
        [0, undefined, 0],
      ];
      for (const [stored, given, kept] of table) {
        const { key, version } = await inserted(under, "first", stored === undefined ? {} : { lastActive: stored });
        await under.store.replace(key, entryOf(under, "second", given === undefined ? {} : { lastActive: given }), version);
        assert.equal((await under.store.get(key))?.lastActive, kept, JSON.stringify({ stored, given }));
      }
      for (const [stored, given] of [
        [LIFE, 2 * LIFE],
        [2 * LIFE, LIFE],
      ] as const) {
        const { key, version } = await inserted(under, "first", { expiresAt: now + stored });
        await under.store.replace(key, entryOf(under, "second", { expiresAt: now + given }), version);
        assert.equal((await under.store.get(key))?.expiresAt, now + 2 * LIFE);
      }
    },
  },
  {
    method: "touch",
    promise: "moves lastActive and expiresAt forward",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now - 10 });
      assert.equal(await under.store.touch(key, now, now + 2 * LIFE), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + 2 * LIFE]);
    },
  },
  {
    method: "touch",
    promise: "moves neither back, and says true",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now });
      assert.equal(await under.store.touch(key, now - 10, now + 1), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + LIFE]);
    },
  },
  {
    method: "touch",
    promise: "moves each of the two on its own",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now });
      await under.store.touch(key, now + 3, now);
      await under.store.touch(key, now, now + 2 * LIFE);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now + 3, now + 2 * LIFE]);
    },
  },
  {
    method: "touch",
    promise: "with null leaves lastActive as it is, present or absent",
    async check(under) {
      const now = under.now();
      const stamped = await inserted(under, "first", { lastActive: now - 10 });
      const unstamped = await inserted(under, "first");
      await under.store.touch(stamped.key, null, now + 2 * LIFE);
      await under.store.touch(unstamped.key, null, now + 2 * LIFE);
      const [one, other] = [await under.store.get(stamped.key), await under.store.get(unstamped.key)];
      assert.deepEqual([one?.lastActive, one?.expiresAt], [now - 10, now + 2 * LIFE]);
      assert.deepEqual([other?.lastActive, other?.expiresAt], [undefined, now + 2 * LIFE]);
    },
  },
  {
    method: "touch",
    promise: "stamps an entry that had no stamp",
    async check(under) {
      const { key } = await inserted(under);
      await under.store.touch(key, under.now(), under.now());
      assert.equal((await under.store.get(key))?.lastActive, under.now());
    },
  },
  {
    method: "touch",
    promise: "gives no new version: a replace that was prepared before it still wins",
    async check(under) {
      const now = under.now();
      const { key, version } = await inserted(under, "first", { lastActive: now - 10 });
      await under.store.touch(key, now, now + 2 * LIFE);
      assert.equal(await versionOf(under, key), version);
      assert.equal(await under.store.replace(key, entryOf(under, "second", { lastActive: now - 10 }), version), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + 2 * LIFE], "and what touch moved stays moved");
    },
  },
  {
    method: "touch",
    promise: "carries nothing else: data, subject and summary stay",
    async check(under) {
      const subject = newKey();
      const { key, entry } = await inserted(under, "first", { subject, summary: new Uint8Array([3]) });
      await under.store.touch(key, under.now(), under.now() + 2 * LIFE);
      const stored = await under.store.get(key);
      sameData(stored, entry.data);
      assert.deepEqual([stored?.subject, ...(stored?.summary ?? [])], [subject, 3]);
      assert.deepEqual(await under.store.listBySubject(subject), [key]);
    },
  },
  {
    method: "touch",
    promise: "does not create what is not there",
    async check(under) {
      const key = newKey();
      assert.equal(await under.store.touch(key, under.now(), under.now() + LIFE), false);
      assert.equal(await under.store.get(key), undefined);
    },
  },
  {
    method: "touch",
    promise: "prolongs the life: an entry is there beyond its first expiry",
    async check(under) {
      const { key } = await inserted(under);
      await under.store.touch(key, null, under.now() + 2 * LIFE);
      await under.advance(2 * LIFE - 1);
      assert.notEqual(await under.store.get(key), undefined);
      await under.advance(1);
      assert.equal(await under.store.get(key), undefined);
    },
  },
  {
    method: "delete",
    promise: "gives what was there, and it is gone",
    async check(under) {
      const subject = newKey();
      const { key, entry, version } = await inserted(under, "first", { subject, lastActive: under.now() });
      const deleted = await under.store.delete(key);
      sameData(deleted, entry.data);
      assert.deepEqual([deleted?.version, deleted?.subject, deleted?.lastActive], [version, subject, under.now()]);
      await isAbsent(under, key, version, subject);
    },
  },
  {
    method: "delete",
    promise: "gives the newest data, not that of an earlier read",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      const second = entryOf(under, "second");
      await under.store.replace(key, second, version);
      sameData(await under.store.delete(key), second.data);
    },
  },
  {
    method: "delete",
    promise: "of many at once, one is given the entry",
    async check(under) {
      const { key } = await inserted(under);
      const deleted = await Promise.all(Array.from({ length: 20 }, () => under.store.delete(key)));
      assert.equal(deleted.filter((stored) => stored !== undefined).length, 1);
    },
  },
  {
    method: "delete",
    promise: "against replace and touch at the same time: whoever comes first, the entry does not come back",
    async check(under) {
      for (let round = 0; round < 20; round += 1) {
        const { key, version } = await inserted(under);
        const second = entryOf(under, "second");
        const work = [
          () => under.store.replace(key, second, version),
          () => under.store.touch(key, under.now(), under.now() + 2 * LIFE),
          () => under.store.delete(key),
        ];
        const turn = round % work.length;
        await Promise.all([...work.slice(turn), ...work.slice(0, turn)].map((run) => run()));
        assert.equal(await under.store.get(key), undefined);
      }
    },
  },
  {
    method: "delete",
    promise: "leaves other keys alone",
    async check(under) {
      const [one, other] = [await inserted(under), await inserted(under)];
      await under.store.delete(one.key);
      assert.notEqual(await under.store.get(other.key), undefined);
    },
  },
  {
    method: "expiry",
    promise: "an entry is there in the last second before expiresAt, and for no method from expiresAt on",
    async check(under) {
      const subject = newKey();
      const { key, version } = await inserted(under, "first", { subject });
      await under.advance(LIFE - 1);
      assert.notEqual(await under.store.get(key), undefined);
      assert.deepEqual(await under.store.listBySubject(subject), [key]);
      await under.advance(1);
      await isAbsent(under, key, version, subject);
    },
  },
  {
    method: "expiry",
    promise: "each method finds an expired entry absent when it is the first to come",
    async check(under) {
      const subject = newKey();
      const fields = { subject, lastActive: under.now() };
      const first = await inserted(under, "a", fields);
      const second = await inserted(under, "b", fields);
      const third = await inserted(under, "c", fields);
      await under.advance(LIFE);
      assert.equal(await under.store.replace(first.key, entryOf(under, "late", { subject }), first.version), false);
      assert.equal(await under.store.touch(second.key, under.now(), under.now() + LIFE), false);
      assert.equal(await under.store.delete(third.key), undefined);
      assert.deepEqual(await under.store.listBySubject(subject), []);
      for (const { key } of [first, second, third]) assert.equal(await under.store.get(key), undefined);
    },
  },
  {
    method: "expiry",
    promise: "an entry that was inserted with an expiresAt in the past is not there",
    async check(under) {
      for (const expiresAt of [under.now(), under.now() - 1, 0]) {
        const key = newKey();
        await under.store.insert(key, entryOf(under, "stillborn", { expiresAt }));
        assert.equal(await under.store.get(key), undefined, String(expiresAt));
      }
    },
  },
  {
    method: "listBySubject",
    promise: "gives all keys of the subject and no others",
    async check(under) {
      const [ada, grace] = [newKey(), newKey()];
      const adas = [await inserted(under, "a", { subject: ada }), await inserted(under, "b", { subject: ada })];
      const graces = await inserted(under, "c", { subject: grace });
      await inserted(under, "pending");
      assert.deepEqual((await under.store.listBySubject(ada)).sort(), adas.map(({ key }) => key).sort());
      assert.deepEqual(await under.store.listBySubject(grace), [graces.key]);
      assert.deepEqual(await under.store.listBySubject(newKey()), []);
    },
  },
  {
    method: "listBySubject",
    promise: "follows a replace that changes the subject",
    async check(under) {
      const [ada, grace] = [newKey(), newKey()];
      const { key, version } = await inserted(under, "first", { subject: ada });
      await under.store.replace(key, entryOf(under, "second", { subject: grace }), version);
      assert.deepEqual(await under.store.listBySubject(ada), []);
      assert.deepEqual(await under.store.listBySubject(grace), [key]);
    },
  },
  {
    method: "data",
    promise: "is opaque: every byte, no byte at all, and a megabyte come back unchanged",
    async check(under) {
      if (under.store.inProcess === true) return;
      const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
      for (const data of [everyByte, new Uint8Array(0), new Uint8Array(randomBytes(1024 * 1024))]) {
        const { key } = await inserted(under, "", { data });
        sameData(await under.store.get(key), data);
      }
    },
  },
  {
    method: "key",
    promise: "is taken literally, whatever it looks like",
    async check(under) {
      const base = newKey();
      const keys = [
        base,
        `${base}-`,
        `${base}_`,
        `${base}%`,
        `${base}*`,
        `${base}:x`,
        `${base.toLowerCase()}~`,
        `${base}'; --`,
        `__proto__${base}`,
      ];
      for (const key of keys) assert.equal(await under.store.insert(key, entryOf(under, key)), true, key);
      for (const key of keys) sameData(await under.store.get(key), dataFor(under.store, key));
      assert.equal(await under.store.get(`${base}?`), undefined);
    },
  },
];

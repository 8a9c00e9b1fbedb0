import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";
import type { Entry } from "idpauth/adapter";
import { liveStoreRequirements, type LiveStoreRequirement } from "idpauth/testing";
import type { StoreUnderTest } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import { entryOf, inserted, insertedAs, listed, newKey } from "./store-steps.js";

/** The greatest number of entries in a page. */
const MOST_ENTRIES = 500;
/** More entries than a page may have. */
const LISTED_ENTRIES = 600;
/** Inserts at a time, so that none waits for its turn longer than its time limit. */
const PARALLEL_INSERTS = 50;

/** The fields that a store lists by. */
type Listed = "subject" | "sid";

interface ListMethod {
  readonly method: "listBySubject" | "listBySid";
  readonly field: Listed;
  /** The words for the field's value. */
  readonly whose: string;
  /** What ends all sessions of the list. */
  readonly act: string;
  /** The requirement that `idpauth check --live` checks, too. */
  readonly live: LiveStoreRequirement;
}

export const listRequirements: readonly StoreRequirement[] = [
  ...requirementsOn({
    method: "listBySubject",
    field: "subject",
    whose: "user",
    act: "Signing out everywhere",
    live: liveStoreRequirements.listBySubjectIsWhole,
  }),
  ...requirementsOn({
    method: "listBySid",
    field: "sid",
    whose: "provider session",
    act: "A logout at the provider",
    live: liveStoreRequirements.listBySidIsWhole,
  }),
];

function requirementsOn({ method, field, whose, act, live }: ListMethod): StoreRequirement[] {
  const of = (hash: string): Partial<Entry> => ({ [field]: hash });
  const list = async (store: SessionStore, hash: string): Promise<string[]> => [
    ...(await listed(store, method, hash)).keys(),
  ];
  return [
    {
      ...live,
      live: true,
      guarantees: [],
      properties: ["everywhere"],
    },
    {
      method,
      title: `returns many entries in pages of at most ${MOST_ENTRIES}`,
      guarantees: [],
      properties: ["everywhere"],
      consequence: `${act} would end some sessions and leave the others signed in, or fail for a user with many sessions.`,
      async check(under) {
        const hash = newKey();
        const keys = await insertMany(under, of(hash));
        const found = await listed(under.store, method, hash, ({ entries }) => {
          assert.ok(entries.size <= MOST_ENTRIES, `a page has ${entries.size} entries`);
        });
        assert.equal(found.size, keys.length, "the number of entries");
        assert.deepEqual([...found.keys()].sort(), keys.sort());
      },
    },
    {
      method,
      title:
        "misses no entry while those of each page are deleted, and others are inserted, before the next page",
      guarantees: [],
      properties: ["everywhere"],
      consequence: `${act} would leave sessions signed in, because idpauth deletes while it lists.`,
      async check(under) {
        const hash = newKey();
        const keys = await insertMany(under, of(hash));
        const found = await listed(under.store, method, hash, async ({ entries }) => {
          for (const key of entries.keys()) await under.store.delete(key);
          if (entries.size > 0) await under.store.insert(newKey(), entryOf(under, "a new sign-in"));
        });
        assert.deepEqual(
          keys.filter((key) => !found.has(key)),
          [],
          "entries were left out",
        );
      },
    },
    {
      method,
      title: `follows a replace that changes the ${field}`,
      guarantees: [],
      properties: ["everywhere"],
      consequence: `After a sign-in over another session, the session would stay in the list of the other ${whose}.`,
      async check(under) {
        const [one, two, other] = [newKey(), newKey(), newKey()];
        const { key, version } = await inserted(under, "first", {
          subject: other,
          sid: other,
          ...of(one),
        });
        await under.store.replace(
          key,
          entryOf(under, "second", { subject: other, sid: other, ...of(two) }),
          version,
        );
        assert.deepEqual(await list(under.store, one), []);
        assert.deepEqual(await list(under.store, two), [key]);
      },
    },
    {
      method,
      title: "returns the results of insert, replace and touch, and no refused or deleted entry",
      guarantees: [],
      properties: ["everywhere"],
      consequence: `A session would leave the list of its ${whose}, or appear in another one.`,
      async check(under) {
        const [one, two] = [newKey(), newKey()];
        const { key, entry, version } = await inserted(under, "first", of(one));
        await under.store.insert(key, entryOf(under, "refused", of(two)));
        await under.store.replace(key, entryOf(under, "second", of(one)), version);
        await under.store.replace(key, entryOf(under, "refused", of(two)), version);
        await under.store.touch(key, under.now(), entry.expiresAt + 1);
        assert.deepEqual(await list(under.store, one), [key]);
        assert.deepEqual(await list(under.store, two), [], "what was refused is listed");
        await under.store.delete(key);
        await under.store.replace(key, entryOf(under, "late", of(one)), version);
        assert.deepEqual(await list(under.store, one), [], "what was deleted is listed");
      },
    },
    {
      method,
      title: `compares the ${field} literally: letter case, wildcards and common beginnings`,
      guarantees: [],
      properties: ["everywhere", "separation"],
      consequence: `${act} would reach sessions whose ${field} is only similar.`,
      async check(under) {
        const base = newKey();
        const alike = [
          base,
          base.toUpperCase(),
          base.toLowerCase(),
          `${base}x`,
          base.slice(0, -1),
          `${base}%`,
          `${base}*`,
          `_${base.slice(1)}`,
        ];
        const keys = new Map<string, string>();
        for (const hash of new Set(alike)) {
          const key = newKey();
          await insertedAs(under, key, entryOf(under, "alike", { subject: newKey(), ...of(hash) }));
          keys.set(hash, key);
        }
        for (const [hash, key] of keys) assert.deepEqual(await list(under.store, hash), [key]);
        for (const pattern of [`${base.slice(0, 10)}%`, `${base.slice(0, 10)}*`, "*", "%", ""]) {
          assert.deepEqual(
            await list(under.store, pattern),
            [],
            `keys of a ${field} that no session has`,
          );
        }
      },
    },
  ];
}

/** Inserts {@link LISTED_ENTRIES} entries and returns their keys. */
async function insertMany(under: StoreUnderTest, fields: Partial<Entry>): Promise<string[]> {
  const keys = Array.from({ length: LISTED_ENTRIES }, newKey);
  for (let start = 0; start < keys.length; start += PARALLEL_INSERTS) {
    const batch = keys.slice(start, start + PARALLEL_INSERTS);
    const results = await Promise.all(
      batch.map((key) => under.store.insert(key, entryOf(under, "one of many", fields))),
    );
    assert.ok(results.every(Boolean));
  }
  return keys;
}

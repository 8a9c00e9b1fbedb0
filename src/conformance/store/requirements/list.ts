import assert from "node:assert/strict";
import type { Entry, SessionStore } from "../../../index.js";
import type { StoreRequirement } from "./requirement.js";
import { entryOf, inserted, insertedAs, newKey } from "./samples.js";

/** The fields that a store lists by. */
type Listed = "subject" | "sid";

interface ListMethod {
  readonly method: "listBySubject" | "listBySid";
  readonly field: Listed;
  /** The words for the field's value. */
  readonly whose: string;
  /** What ends all sessions of the list. */
  readonly act: string;
}

export const listRequirements: readonly StoreRequirement[] = [
  ...requirementsOn({ method: "listBySubject", field: "subject", whose: "user", act: "Signing out everywhere" }),
  ...requirementsOn({ method: "listBySid", field: "sid", whose: "provider session", act: "A logout at the provider" }),
];

function requirementsOn({ method, field, whose, act }: ListMethod): StoreRequirement[] {
  const of = (hash: string): Partial<Entry> => ({ [field]: hash });
  const list = (store: SessionStore, hash: string): Promise<string[]> => store[method](hash);
  return [
    {
      method,
      title: `returns all keys of the ${field} and no others`,
      guarantees: [],
      properties: ["everywhere"],
      consequence: `${act} would miss a session, or end another ${whose}'s.`,
      async check(under) {
        const [one, two] = [newKey(), newKey()];
        const first = [await inserted(under, "a", of(one)), await inserted(under, "b", of(one))];
        const second = await inserted(under, "c", of(two));
        // The other field has the same value here, and must not be mixed up with this one.
        await inserted(under, "d", { [field === "sid" ? "subject" : "sid"]: one });
        await inserted(under, "pending");
        assert.deepEqual((await list(under.store, one)).sort(), first.map(({ key }) => key).sort());
        assert.deepEqual(await list(under.store, two), [second.key]);
        assert.deepEqual(await list(under.store, newKey()), []);
      },
    },
    {
      method,
      title: "returns each of many keys once, not only a first page",
      guarantees: [],
      properties: ["everywhere"],
      consequence: `${act} would end some sessions and leave the others signed in.`,
      async check(under) {
        const hash = newKey();
        const keys = Array.from({ length: 150 }, newKey);
        const results = await Promise.all(keys.map((key) => under.store.insert(key, entryOf(under, "one of many", of(hash)))));
        assert.ok(results.every(Boolean));
        const listed = await list(under.store, hash);
        assert.equal(listed.length, keys.length, "the number of keys");
        assert.deepEqual(listed.sort(), keys.sort());
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
        const { key, version } = await inserted(under, "first", { subject: other, sid: other, ...of(one) });
        await under.store.replace(key, entryOf(under, "second", { subject: other, sid: other, ...of(two) }), version);
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
          assert.deepEqual(await list(under.store, pattern), [], `keys of a ${field} that no session has`);
        }
      },
    },
  ];
}

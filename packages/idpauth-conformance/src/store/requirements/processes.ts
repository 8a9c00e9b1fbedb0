import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";
import type { StoreRequirement } from "./requirement.js";
import {
  anotherStore,
  atOnce,
  both,
  countTogether,
  entryOf,
  inserted,
  listedBoth,
  LIFE_SECONDS,
  newKey,
  oneWinner,
  ROUNDS,
  sameData,
  textOf,
  WRITERS,
} from "./store-steps.js";

const method = "processes";
const needs = "another";

/** Requirements on two stores over the same data. */
export const processRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "of many replaces at once over two stores, one wins and its data is stored",
    guarantees: [2, 4, 5],
    properties: [],
    consequence:
      "Two processes would take the lease and spend the refresh token, and a provider that detects reuse would sign the user out.",
    needs,
    async check(under) {
      const stores = [under.store, await anotherStore(under)];
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under);
        const entries = Array.from({ length: WRITERS }, (_, index) =>
          entryOf(under, `writer ${index}`),
        );
        const won = await atOnce(
          round,
          entries.map(
            (entry, index) => () => (stores[index % 2] ?? under.store).replace(key, entry, version),
          ),
        );
        await oneWinner(under, key, entries, won);
      }
    },
  },
  {
    method,
    title: "of many inserts at once over two stores, one wins and its data is stored",
    guarantees: [5],
    properties: [],
    consequence:
      "Two processes would both treat the session as theirs, and one would be overwritten.",
    needs,
    async check(under) {
      const stores = [under.store, await anotherStore(under)];
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const key = newKey();
        const entries = Array.from({ length: WRITERS }, (_, index) =>
          entryOf(under, `writer ${index}`),
        );
        const won = await atOnce(
          round,
          entries.map(
            (entry, index) => () => (stores[index % 2] ?? under.store).insert(key, entry),
          ),
        );
        await oneWinner(under, key, entries, won);
      }
    },
  },
  {
    method,
    title: "no write is lost when two stores read, change and write again",
    guarantees: [2, 5],
    properties: [],
    consequence: "A write that was confirmed to one process would be lost, with the tokens in it.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      await countTogether(under, [under.store, other, under.store, other], 8);
    },
  },
  {
    method,
    title:
      "one store returns what the other has replaced at once, also after reading the old entry, and rejects the old version",
    guarantees: [2, 3, 5],
    properties: [],
    consequence: "A process that caches its reads would use the spent refresh token.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      const { key, version } = await inserted(under, "first");
      assert.equal(textOf(await other.get(key)), "first");
      assert.equal(await under.store.replace(key, entryOf(under, "second"), version), true);
      assert.equal(textOf(await other.get(key)), "second");
      assert.equal(await other.replace(key, entryOf(under, "late"), version), false);
      const fresh = (await other.get(key))?.version ?? "";
      assert.equal(await other.replace(key, entryOf(under, "third"), fresh), true);
      assert.equal(textOf(await under.store.get(key)), "third");
      assert.equal(textOf(await other.delete(key)), "third");
    },
  },
  {
    method,
    title: "an entry that one store has deleted is absent for every method of the other at once",
    guarantees: [6],
    properties: [],
    consequence:
      "After a logout, another process would treat the user as signed in, or bring the session back.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      for (const first of ["get", "replace", "touch", "delete"] as const) {
        const { key, version } = await inserted(under, "first");
        assert.equal(textOf(await other.get(key)), "first");
        await under.store.delete(key);
        const entry = entryOf(under, "late");
        if (first === "get")
          assert.equal(await other.get(key), undefined, "get gave what the other had deleted");
        if (first === "replace")
          assert.equal(
            await other.replace(key, entry, version),
            false,
            "a late replace returned true",
          );
        if (first === "touch")
          assert.equal(
            await other.touch(key, under.now(), entry.expiresAt),
            false,
            "a late touch returned true",
          );
        if (first === "delete")
          assert.equal(
            await other.delete(key),
            undefined,
            "delete gave what the other had deleted",
          );
        assert.equal(
          await other.get(key),
          undefined,
          `${first} by the other store brought it back`,
        );
        assert.equal(
          await under.store.get(key),
          undefined,
          `${first} by the other store brought it back`,
        );
      }
    },
  },
  {
    method,
    title:
      "a delete by one store against a simultaneous replace and touch by the other: the entry does not come back",
    guarantees: [6],
    properties: [],
    consequence: "A refresh or a time stamp in one process would undo a logout in another.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first");
        let deleted = "";
        const [isReplaced] = await atOnce(round, [
          () => other.replace(key, entryOf(under, "second"), version),
          () => other.touch(key, under.now(), under.now() + 2 * LIFE_SECONDS),
          async () => {
            deleted = textOf(await under.store.delete(key));
            return true;
          },
        ]);
        assert.equal(await under.store.get(key), undefined, "the entry is there again");
        assert.equal(
          deleted,
          isReplaced === true ? "second" : "first",
          `replace returned ${String(isReplaced)}`,
        );
      }
    },
  },
  {
    method,
    title: "a time stamp by one store is visible to the other",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence:
      "A user whose requests reach several processes would be signed out as idle by one of them.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      const now = under.now();
      const { key, version } = await inserted(under, "first", { lastActive: now - 100 });
      assert.equal((await other.get(key))?.lastActive, now - 100);
      assert.equal(await under.store.touch(key, now - 10, now + 2 * LIFE_SECONDS), true);
      assert.deepEqual(await stampsOf(other, key), [now - 10, now + 2 * LIFE_SECONDS]);
      assert.equal(await other.touch(key, now, now), true);
      assert.equal(
        await other.replace(key, entryOf(under, "second", { lastActive: now - 100 }), version),
        true,
      );
      assert.deepEqual(await stampsOf(under.store, key), [now, now + 2 * LIFE_SECONDS]);
    },
  },
  {
    method,
    title:
      "a touch by one store against a simultaneous replace by the other: the replaced data stays",
    guarantees: [3, 5],
    properties: [],
    consequence:
      "A time stamp in one process would bring back the tokens that another process has just replaced.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      const now = under.now();
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first", { lastActive: now - 100 });
        const second = entryOf(under, "second");
        const results = await atOnce(round, [
          () => under.store.touch(key, now - 1, now),
          () => other.replace(key, second, version),
          () => under.store.touch(key, now, now),
        ]);
        assert.equal(results[1], true, "the replace was refused");
        const stored = await other.get(key);
        sameData(stored, second.data);
        assert.notEqual(stored?.version, version, "the version is the old one again");
      }
    },
  },
  {
    method,
    title: "each store lists what the other has inserted, replaced and deleted",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "Signing out everywhere would miss the sessions that began in another process.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      const [ada, grace] = [newKey(), newKey()];
      const one = await inserted(under, "a", { subject: ada, sid: ada });
      const two = newKey();
      assert.equal(await other.insert(two, entryOf(under, "b", { subject: ada, sid: ada })), true);
      for (const store of [under.store, other])
        assert.deepEqual(await listedBoth(store, ada), both(one.key, two));
      assert.equal(
        await other.replace(
          one.key,
          entryOf(under, "c", { subject: grace, sid: grace }),
          one.version,
        ),
        true,
      );
      await under.store.delete(two);
      for (const store of [under.store, other]) {
        assert.deepEqual(await listedBoth(store, ada), both());
        assert.deepEqual(await listedBoth(store, grace), both(one.key));
      }
    },
  },
  {
    method,
    title: "a store that another process can reach does not declare inProcess",
    guarantees: [],
    properties: ["secrecy"],
    consequence: "Records would leave the process unencrypted, with the tokens in plain text.",
    needs,
    async check(under) {
      const other = await anotherStore(under);
      const { key } = await inserted(under);
      const isShared = (await other.get(key)) !== undefined;
      assert.ok(isShared, "another() sees other data: it must be a second store over the same");
      assert.deepEqual(
        [under.store.inProcess === true, other.inProcess === true],
        [false, false],
        "inProcess is true",
      );
    },
  },
];

async function stampsOf(store: SessionStore, key: string): Promise<unknown[]> {
  const stored = await store.get(key);
  return [stored?.lastActive, stored?.expiresAt];
}

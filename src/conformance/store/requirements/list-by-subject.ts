import assert from "node:assert/strict";
import type { StoreRequirement } from "./requirement.js";
import { entryOf, inserted, insertedAs, newKey } from "./samples.js";

const method = "listBySubject";

export const listRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "returns all keys of the subject and no others",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "Signing out everywhere would miss a device, or sign another user out.",
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
    method,
    title: "returns each of many keys once, not only a first page",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "Signing out everywhere would stop after some devices and leave the others signed in.",
    async check(under) {
      const subject = newKey();
      const keys = Array.from({ length: 150 }, newKey);
      const results = await Promise.all(keys.map((key) => under.store.insert(key, entryOf(under, "one of many", { subject }))));
      assert.ok(results.every(Boolean));
      const listed = await under.store.listBySubject(subject);
      assert.equal(listed.length, keys.length, "the number of keys");
      assert.deepEqual(listed.sort(), keys.sort());
    },
  },
  {
    method,
    title: "follows a replace that changes the subject",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "After one user has signed in over another's session, the session would stay in the other user's list.",
    async check(under) {
      const [ada, grace] = [newKey(), newKey()];
      const { key, version } = await inserted(under, "first", { subject: ada });
      await under.store.replace(key, entryOf(under, "second", { subject: grace }), version);
      assert.deepEqual(await under.store.listBySubject(ada), []);
      assert.deepEqual(await under.store.listBySubject(grace), [key]);
    },
  },
  {
    method,
    title: "returns the results of insert, replace and touch, and no refused or deleted entry",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "A session would leave its owner's device list, or appear in another user's list.",
    async check(under) {
      const [ada, grace] = [newKey(), newKey()];
      const { key, entry, version } = await inserted(under, "first", { subject: ada });
      await under.store.insert(key, entryOf(under, "refused", { subject: grace }));
      await under.store.replace(key, entryOf(under, "second", { subject: ada }), version);
      await under.store.replace(key, entryOf(under, "refused", { subject: grace }), version);
      await under.store.touch(key, under.now(), entry.expiresAt + 1);
      assert.deepEqual(await under.store.listBySubject(ada), [key]);
      assert.deepEqual(await under.store.listBySubject(grace), [], "what was refused is listed");
      await under.store.delete(key);
      await under.store.replace(key, entryOf(under, "late", { subject: ada }), version);
      assert.deepEqual(await under.store.listBySubject(ada), [], "what was deleted is listed");
    },
  },
  {
    method,
    title: "compares the subject literally: letter case, wildcards and common beginnings",
    guarantees: [],
    properties: ["everywhere", "separation"],
    consequence: "Signing out everywhere would reach users whose subject is only similar.",
    async check(under) {
      const base = newKey();
      const subjects = [
        base,
        base.toUpperCase(),
        base.toLowerCase(),
        `${base}x`,
        base.slice(0, -1),
        `${base}%`,
        `${base}*`,
        `_${base.slice(1)}`,
      ];
      const distinct = [...new Set(subjects)];
      const keys = new Map<string, string>();
      for (const subject of distinct) {
        const key = newKey();
        await insertedAs(under, key, entryOf(under, "alike", { subject }));
        keys.set(subject, key);
      }
      for (const [subject, key] of keys) assert.deepEqual(await under.store.listBySubject(subject), [key]);
      for (const pattern of [`${base.slice(0, 10)}%`, `${base.slice(0, 10)}*`, "*", "%", ""]) {
        assert.deepEqual(await under.store.listBySubject(pattern), [], "keys of a subject that no session has");
      }
    },
  },
];

import assert from "node:assert/strict";
import { liveStoreRequirements } from "idpauth/testing";
import { lifeOf } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import {
  atOnce,
  both,
  entryOf,
  inserted,
  listedBoth,
  newKey,
  oneWinner,
  ROUNDS,
  sameData,
  until,
  WRITERS,
} from "./store-steps.js";

const method = "insert";

export const insertRequirements: readonly StoreRequirement[] = [
  {
    ...liveStoreRequirements.insertRefusesExistingKey,
    live: true,
    guarantees: [5],
    properties: [],
  },
  {
    method,
    title: "of many inserts at once under one key, one wins and its data is stored",
    guarantees: [5],
    properties: [],
    consequence:
      "Two writers would both treat the session as theirs, and one would be overwritten.",
    async check(under) {
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const key = newKey();
        const entries = Array.from({ length: WRITERS }, (_, index) =>
          entryOf(under, `writer ${index}`),
        );
        const won = await atOnce(
          round,
          entries.map((entry) => () => under.store.insert(key, entry)),
        );
        await oneWinner(under, key, entries, won);
      }
    },
  },
  {
    method,
    title: "accepts a key again after a delete, and keeps nothing of the old entry",
    guarantees: [],
    properties: ["separation", "everywhere"],
    consequence: "Data from before a logout would appear in a session that began after it.",
    async check(under) {
      const [old, subject] = [newKey(), newKey()];
      const { key } = await inserted(under, "first", {
        subject: old,
        sid: old,
        lastActive: under.now(),
        summary: new Uint8Array([1]),
      });
      await under.store.delete(key);
      const again = entryOf(under, "again", { subject, sid: subject });
      assert.equal(await under.store.insert(key, again), true);
      const stored = await under.store.get(key);
      sameData(stored, again.data);
      assert.deepEqual(
        [stored?.lastActive, stored?.subject, stored?.sid, stored?.summary],
        [undefined, subject, subject, undefined],
      );
      assert.deepEqual(await listedBoth(under.store, old), both(), "still listed as before");
      assert.deepEqual(await listedBoth(under.store, subject), both(key));
    },
  },
  {
    method,
    title: "accepts a key again after expiry, and keeps nothing of the old entry",
    guarantees: [],
    properties: ["expiry", "separation", "everywhere"],
    consequence: "Expired data would appear in a session that began after it.",
    async check(under) {
      const subject = newKey();
      const expiresAt = under.now() + lifeOf(under);
      const { key } = await inserted(under, "first", {
        subject,
        sid: subject,
        lastActive: under.now(),
        summary: new Uint8Array([1]),
        expiresAt,
      });
      await until(under, expiresAt);
      const again = entryOf(under, "again");
      assert.equal(await under.store.insert(key, again), true);
      const stored = await under.store.get(key);
      sameData(stored, again.data);
      assert.deepEqual(
        [stored?.lastActive, stored?.subject, stored?.sid, stored?.summary],
        [undefined, undefined, undefined, undefined],
      );
      assert.deepEqual(await listedBoth(under.store, subject), both(), "still listed as before");
    },
  },
];

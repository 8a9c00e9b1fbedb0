import assert from "node:assert/strict";
import { liveStoreRequirements } from "idpauth/testing";
import type { StoreRequirement } from "./requirement.js";
import {
  aMoment,
  atOnce,
  entryOf,
  inserted,
  LIFE_SECONDS,
  newKey,
  ROUNDS,
  sameData,
  textOf,
  WRITERS,
} from "./store-steps.js";

const method = "delete";

export const deleteRequirements: readonly StoreRequirement[] = [
  {
    ...liveStoreRequirements.deleteReturnsEntry,
    live: true,
    guarantees: [6],
    properties: [],
  },
  {
    method,
    title: "returns the newest data, not the data of an earlier read",
    guarantees: [6],
    properties: [],
    consequence: "A logout would revoke a spent token and leave the newest one valid.",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      await under.store.get(key);
      const second = entryOf(under, "second");
      await under.store.replace(key, second, version);
      sameData(await under.store.delete(key), second.data);
    },
  },
  {
    method,
    title: "returns undefined for an absent entry",
    guarantees: [],
    properties: ["separation"],
    consequence: "A logout would revoke another user's tokens.",
    async check({ store }) {
      assert.equal(await store.delete(newKey()), undefined);
    },
  },
  {
    method,
    title: "of many deletes at once, one gets the entry",
    guarantees: [6],
    properties: [],
    consequence:
      "A logout and a sign-in that is being finished would both treat the session as theirs.",
    async check(under) {
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const { key, entry } = await inserted(under);
        const deleted = await Promise.all(
          Array.from({ length: WRITERS }, () => under.store.delete(key)),
        );
        const given = deleted.filter((stored) => stored !== undefined);
        assert.equal(given.length, 1, `of ${WRITERS} deletes, not exactly one was given the entry`);
        sameData(given[0], entry.data);
      }
    },
  },
  {
    method,
    title: "against a simultaneous replace and touch: the entry does not come back, in any order",
    guarantees: [6],
    properties: [],
    consequence:
      "A refresh or a time stamp that is running during a logout would bring the session back.",
    async check(under) {
      const deleted: string[] = [];
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        const { key, version } = await inserted(under);
        const second = entryOf(under, "second");
        await atOnce<unknown>(round, [
          () => under.store.replace(key, second, version),
          () => under.store.touch(key, under.now(), under.now() + 2 * LIFE_SECONDS),
          () => under.store.delete(key),
        ]);
        assert.equal(await under.store.get(key), undefined, "the entry is there again");
        deleted.push(key);
      }
      await aMoment();
      for (const key of deleted)
        assert.equal(
          await under.store.get(key),
          undefined,
          "after a while the entry is there again",
        );
    },
  },
  {
    method,
    title: "against a simultaneous replace: returns the data of a replace that returned true",
    guarantees: [6],
    properties: [],
    consequence:
      "The tokens of a refresh would neither be in the session nor be revoked by the logout.",
    async check(under) {
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first");
        let deleted = "";
        const [isReplaced] = await atOnce<boolean>(round, [
          () => under.store.replace(key, entryOf(under, "second"), version),
          async () => {
            deleted = textOf(await under.store.delete(key));
            return true;
          },
        ]);
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
    title: "leaves other keys unchanged",
    guarantees: [],
    properties: ["separation"],
    consequence: "A logout on one device would sign out another device or another user.",
    async check(under) {
      const subject = newKey();
      const [one, other] = [
        await inserted(under, "a", { subject }),
        await inserted(under, "b", { subject }),
      ];
      await under.store.delete(one.key);
      sameData(await under.store.get(other.key), other.entry.data);
    },
  },
];

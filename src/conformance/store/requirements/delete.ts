import assert from "node:assert/strict";
import type { StoreRequirement } from "./requirement.js";
import { aMoment, atOnce, entryOf, inserted, isAbsent, LONG, newKey, ROUNDS, sameBytes, sameData, textOf, WRITERS } from "./samples.js";

const method = "delete";

export const deleteRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "gives what was there, and it is gone",
    guarantees: [6],
    properties: [],
    consequence: "A logout would leave the session where it is, or not know which token to revoke.",
    async check(under) {
      const now = under.now();
      const [subject, summary] = [newKey(), new Uint8Array([7])];
      const { key, entry, version } = await inserted(under, "first", { subject, lastActive: now, summary });
      const deleted = await under.store.delete(key);
      sameData(deleted, entry.data);
      sameBytes(deleted?.summary, summary);
      assert.deepEqual(
        [deleted?.version, deleted?.subject, deleted?.lastActive, deleted?.expiresAt],
        [version, subject, now, entry.expiresAt],
      );
      await isAbsent(under, key, version);
    },
  },
  {
    method,
    title: "gives the newest data, not that of an earlier read",
    guarantees: [6],
    properties: [],
    consequence: "A logout would revoke a token that is spent already, and leave the newest one alive.",
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
    title: "gives undefined for what is not there",
    guarantees: [],
    properties: ["separation"],
    consequence: "A logout would revoke tokens that are not the visitor's.",
    async check({ store }) {
      assert.equal(await store.delete(newKey()), undefined);
    },
  },
  {
    method,
    title: "of many at once, one is given the entry",
    guarantees: [6],
    properties: [],
    consequence: "A logout and a sign-in that is being finished would both believe that they took the session over.",
    async check(under) {
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const { key, entry } = await inserted(under);
        const deleted = await Promise.all(Array.from({ length: WRITERS }, () => under.store.delete(key)));
        const given = deleted.filter((stored) => stored !== undefined);
        assert.equal(given.length, 1, `of ${WRITERS} deletes, not exactly one was given the entry`);
        sameData(given[0], entry.data);
      }
    },
  },
  {
    method,
    title: "against replace and touch at the same time: whoever comes first, the entry does not come back",
    guarantees: [6],
    properties: [],
    consequence: "A refresh or a stamp that is under way at a logout would bring the session back.",
    async check(under) {
      const deleted: string[] = [];
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        const { key, version } = await inserted(under);
        const second = entryOf(under, "second");
        await atOnce<unknown>(round, [
          () => under.store.replace(key, second, version),
          () => under.store.touch(key, under.now(), under.now() + 2 * LONG),
          () => under.store.delete(key),
        ]);
        assert.equal(await under.store.get(key), undefined, "the entry is there again");
        deleted.push(key);
      }
      await aMoment();
      for (const key of deleted) assert.equal(await under.store.get(key), undefined, "after a while the entry is there again");
    },
  },
  {
    method,
    title: "against replace at the same time: gives what a replace that was answered with true has written",
    guarantees: [6],
    properties: [],
    consequence: "The tokens that a refresh has just stored would neither be in the session nor be revoked by the logout.",
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
        assert.equal(deleted, isReplaced === true ? "second" : "first", `replace was answered with ${String(isReplaced)}`);
      }
    },
  },
  {
    method,
    title: "leaves other keys alone",
    guarantees: [],
    properties: ["separation"],
    consequence: "One device's logout would sign out another, or somebody else.",
    async check(under) {
      const subject = newKey();
      const [one, other] = [await inserted(under, "a", { subject }), await inserted(under, "b", { subject })];
      await under.store.delete(one.key);
      sameData(await under.store.get(other.key), other.entry.data);
    },
  },
];

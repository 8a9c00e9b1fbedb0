import assert from "node:assert/strict";
import type { StoreObligation } from "./obligation.js";
import { atOnce, entryOf, inserted, LONG, newKey, ROUNDS, sameBytes, sameData, versionOf } from "./samples.js";

const method = "touch";

export const touchObligations: readonly StoreObligation[] = [
  {
    method,
    promise: "moves lastActive and expiresAt forward",
    guarantees: [],
    others: ["idle", "expiry"],
    why: "A visitor would be signed out in the middle of their work.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now - 10 });
      assert.equal(await under.store.touch(key, now, now + 2 * LONG), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + 2 * LONG]);
    },
  },
  {
    method,
    promise: "moves neither back, and says true",
    guarantees: [],
    others: ["idle", "expiry"],
    why: "A late stamp would undo a newer one and sign out a visitor who is active, or be taken for a session that is gone.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now, expiresAt: now + LONG });
      assert.equal(await under.store.touch(key, now - 10, now + 1), true);
      assert.equal(await under.store.touch(key, now, now + LONG), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + LONG]);
    },
  },
  {
    method,
    promise: "moves each of the two on its own",
    guarantees: [],
    others: ["idle", "expiry"],
    why: "A stamp that is due would be lost whenever no renewal is due, or the other way round.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now });
      await under.store.touch(key, now + 3, now);
      await under.store.touch(key, now, now + 2 * LONG);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now + 3, now + 2 * LONG]);
    },
  },
  {
    method,
    promise: "with null leaves lastActive as it is, present or absent",
    guarantees: [],
    others: ["idle"],
    why: "A renewal would count as activity, and an idle session never end.",
    async check(under) {
      const now = under.now();
      const stamped = await inserted(under, "first", { lastActive: now - 10 });
      const unstamped = await inserted(under, "first");
      await under.store.touch(stamped.key, null, now + 2 * LONG);
      await under.store.touch(unstamped.key, null, now + 2 * LONG);
      const [one, other] = [await under.store.get(stamped.key), await under.store.get(unstamped.key)];
      assert.deepEqual([one?.lastActive, one?.expiresAt], [now - 10, now + 2 * LONG]);
      assert.deepEqual([other?.lastActive, other?.expiresAt], [undefined, now + 2 * LONG]);
    },
  },
  {
    method,
    promise: "stamps an entry that had no stamp",
    guarantees: [],
    others: ["idle"],
    why: "An idle timeout that is switched on later would never begin for sessions that are there already.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under);
      await under.store.touch(key, now, now);
      assert.equal((await under.store.get(key))?.lastActive, now);
    },
  },
  {
    method,
    promise: "of many at once, the latest stamp is what stays",
    guarantees: [],
    others: ["idle", "expiry"],
    why: "Of a page's many requests an early one would set the clock back.",
    async check(under) {
      const now = under.now();
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const { key } = await inserted(under, "first", { lastActive: now - 100, expiresAt: now + LONG });
        const touches = Array.from({ length: 10 }, (_, index) => () => under.store.touch(key, now - index, now + LONG + index));
        assert.ok((await atOnce(round, touches)).every(Boolean));
        const stored = await under.store.get(key);
        assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + LONG + 9]);
      }
    },
  },
  {
    method,
    promise: "gives no new version: a replace that was prepared before it still wins",
    guarantees: [2],
    others: ["idle"],
    why: "A visitor's own clicks would keep the refresher from storing what it fetched.",
    async check(under) {
      const now = under.now();
      const { key, version } = await inserted(under, "first", { lastActive: now - 10 });
      await under.store.touch(key, now, now + 2 * LONG);
      assert.equal(await versionOf(under, key), version);
      assert.equal(await under.store.replace(key, entryOf(under, "second", { lastActive: now - 10 }), version), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + 2 * LONG], "and what touch moved stays moved");
    },
  },
  {
    method,
    promise: "carries nothing else: data, subject and summary stay",
    guarantees: [5],
    others: ["everywhere"],
    why: "A stamp would change tokens, or take a session out of its owner's device list.",
    async check(under) {
      const now = under.now();
      const subject = newKey();
      const { key, entry } = await inserted(under, "first", { subject, summary: new Uint8Array([3]) });
      await under.store.touch(key, now, now + 2 * LONG);
      const stored = await under.store.get(key);
      sameData(stored, entry.data);
      assert.equal(stored?.subject, subject);
      sameBytes(stored.summary, new Uint8Array([3]));
      assert.deepEqual(await under.store.listBySubject(subject), [key]);
    },
  },
  {
    method,
    promise: "against replace at the same time: neither undoes the other",
    guarantees: [3, 5],
    others: ["idle"],
    why: "A stamp that reads the entry and writes it back brings the spent token back over the new one.",
    async check(under) {
      const now = under.now();
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first", { lastActive: now - 100 });
        const second = entryOf(under, "second", { lastActive: now - 100 });
        const answers = await atOnce(round, [
          () => under.store.touch(key, now - 3, now),
          () => under.store.touch(key, now - 2, now),
          () => under.store.replace(key, second, version),
          () => under.store.touch(key, now - 1, now),
          () => under.store.touch(key, now, now),
        ]);
        assert.deepEqual(answers, [true, true, true, true, true], "each was answered with true");
        const stored = await under.store.get(key);
        sameData(stored, second.data);
        assert.notEqual(stored?.version, version, "the version is the old one again");
        assert.equal(stored?.lastActive, now, "a stamp was lost");
      }
    },
  },
  {
    method,
    promise: "does not create what is not there",
    guarantees: [6],
    others: [],
    why: "A request that is still under way at a logout would bring the session back.",
    async check(under) {
      const key = newKey();
      assert.equal(await under.store.touch(key, under.now(), under.now() + LONG), false);
      assert.equal(await under.store.get(key), undefined);
    },
  },
];

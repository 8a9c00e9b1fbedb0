import assert from "node:assert/strict";
import type { Entry } from "idpauth/adapter";
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
  sameBytes,
  sameData,
} from "./store-steps.js";

const method = "touch";

export const touchRequirements: readonly StoreRequirement[] = [
  {
    ...liveStoreRequirements.touchMovesTimes,
    live: true,
    guarantees: [],
    properties: ["idle", "expiry"],
  },
  {
    method,
    title: "never moves a time back, and returns true",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence:
      "A late time stamp would undo a newer one and sign an active user out, or the session would count as absent.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", {
        lastActive: now,
        expiresAt: now + LIFE_SECONDS,
      });
      for (const [lastActive, expiresAt] of [
        [now - 10, now + 1],
        [0, 0],
        [now, now + LIFE_SECONDS],
      ] as const) {
        assert.equal(await under.store.touch(key, lastActive, expiresAt), true);
        const stored = await under.store.get(key);
        assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + LIFE_SECONDS]);
      }
    },
  },
  {
    method,
    title: "moves each of the two times on its own",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence: "A due time stamp would be lost without a due renewal, or the reverse.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now });
      await under.store.touch(key, now + 3, now);
      await under.store.touch(key, now, now + 2 * LIFE_SECONDS);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now + 3, now + 2 * LIFE_SECONDS]);
    },
  },
  {
    method,
    title: "leaves lastActive unchanged for null, present or absent",
    guarantees: [],
    properties: ["idle"],
    consequence: "A renewal would count as activity, and an idle session would never end.",
    async check(under) {
      const now = under.now();
      const stamped = await inserted(under, "first", { lastActive: now - 10 });
      const unstamped = await inserted(under, "first");
      await under.store.touch(stamped.key, null, now + 2 * LIFE_SECONDS);
      await under.store.touch(unstamped.key, null, now + 2 * LIFE_SECONDS);
      const [one, other] = [
        await under.store.get(stamped.key),
        await under.store.get(unstamped.key),
      ];
      assert.deepEqual([one?.lastActive, one?.expiresAt], [now - 10, now + 2 * LIFE_SECONDS]);
      assert.deepEqual([other?.lastActive, other?.expiresAt], [undefined, now + 2 * LIFE_SECONDS]);
    },
  },
  {
    method,
    title: "stamps an entry that had no time stamp",
    guarantees: [],
    properties: ["idle"],
    consequence:
      "An idle timeout that is switched on later would never begin for existing sessions.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under);
      await under.store.touch(key, now, now);
      assert.equal((await under.store.get(key))?.lastActive, now);
    },
  },
  {
    method,
    title: "of many touches at once, the latest time stamp stays",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence: "An early request of a page would set the time back.",
    async check(under) {
      const now = under.now();
      for (let round = 0; round < ROUNDS / 2; round += 1) {
        const { key } = await inserted(under, "first", {
          lastActive: now - 100,
          expiresAt: now + LIFE_SECONDS,
        });
        const touches = Array.from(
          { length: 10 },
          (_, index) => () => under.store.touch(key, now - index, now + LIFE_SECONDS + index),
        );
        assert.ok((await atOnce(round, touches)).every(Boolean));
        const stored = await under.store.get(key);
        assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + LIFE_SECONDS + 9]);
      }
    },
  },
  {
    ...liveStoreRequirements.touchKeepsVersion,
    live: true,
    guarantees: [2],
    properties: [],
  },
  {
    method,
    title: "changes nothing else: data, subject and summary stay",
    guarantees: [5],
    properties: [],
    consequence: "A time stamp would change tokens or the session's user.",
    async check(under) {
      const now = under.now();
      const subject = newKey();
      const { key, entry } = await inserted(under, "first", {
        subject,
        summary: new Uint8Array([3]),
      });
      await under.store.touch(key, now, now + 2 * LIFE_SECONDS);
      const stored = await under.store.get(key);
      sameData(stored, entry.data);
      assert.equal(stored?.subject, subject);
      sameBytes(stored.summary, new Uint8Array([3]));
    },
  },
  {
    method,
    title: "against a simultaneous replace: the replaced data stays",
    guarantees: [3, 5],
    properties: [],
    consequence:
      "A time stamp that reads and writes the whole entry would bring the spent token back.",
    async check(under) {
      const now = under.now();
      const raced: { key: string; version: string; second: Entry }[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first");
        const second = entryOf(under, "second");
        const touch = () => under.store.touch(key, now, now + LIFE_SECONDS + 1);
        const results = await atOnce(round, [
          touch,
          touch,
          () => under.store.replace(key, second, version),
          touch,
          touch,
        ]);
        assert.equal(results[2], true, "the replace was refused");
        raced.push({ key, version, second });
      }
      await aMoment();
      for (const { key, version, second } of raced) {
        const stored = await under.store.get(key);
        sameData(stored, second.data);
        assert.notEqual(stored?.version, version, "the version is the old one again");
      }
    },
  },
  {
    method,
    title: "against a simultaneous replace: the time stamp stays",
    guarantees: [],
    properties: ["idle"],
    consequence: "A user who is active during a refresh would be signed out as idle.",
    async check(under) {
      const now = under.now();
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under, "first", { lastActive: now - 100 });
        const results = await atOnce(round, [
          () => under.store.touch(key, now, now),
          () =>
            under.store.replace(key, entryOf(under, "second", { lastActive: now - 100 }), version),
          () => under.store.touch(key, now - 1, now),
        ]);
        assert.deepEqual([results[0], results[2]], [true, true], "touch returned false");
        assert.equal((await under.store.get(key))?.lastActive, now, "the stamp was lost");
      }
    },
  },
  {
    ...liveStoreRequirements.touchCreatesNothing,
    live: true,
    guarantees: [6],
    properties: [],
  },
];

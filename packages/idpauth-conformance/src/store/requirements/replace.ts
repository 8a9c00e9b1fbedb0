import assert from "node:assert/strict";
import { liveStoreRequirements } from "idpauth/testing";
import { lifeOf } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import {
  both,
  countTogether,
  entryOf,
  inserted,
  listedBoth,
  LIFE_SECONDS,
  newKey,
  sameBytes,
  sameData,
  until,
  versionOf,
} from "./store-steps.js";

const method = "replace";

export const replaceRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "writes if the version is still the stored one, and gives a new version",
    guarantees: [2, 5],
    properties: ["everywhere"],
    consequence:
      "The result of a refresh could not be stored, or an old version would stay valid for one more write.",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      const second = entryOf(under, "second", {
        subject: newKey(),
        sid: newKey(),
        summary: new Uint8Array([2]),
      });
      assert.equal(await under.store.replace(key, second, version), true);
      const stored = await under.store.get(key);
      sameData(stored, second.data);
      assert.deepEqual([stored?.subject, stored?.sid], [second.subject, second.sid]);
      sameBytes(stored?.summary, new Uint8Array([2]));
      assert.notEqual(stored?.version, version);
    },
  },
  {
    method,
    title: "removes subject, sid and summary if the new entry has none",
    guarantees: [],
    properties: ["everywhere"],
    consequence: "A session without a user would stay in a user's device list.",
    async check(under) {
      const subject = newKey();
      const { key, version } = await inserted(under, "first", {
        subject,
        sid: subject,
        summary: new Uint8Array([1]),
      });
      await under.store.replace(key, entryOf(under, "second"), version);
      const stored = await under.store.get(key);
      assert.deepEqual(
        [stored?.subject, stored?.sid, stored?.summary],
        [undefined, undefined, undefined],
      );
      assert.deepEqual(await listedBoth(under.store, subject), both());
    },
  },
  {
    ...liveStoreRequirements.replaceRefusesOldVersion,
    live: true,
    guarantees: [3, 5],
    properties: [],
  },
  {
    method,
    title: "leaves lastActive and expiresAt unchanged when it refuses",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence: "The holder of an outdated copy would prolong a session without a valid write.",
    async check(under) {
      const now = under.now();
      const { key, version } = await inserted(under, "first", {
        lastActive: now - 10,
        expiresAt: now + LIFE_SECONDS,
      });
      await under.store.replace(
        key,
        entryOf(under, "second", { expiresAt: now + LIFE_SECONDS }),
        version,
      );
      await under.store.replace(
        key,
        entryOf(under, "late", { lastActive: now, expiresAt: now + 2 * LIFE_SECONDS }),
        version,
      );
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now - 10, now + LIFE_SECONDS]);
    },
  },
  {
    ...liveStoreRequirements.replaceHasOneWinner,
    live: true,
    guarantees: [1, 2, 4, 5],
    properties: [],
  },
  {
    method,
    title: "loses no write when many writers read, change and write again",
    guarantees: [2, 5],
    properties: [],
    consequence: "A confirmed write would be lost, with the tokens in it.",
    async check(under) {
      await countTogether(
        under,
        Array.from({ length: 5 }, () => under.store),
        8,
      );
    },
  },
  {
    method,
    title: "gives no version twice, and rejects versions that it never gave",
    guarantees: [2, 4, 5],
    properties: [],
    consequence:
      "An outdated writer would find its version again and overwrite newer tokens or another process's lease.",
    async check(under) {
      const { key, version } = await inserted(under);
      const seen = new Set([version]);
      for (let write = 0; write < 10; write += 1) {
        assert.equal(
          await under.store.replace(
            key,
            entryOf(under, `write ${write}`),
            await versionOf(under, key),
          ),
          true,
        );
        seen.add(await versionOf(under, key));
      }
      assert.equal(seen.size, 11, "a version came twice");
      const last = await versionOf(under, key);
      for (const invented of [
        "",
        "0",
        "-1",
        "NaN",
        "null",
        "undefined",
        "*",
        `${last}0`,
        `${last} `,
        ` ${last}`,
        " ",
      ]) {
        assert.equal(
          await under.store.replace(key, entryOf(under, "invented"), invented),
          false,
          `believed the version ${JSON.stringify(invented)}`,
        );
      }
    },
  },
  {
    method,
    title: "gives a new version also if the data is unchanged",
    guarantees: [4, 5],
    properties: [],
    consequence:
      "A refresher that was replaced could not detect that another process held the lease meanwhile.",
    async check(under) {
      const { key, entry, version } = await inserted(under, "same");
      assert.equal(await under.store.replace(key, entry, version), true);
      assert.notEqual(await versionOf(under, key), version);
      assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
      sameData(await under.store.get(key), entry.data);
    },
  },
  {
    method,
    title: "an old version stays invalid after delete and insert under the same key",
    guarantees: [5, 6],
    properties: [],
    consequence: "A write from before a logout would reach the session after it.",
    async check(under) {
      const { key, version } = await inserted(under, "first");
      for (let life = 0; life < 3; life += 1) {
        await under.store.delete(key);
        const again = entryOf(under, "first");
        await under.store.insert(key, again);
        assert.notEqual(await versionOf(under, key), version);
        assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
        sameData(await under.store.get(key), again.data);
      }
    },
  },
  {
    method,
    title: "an old version stays invalid after expiry and insert under the same key",
    guarantees: [5],
    properties: ["expiry"],
    consequence: "A write from before a session expired would reach the next session.",
    async check(under) {
      const expiresAt = under.now() + lifeOf(under);
      const { key, version } = await inserted(under, "first", { expiresAt });
      await until(under, expiresAt);
      await under.store.insert(key, entryOf(under, "first"));
      assert.equal(await under.store.replace(key, entryOf(under, "late"), version), false);
      sameData(await under.store.get(key), entryOf(under, "first").data);
    },
  },
  {
    method,
    title: "does not create an absent entry",
    guarantees: [6],
    properties: [],
    consequence: "A refresh that finishes after a logout would bring the session back.",
    async check(under) {
      for (const version of ["1", "0", "", newKey()]) {
        const key = newKey();
        assert.equal(
          await under.store.replace(key, entryOf(under, "out of nothing"), version),
          false,
        );
        assert.equal(await under.store.get(key), undefined);
      }
    },
  },
  {
    method,
    title: "keeps the later of the stored and the given lastActive and expiresAt",
    guarantees: [],
    properties: ["idle", "expiry"],
    consequence:
      "A user who was active during a refresh would be signed out as idle, or a renewed session would end at its old expiry.",
    async check(under) {
      const now = under.now();
      const table: [
        stored: number | undefined,
        given: number | undefined,
        kept: number | undefined,
      ][] = [
        [now - 10, now - 5, now - 5],
        [now - 5, now - 10, now - 5],
        [now - 5, undefined, now - 5],
        [undefined, now - 5, now - 5],
        [undefined, undefined, undefined],
        [0, undefined, 0],
      ];
      for (const [stored, given, kept] of table) {
        const { key, version } = await inserted(
          under,
          "first",
          stored === undefined ? {} : { lastActive: stored },
        );
        await under.store.replace(
          key,
          entryOf(under, "second", given === undefined ? {} : { lastActive: given }),
          version,
        );
        assert.equal(
          (await under.store.get(key))?.lastActive,
          kept,
          `lastActive ${String(stored)} replaced with ${String(given)}`,
        );
      }
      for (const [stored, given] of [
        [LIFE_SECONDS, 2 * LIFE_SECONDS],
        [2 * LIFE_SECONDS, LIFE_SECONDS],
      ] as const) {
        const { key, version } = await inserted(under, "first", { expiresAt: now + stored });
        await under.store.replace(
          key,
          entryOf(under, "second", { expiresAt: now + given }),
          version,
        );
        assert.equal((await under.store.get(key))?.expiresAt, now + 2 * LIFE_SECONDS);
      }
    },
  },
];

import assert from "node:assert/strict";
import { lifeOf } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import {
  both,
  entryOf,
  inserted,
  isAbsent,
  listedBoth,
  LIFE_SECONDS,
  newKey,
  sameData,
  until,
} from "./store-steps.js";

const method = "expiry";

/** Seconds. In milliseconds, longer than a 32-bit timer can wait. */
const LONGEST_LIFE_SECONDS = 400 * 86_400;

export const expiryRequirements: readonly StoreRequirement[] = [
  {
    method,
    title:
      "an entry exists until the last second before expiresAt, and for no method from expiresAt on",
    guarantees: [],
    properties: ["expiry", "everywhere"],
    consequence: "A session would end too early or continue after its end.",
    async check(under) {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const hash = newKey();
        const expiresAt = under.now() + lifeOf(under);
        const { key, version } = await inserted(under, "first", {
          subject: hash,
          sid: hash,
          expiresAt,
        });
        await until(under, expiresAt - 1);
        const last = await under.store.get(key);
        const listed = await listedBoth(under.store, hash);
        // Real time may have passed the last second before the results arrive. Such results prove
        // nothing.
        if (under.now() >= expiresAt) continue;
        assert.notEqual(last, undefined, "gone before its end");
        assert.deepEqual(listed, both(key), "listed until its end");
        await until(under, expiresAt);
        assert.deepEqual(await listedBoth(under.store, hash), both(), "listed beyond its end");
        await isAbsent(under, key, version);
        return;
      }
      assert.fail(
        "the store was never asked within the last second before an expiry: give it a longer life, or a faster advance()",
      );
    },
  },
  {
    method,
    title: "each method treats an expired entry as absent when it is the first to access it",
    guarantees: [],
    properties: ["expiry", "everywhere"],
    consequence: "A late write would bring back an ended session.",
    async check(under) {
      const hash = newKey();
      const expiresAt = under.now() + lifeOf(under);
      const fields = { subject: hash, sid: hash, lastActive: under.now(), expiresAt };
      const [first, second, third] = [
        await inserted(under, "a", fields),
        await inserted(under, "b", fields),
        await inserted(under, "c", fields),
      ];
      await until(under, expiresAt);
      assert.equal(
        await under.store.replace(
          first.key,
          entryOf(under, "late", { subject: hash, sid: hash }),
          first.version,
        ),
        false,
        "a late replace returned true",
      );
      assert.equal(
        await under.store.touch(second.key, under.now(), under.now() + LIFE_SECONDS),
        false,
        "a late touch returned true",
      );
      assert.equal(await under.store.delete(third.key), undefined, "delete gave what had expired");
      assert.deepEqual(await listedBoth(under.store, hash), both(), "listed beyond its end");
      for (const { key } of [first, second, third])
        assert.equal(await under.store.get(key), undefined, "get gave what had expired");
    },
  },
  {
    method,
    title: "an entry that touch or replace has prolonged exists and is listed until the new expiry",
    guarantees: [],
    properties: ["expiry", "everywhere"],
    consequence:
      "A renewed session would end at its old expiry, or leave its owner's device list and survive signing out everywhere.",
    async check(under) {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const hash = newKey();
        const life = lifeOf(under);
        const expiresAt = under.now() + life;
        const prolonged = expiresAt + Math.ceil(life / 2);
        const [touched, replaced] = [
          await inserted(under, "touched", { subject: hash, sid: hash, expiresAt }),
          await inserted(under, "first", { subject: hash, sid: hash, expiresAt }),
        ];
        assert.equal(await under.store.touch(touched.key, null, prolonged), true, "touch");
        assert.equal(
          await under.store.replace(
            replaced.key,
            entryOf(under, "second", { subject: hash, sid: hash, expiresAt: prolonged }),
            replaced.version,
          ),
          true,
        );
        await until(under, expiresAt);
        const found = [await under.store.get(touched.key), await under.store.get(replaced.key)];
        const listed = await listedBoth(under.store, hash);
        // Real time may have passed the end, as above.
        if (under.now() >= prolonged) continue;
        sameData(found[0], touched.entry.data);
        sameData(found[1], entryOf(under, "second").data);
        assert.deepEqual(listed, both(touched.key, replaced.key), "listed beyond the first expiry");
        await until(under, prolonged);
        assert.deepEqual(
          [await under.store.get(touched.key), await under.store.get(replaced.key)],
          [undefined, undefined],
        );
        assert.deepEqual(await listedBoth(under.store, hash), both());
        return;
      }
      assert.fail(
        "the store was never asked between two expiries: give it a longer life, or a faster advance()",
      );
    },
  },
  {
    method,
    title: "neither touch nor replace with an earlier expiresAt shortens a life",
    guarantees: [],
    properties: ["expiry"],
    consequence: "A request with an older expiry would end a renewed session.",
    async check(under) {
      const hash = newKey();
      const early = under.now() + lifeOf(under);
      const expiresAt = early + LIFE_SECONDS;
      const touched = await inserted(under, "touched", { subject: hash, sid: hash, expiresAt });
      const replaced = await inserted(under, "first", { subject: hash, sid: hash, expiresAt });
      await under.store.touch(touched.key, under.now(), early);
      await under.store.replace(
        replaced.key,
        entryOf(under, "second", { subject: hash, sid: hash, expiresAt: early }),
        replaced.version,
      );
      await until(under, early);
      sameData(await under.store.get(touched.key), touched.entry.data);
      sameData(await under.store.get(replaced.key), entryOf(under, "second").data);
      assert.deepEqual(await listedBoth(under.store, hash), both(touched.key, replaced.key));
    },
  },
  {
    method,
    title: "reading prolongs nothing, and a life of 400 days is supported",
    guarantees: [],
    properties: ["expiry"],
    consequence:
      "A session that is only read would never end, or a very long one would end at once.",
    async check(under) {
      const life = lifeOf(under);
      const expiresAt = under.now() + life;
      const read = await inserted(under, "read", { expiresAt });
      const long = await inserted(under, "long", { expiresAt: under.now() + LONGEST_LIFE_SECONDS });
      await until(under, expiresAt - 1);
      await under.store.get(read.key);
      await until(under, expiresAt);
      assert.equal(
        await under.store.get(read.key),
        undefined,
        "what was read in its last second is there beyond its end",
      );
      sameData(await under.store.get(long.key), long.entry.data);
    },
  },
  {
    method,
    title: "an entry with an expiresAt in the past does not exist",
    guarantees: [],
    properties: ["expiry"],
    consequence: "An ended session would begin again.",
    async check(under) {
      const now = under.now();
      for (const expiresAt of [now, now - 1, 0]) {
        const key = newKey();
        await under.store.insert(key, entryOf(under, "stillborn", { expiresAt }));
        assert.equal(
          await under.store.get(key),
          undefined,
          `inserted ${now - expiresAt} s after its end, and there`,
        );
      }
    },
  },
];

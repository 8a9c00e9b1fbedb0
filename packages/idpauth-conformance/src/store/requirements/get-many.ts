import assert from "node:assert/strict";
import type { StoreUnderTest } from "../store-under-test.js";
import { lifeOf } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import {
  entryOf,
  inserted,
  LIFE_SECONDS,
  newKey,
  sameBytes,
  sameData,
  until,
} from "./store-steps.js";

const method = "getMany";
const needs = "getMany";

/** The greatest number of keys in a call. */
const MOST_KEYS = 500;

/** Requirements on an optional method. */
export const getManyRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "returns each stored entry under its key, as get does, and leaves out the others",
    guarantees: [],
    properties: ["separation", "expiry"],
    consequence:
      "An open connection would outlive its session, or close although its session continues.",
    needs,
    async check(under) {
      const fields = {
        lastActive: under.now() - 5,
        subject: newKey(),
        sid: newKey(),
        summary: new Uint8Array([0, 255]),
      };
      const [full, plain, deleted] = [
        await inserted(under, "full", fields),
        await inserted(under, "plain"),
        await inserted(under),
      ];
      await under.store.delete(deleted.key);
      const found = await getMany(under, [
        plain.key,
        newKey(),
        deleted.key,
        full.key,
        plain.key.toLowerCase(),
      ]);
      assert.deepEqual([...found.keys()].sort(), [full.key, plain.key].sort());
      for (const { key } of [full, plain])
        assert.deepEqual(found.get(key), await under.store.get(key));
      sameData(found.get(full.key), full.entry.data);
      sameBytes(found.get(full.key)?.summary, fields.summary);
      assert.equal((await getMany(under, [])).size, 0);
    },
  },
  {
    method,
    title: `returns ${MOST_KEYS} entries at once`,
    guarantees: [],
    properties: ["separation"],
    consequence:
      "A process with many open connections could not find out which of their sessions have ended.",
    needs,
    async check(under) {
      const keys = Array.from({ length: MOST_KEYS }, newKey);
      await Promise.all(keys.map((key) => under.store.insert(key, entryOf(under, key))));
      const found = await getMany(under, keys);
      assert.equal(found.size, MOST_KEYS);
      for (const key of keys) sameData(found.get(key), entryOf(under, key).data);
    },
  },
  {
    method,
    title: "leaves out an entry that has expired",
    guarantees: [],
    properties: ["expiry"],
    consequence: "An open connection would outlive its session.",
    needs,
    async check(under) {
      const expiresAt = under.now() + lifeOf(under);
      const [short, long] = [
        await inserted(under, "short", { expiresAt }),
        await inserted(under, "long", { expiresAt: expiresAt + LIFE_SECONDS }),
      ];
      await until(under, expiresAt);
      assert.deepEqual([...(await getMany(under, [short.key, long.key])).keys()], [long.key]);
    },
  },
];

async function getMany({ store }: StoreUnderTest, keys: readonly string[]) {
  const found = await store.getMany?.(keys);
  assert.ok(found !== undefined, "there is no getMany");
  return found;
}

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { StoreRequirement } from "./requirement.js";
import {
  dataFor,
  entryOf,
  inserted,
  insertedAs,
  LIFE_SECONDS,
  newKey,
  sameBytes,
  sameData,
} from "./store-steps.js";

const LARGE_RECORD_BYTES = 1024 * 1024;

/** Requirements on the stored keys and data. */
export const contentRequirements: readonly StoreRequirement[] = [
  {
    method: "data",
    title: "is opaque: every byte, no byte at all, and a megabyte return unchanged",
    guarantees: [],
    properties: ["secrecy"],
    consequence:
      "Encrypted records that change in the store cannot be decrypted, so their users would be signed out.",
    needs: "bytes",
    async check(under) {
      const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
      for (const data of [
        everyByte,
        new Uint8Array(0),
        new Uint8Array(randomBytes(LARGE_RECORD_BYTES)),
      ]) {
        const { key, version } = await inserted(under, "", { data, summary: everyByte });
        const stored = await under.store.get(key);
        sameData(stored, data);
        sameBytes(stored?.summary, everyByte);
        await under.store.replace(
          key,
          entryOf(under, "", { data: everyByte, summary: data }),
          version,
        );
        const replaced = await under.store.delete(key);
        sameData(replaced, everyByte);
        if (data.length > 0) sameBytes(replaced?.summary, data);
      }
    },
  },
  {
    method: "data",
    title: "of a view into a larger buffer, only the view is stored",
    guarantees: [],
    properties: ["secrecy", "separation"],
    consequence:
      "Other contents of the same memory, possibly secrets, would be written to the store.",
    needs: "bytes",
    async check(under) {
      const pool = new Uint8Array(randomBytes(64));
      const [data, summary] = [pool.subarray(10, 30), pool.subarray(40, 50)];
      const { key } = await inserted(under, "", { data, summary });
      const stored = await under.store.get(key);
      sameData(stored, data);
      sameBytes(stored?.summary, summary);
    },
  },
  {
    method: "data",
    title: "is the store's own copy: changing the caller's or a returned array changes nothing",
    guarantees: [5],
    properties: ["secrecy"],
    consequence: "A stored record would change without a write and without a new version.",
    needs: "bytes",
    async check(under) {
      const now = under.now();
      const expected = new TextEncoder().encode("the same as ever");
      const spoil = (bytes: unknown): void => {
        if (bytes instanceof Uint8Array) bytes.fill(0);
      };
      const fresh = () => ({
        data: Uint8Array.from(expected),
        summary: Uint8Array.from(expected),
        expiresAt: now + LIFE_SECONDS,
      });
      const key = newKey();
      const isKept = async (after: string): Promise<void> => {
        const stored = await under.store.get(key);
        assert.ok(stored !== undefined, "the entry is gone");
        for (const bytes of [stored.data, stored.summary]) {
          assert.deepEqual(
            bytes instanceof Uint8Array && new TextDecoder().decode(bytes),
            "the same as ever",
            after,
          );
          spoil(bytes);
        }
      };
      const first = fresh();
      await under.store.insert(key, first);
      spoil(first.data);
      spoil(first.summary);
      await isKept("after the caller changed what it had inserted");
      await isKept("after the caller changed what get had given");
      const second = fresh();
      const version = (await under.store.get(key))?.version ?? "";
      await under.store.replace(key, second, version);
      spoil(second.data);
      spoil(second.summary);
      await isKept("after the caller changed what it had replaced");
    },
  },
  {
    method: "key",
    title: "is compared literally, for every kind of string",
    guarantees: [],
    properties: ["separation"],
    consequence: "Two users with similar keys would share one session.",
    async check(under) {
      const base = newKey();
      const keys = [
        base,
        base.toLowerCase(),
        base.toUpperCase(),
        `${base}-`,
        `${base}_`,
        `${base}%`,
        `${base}*`,
        `${base}:x`,
        `${base}'; --`,
        `__proto__${base}`,
      ];
      for (const key of keys) await insertedAs(under, key, entryOf(under, key));
      for (const key of keys) sameData(await under.store.get(key), dataFor(under.store, key));
      assert.equal(await under.store.get(`${base}?`), undefined);
      assert.equal(await under.store.get(base.slice(0, -1)), undefined);
      await under.store.delete(`${base}*`);
      sameData(await under.store.get(base), dataFor(under.store, base));
    },
  },
  {
    method: "setup",
    title: "reports no problem with the store's setup",
    guarantees: [7],
    properties: [],
    consequence: "The store itself reports that its setup breaks its guarantees.",
    async check({ store }) {
      const problems = (store.problems ?? []).map(({ message, remedy }) => `${message} ${remedy}`);
      assert.deepEqual(problems, [], problems.join(" "));
    },
  },
];

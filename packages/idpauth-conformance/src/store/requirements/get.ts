import assert from "node:assert/strict";
import type { StoreRequirement } from "./requirement.js";
import {
  entryOf,
  fieldsOf,
  inserted,
  listed,
  LIFE_SECONDS,
  newKey,
  sameBytes,
  sameData,
  versionOf,
} from "./store-steps.js";

const method = "get";

/** Epoch seconds beyond the signed and the unsigned 32-bit range. */
const FAR_TIMES = [2_200_000_000, 4_400_000_000];

export const getRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "returns undefined for a key that was never inserted",
    guarantees: [],
    properties: ["separation"],
    consequence: "An invented cookie would find a session.",
    async check({ store }) {
      assert.equal(await store.get(newKey()), undefined);
    },
  },
  {
    method,
    title: "returns every field as it was inserted",
    guarantees: [],
    properties: ["expiry", "idle", "everywhere", "secrecy"],
    consequence:
      "The session's life, idle timeout and device list would be computed from other values than the stored ones.",
    async check(under) {
      const summary = new Uint8Array([0, 1, 127, 128, 255]);
      const [subject, sid] = [newKey(), newKey()];
      const { key, entry } = await inserted(under, "all fields", {
        lastActive: under.now() - 5,
        subject,
        sid,
        summary,
      });
      const stored = await under.store.get(key);
      sameData(stored, entry.data);
      assert.deepEqual(fieldsOf(stored), fieldsOf({ ...entry, version: stored?.version ?? "" }));
      sameBytes(stored?.summary, summary);
    },
  },
  {
    method,
    title: "leaves out absent fields, and does not return null or zero for them",
    guarantees: [],
    properties: ["idle", "everywhere"],
    consequence:
      "A session without a time stamp would count as idle since 1970, or a pending login as a user's session.",
    async check(under) {
      const { key } = await inserted(under);
      const stored = await under.store.get(key);
      assert.deepEqual(
        [stored?.lastActive, stored?.subject, stored?.sid, stored?.summary],
        [undefined, undefined, undefined, undefined],
      );
    },
  },
  {
    method,
    title: "returns times beyond 32 bits",
    guarantees: [],
    properties: ["expiry", "idle"],
    consequence: "A long life would wrap around to a past time; from 2038 on, every life would.",
    async check(under) {
      for (const time of FAR_TIMES) {
        const { key } = await inserted(under, "far", { lastActive: time - 1, expiresAt: time });
        const stored = await under.store.get(key);
        assert.deepEqual([stored?.lastActive, stored?.expiresAt], [time - 1, time]);
      }
    },
  },
  {
    method,
    title: "returns the same version while nothing is written",
    guarantees: [2],
    properties: [],
    consequence:
      "No replace would match the version that was read, so no process could take the lease and no session could be refreshed.",
    async check(under) {
      const { key, version } = await inserted(under);
      assert.equal(await versionOf(under, key), version);
    },
  },
  {
    method,
    title: "returns a write as soon as the write has been confirmed",
    guarantees: [1, 3, 5],
    properties: [],
    consequence: "A request right after a refresh would find the spent token and spend it again.",
    async check(under) {
      const { key } = await inserted(under, "write 0");
      for (let write = 1; write <= 10; write += 1) {
        await under.store.replace(
          key,
          entryOf(under, `write ${write}`),
          await versionOf(under, key),
        );
        sameData(await under.store.get(key), entryOf(under, `write ${write}`).data);
      }
    },
  },
  {
    method,
    title: "a returned entry stays unchanged when the stored entry changes",
    guarantees: [5],
    properties: [],
    consequence:
      "A reader would hold new data with an old version, or the reverse, and overwrite one with the other.",
    async check(under) {
      const now = under.now();
      const { key, version } = await inserted(under, "first", { lastActive: now });
      const early = await under.store.get(key);
      const copy = { ...early };
      await under.store.touch(key, now + 5, now + 2 * LIFE_SECONDS);
      await under.store.replace(key, entryOf(under, "second"), version);
      await under.store.delete(key);
      assert.deepEqual({ ...early }, copy);
    },
  },
  {
    method,
    title: "for many keys at once, returns each key's own entry during writes and deletes",
    guarantees: [],
    properties: ["separation"],
    consequence: "A user would see another user's session.",
    async check(under) {
      const one = async (index: number): Promise<void> => {
        const subject = newKey();
        const { key, entry, version } = await inserted(under, `user ${index}`, { subject });
        sameData(await under.store.get(key), entry.data);
        assert.deepEqual([...(await listed(under.store, "listBySubject", subject)).keys()], [key]);
        const second = entryOf(under, `user ${index}, again`, { subject });
        assert.equal(await under.store.replace(key, second, version), true, "replace");
        assert.equal(await under.store.touch(key, under.now(), second.expiresAt), true, "touch");
        sameData(await under.store.get(key), second.data);
        if (index % 2 === 0) sameData(await under.store.delete(key), second.data);
      };
      await Promise.all(Array.from({ length: 40 }, (_, index) => one(index)));
    },
  },
];

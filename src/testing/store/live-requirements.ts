import assert from "node:assert/strict";
import type { Entry } from "../../adapter.js";
import { storeSteps, type StoreToCheck } from "./store-steps.js";

const {
  LIFE_SECONDS,
  ROUNDS,
  WRITERS,
  newKey,
  sameData,
  sameBytes,
  entryOf,
  inserted,
  versionOf,
  fieldsOf,
  listed,
  isAbsent,
  atOnce,
  oneWinner,
} = storeSteps;

/** A requirement that `idpauth check --live` checks: it needs a few seconds and the seven methods. */
export interface LiveStoreRequirement {
  /** The method that the rule is about. */
  readonly method: string;
  /** The rule. Unique within its method. */
  readonly title: string;
  /** What happens with a store that breaks it, in one sentence. */
  readonly consequence: string;
  /** Rejects if the store breaks it, with an AssertionError or the store's own error. */
  check(under: StoreToCheck): Promise<void>;
}

/**
 * The requirements that `idpauth check --live` checks. `idpauth-conformance` has all.
 * @hidden
 */
export const liveStoreRequirements = {
  /** Of `insert`. */
  insertRefusesExistingKey: {
    method: "insert",
    title: "refuses a key that exists, and writes nothing",
    consequence: "An insert would overwrite a live session with the newest tokens in it.",
    async check(under) {
      const now = under.now();
      const subject = newKey();
      const { key, entry } = await inserted(under, "first", {
        subject,
        sid: newKey(),
        lastActive: now - 10,
        summary: new Uint8Array([1]),
      });
      const before = await under.store.get(key);
      const other = entryOf(under, "second", {
        subject: newKey(),
        sid: newKey(),
        lastActive: now,
        expiresAt: entry.expiresAt + 60,
        summary: new Uint8Array([2]),
      });
      assert.equal(await under.store.insert(key, other), false);
      const after = await under.store.get(key);
      sameData(after, entry.data);
      sameBytes(after?.summary, new Uint8Array([1]));
      assert.deepEqual(fieldsOf(after), fieldsOf(before));
    },
  },
  /** Of `replace`. */
  replaceRefusesOldVersion: {
    method: "replace",
    title: "refuses an old version and writes nothing",
    consequence:
      "A request that read before a refresh would overwrite the new token with the spent one.",
    async check(under) {
      const subject = newKey();
      const { key, version } = await inserted(under, "first", { subject });
      const second = entryOf(under, "second", { subject, summary: new Uint8Array([2]) });
      await under.store.replace(key, second, version);
      const before = await under.store.get(key);
      const late = entryOf(under, "late", { subject: newKey(), summary: new Uint8Array([3]) });
      assert.equal(await under.store.replace(key, late, version), false);
      const after = await under.store.get(key);
      sameData(after, second.data);
      sameBytes(after?.summary, new Uint8Array([2]));
      assert.deepEqual([after?.subject, after?.version], [before?.subject, before?.version]);
    },
  },
  /** Of `replace`. */
  replaceHasOneWinner: {
    method: "replace",
    title: "of many replaces at once with one version, one wins and its data is stored",
    consequence:
      "Two processes would take the lease and spend the refresh token, and a provider that detects reuse would sign the user out.",
    async check(under) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { key, version } = await inserted(under);
        const entries = Array.from({ length: WRITERS }, (_, index) =>
          entryOf(under, `writer ${index}`),
        );
        const won = await atOnce(
          round,
          entries.map((entry) => () => under.store.replace(key, entry, version)),
        );
        await oneWinner(under, key, entries, won);
      }
    },
  },
  /** Of `touch`. */
  touchMovesTimes: {
    method: "touch",
    title: "moves lastActive and expiresAt forward",
    consequence: "A user would be signed out while active.",
    async check(under) {
      const now = under.now();
      const { key } = await inserted(under, "first", { lastActive: now - 10 });
      assert.equal(await under.store.touch(key, now, now + 2 * LIFE_SECONDS), true);
      const stored = await under.store.get(key);
      assert.deepEqual([stored?.lastActive, stored?.expiresAt], [now, now + 2 * LIFE_SECONDS]);
    },
  },
  /** Of `touch`. */
  touchKeepsVersion: {
    method: "touch",
    title: "gives no new version: a replace that was prepared before still wins",
    consequence: "A user's own clicks would keep the refresher from storing its tokens.",
    async check(under) {
      const now = under.now();
      const { key, version } = await inserted(under, "first", { lastActive: now - 10 });
      await under.store.touch(key, now, now + 2 * LIFE_SECONDS);
      assert.equal(await versionOf(under, key), version);
      assert.equal(await under.store.replace(key, entryOf(under, "second"), version), true);
    },
  },
  /** Of `touch`. */
  touchCreatesNothing: {
    method: "touch",
    title: "does not create an absent entry",
    consequence: "A request that is running during a logout would bring the session back.",
    async check(under) {
      const key = newKey();
      assert.equal(await under.store.touch(key, under.now(), under.now() + LIFE_SECONDS), false);
      assert.equal(await under.store.get(key), undefined);
    },
  },
  /** Of `delete`. */
  deleteReturnsEntry: {
    method: "delete",
    title: "returns the entry and removes it",
    consequence: "A logout would leave the session in the store, or revoke no token.",
    async check(under) {
      const now = under.now();
      const [subject, summary] = [newKey(), new Uint8Array([7])];
      const { key, entry, version } = await inserted(under, "first", {
        subject,
        lastActive: now,
        summary,
      });
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
  /** Of `listBySubject`. */
  listBySubjectIsWhole: {
    method: "listBySubject",
    title: "returns all entries of the subject as get does, and no others",
    consequence: "Signing out everywhere would miss a session, or end another user's.",
    check: (under) => listIsWhole(under, "subject"),
  },
  /** Of `listBySid`. */
  listBySidIsWhole: {
    method: "listBySid",
    title: "returns all entries of the sid as get does, and no others",
    consequence:
      "A logout at the provider would miss a session, or end another provider session's.",
    check: (under) => listIsWhole(under, "sid"),
  },
} satisfies Readonly<Record<string, LiveStoreRequirement>>;

async function listIsWhole(under: StoreToCheck, field: "subject" | "sid"): Promise<void> {
  const method = field === "sid" ? "listBySid" : "listBySubject";
  const of = (hash: string): Partial<Entry> => ({ [field]: hash });
  const list = async (hash: string) => [...(await listed(under.store, method, hash)).keys()];
  const [one, two] = [newKey(), newKey()];
  const fields = {
    ...of(one),
    lastActive: under.now() - 5,
    summary: new Uint8Array([0, 255]),
  };
  const first = [await inserted(under, "a", fields), await inserted(under, "b", of(one))];
  const second = await inserted(under, "c", of(two));
  // The other field has the same value here, and must not be mixed up with this one.
  await inserted(under, "d", { [field === "sid" ? "subject" : "sid"]: one });
  await inserted(under, "pending");
  const found = await listed(under.store, method, one);
  assert.deepEqual([...found.keys()].sort(), first.map(({ key }) => key).sort());
  for (const { key } of first) assert.deepEqual(found.get(key), await under.store.get(key));
  assert.deepEqual(await list(two), [second.key]);
  assert.deepEqual(await list(newKey()), []);
}

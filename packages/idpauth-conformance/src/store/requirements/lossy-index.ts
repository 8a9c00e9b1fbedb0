import assert from "node:assert/strict";
import type { EntryPage, Stored } from "idpauth/adapter";
import type { StoreUnderTest } from "../store-under-test.js";
import type { StoreRequirement } from "./requirement.js";
import { entryOf, inserted, newKey } from "./store-steps.js";

const method = "lossyIndex";
const needs = "lossyIndex";

/** The greatest number of entries in a page. */
const MOST_ENTRIES = 500;
const LISTED_ENTRIES = 300;

/** Requirements on an optional capability. */
export const lossyIndexRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "scan returns all entries that have a subject or a sid, as get does",
    guarantees: [6],
    properties: ["everywhere"],
    consequence: "A logout by the provider would leave a session that the lists have lost.",
    needs,
    async check(under) {
      const full = { subject: newKey(), sid: newKey(), summary: new Uint8Array([0, 255]) };
      const keys = [
        await inserted(under, "a", full),
        await inserted(under, "b", { subject: newKey() }),
        await inserted(under, "c", { sid: newKey() }),
      ].map(({ key }) => key);
      const deleted = await inserted(under, "d", { subject: newKey() });
      await under.store.delete(deleted.key);
      const found = await scanned(under, ({ entries }) => {
        assert.ok(entries.size <= MOST_ENTRIES, `a page has ${entries.size} entries`);
      });
      for (const key of keys) assert.deepEqual(found.get(key), await under.store.get(key));
      assert.equal(found.has(deleted.key), false, "a deleted entry is returned");
    },
  },
  {
    method,
    title:
      "scan misses no entry while those of each page are deleted, and others are inserted, before the next page",
    guarantees: [6],
    properties: ["everywhere"],
    consequence:
      "A logout by the provider would leave sessions, because idpauth deletes as it reads.",
    needs,
    async check(under) {
      const subject = newKey();
      const keys = Array.from({ length: LISTED_ENTRIES }, newKey);
      await Promise.all(
        keys.map((key) => under.store.insert(key, entryOf(under, "one of many", { subject }))),
      );
      const found = await scanned(under, async ({ entries }) => {
        for (const [key, stored] of entries)
          if (stored.subject === subject) await under.store.delete(key);
        await under.store.insert(newKey(), entryOf(under, "a new sign-in", { subject: newKey() }));
      });
      assert.deepEqual(
        keys.filter((key) => !found.has(key)),
        [],
        "entries were left out",
      );
    },
  },
];

/** Returns all entries, and fails if the scan has no end. */
async function scanned(
  { store }: StoreUnderTest,
  onPage: (page: EntryPage) => unknown,
): Promise<Map<string, Stored>> {
  const { lossyIndex } = store;
  assert.ok(lossyIndex !== undefined, "there is no lossyIndex");
  await lossyIndex.isWhole();
  const found = new Map<string, Stored>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await lossyIndex.scan(cursor);
    for (const [key, stored] of page.entries) found.set(key, stored);
    await onPage(page);
    cursor = page.next;
    assert.ok(cursor === undefined || !cursors.has(cursor), "the scan returns to an earlier page");
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return found;
}

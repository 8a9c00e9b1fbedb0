import { expect, it } from "vitest";
import { createReportedStore } from "../../src/sessions/reported-store.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { polluted } from "../support/polluted.js";

it("a last page has no next page after a pollution of Object.prototype, and null counts as none", async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const reported = createReportedStore(store, clock);
  await polluted({ next: "0" }, async () => {
    expect((await reported.listBySubject("ada")).next).toBeUndefined();
  });
  store.listBySubject = () => Promise.resolve({ entries: new Map(), next: null as never });
  expect((await reported.listBySubject("ada")).next).toBeUndefined();
});

it("an entry without a subject, a stamp and a summary has none after a pollution of Object.prototype", async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  await store.insert("key", {
    data: new Uint8Array(1),
    expiresAt: Math.floor(clock.now() / 1000) + 60,
  });
  const reported = createReportedStore(store, clock);
  await polluted(
    { subject: "of another user", lastActive: 1, summary: new Uint8Array(1) },
    async () => {
      for (const entry of [await reported.get("key"), await reported.delete("key")]) {
        expect([entry?.subject, entry?.lastActive, entry?.summary]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
      }
    },
  );
});

import { expect, it } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { EntryPage, Stored } from "../../src/ports/session-store.js";
import { createSharedScans } from "../../src/sessions/shared-scans.js";
import { TestClock } from "../../src/testing/test-clock.js";

const stored = (fields: Partial<Stored>): Stored => ({
  data: Uint8Array.of(0),
  expiresAt: 1,
  version: "1",
  ...fields,
});
const PAGE: EntryPage["entries"] = new Map([
  ["ada's", stored({ subject: "ada", sid: "s1" })],
  ["ada's other", stored({ subject: "ada (older SECRET_KEY)" })],
  ["grace's", stored({ subject: "grace", sid: "ada" })],
]);

function setUp(milliseconds = 0, failure?: Error) {
  const clock = new TestClock();
  const running = { passes: 0, atOnce: 0, most: 0 };
  const search = createSharedScans(clock, async function* () {
    running.passes += 1;
    running.atOnce += 1;
    running.most = Math.max(running.most, running.atOnce);
    yield PAGE;
    await Promise.resolve();
    clock.advance(milliseconds);
    running.atOnce -= 1;
    if (failure !== undefined) throw failure;
  });
  return { clock, search, running };
}

const turns = async () => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

it("searches that wait share one pass over the entries, and each finds its own", async () => {
  const { search, running } = setUp();
  const [ada, bySid, none] = await Promise.all([
    search("subject", ["ada", "ada (older SECRET_KEY)"]),
    search("sid", ["ada"]),
    search("subject", ["nobody"]),
    ...Array.from({ length: 1_000 }, (_, index) => search("sid", [`forged ${String(index)}`])),
  ]);
  expect([...ada.entries.keys()]).toEqual(["ada's", "ada's other"]);
  expect([...bySid.entries.keys()]).toEqual(["grace's"]);
  expect(none.entries.size).toBe(0);
  expect(running.passes).toBe(1);
});

it("a search that comes during a pass waits for the next one, since it may be too late for some entries", async () => {
  const { search, running } = setUp();
  const first = search("subject", ["ada"]);
  while (running.atOnce === 0) await Promise.resolve();
  const second = search("subject", ["grace"]);
  await first;
  expect([...(await second).entries.keys()]).toEqual(["grace's"]);
  expect(running).toEqual({ passes: 2, atOnce: 0, most: 1 });
});

it("between two passes the process rests for as long as the last one took", async () => {
  const { clock, search, running } = setUp(300);
  clock.advance(5_000);
  await search("subject", ["ada"]);
  const next = search("subject", ["ada"]);
  await turns();
  await clock.advanceAsync(299);
  expect(running.passes).toBe(1);
  await clock.advanceAsync(1);
  await next;
  expect(running.passes).toBe(2);
});

it("a pass that fails gives what it has found, and the next search makes another", async () => {
  const failure = new StoreUnavailableError();
  const { search, running } = setUp(0, failure);
  for (const passes of [1, 2]) {
    const found = await search("subject", ["ada"]);
    expect([...found.entries.keys()]).toEqual(["ada's"]);
    expect(found.failure).toBe(failure);
    expect(running.passes).toBe(passes);
  }
});

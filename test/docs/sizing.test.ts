import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application } from "../support/application.js";
import { watchedStore } from "../support/watched-store.js";

// docs/deploy/sizing.md says how often a request reads the store, and how often it writes.

const PAGE = readFileSync(new URL("../../docs/deploy/sizing.md", import.meta.url), "utf8");
/** The numbers of a row: reads, sometimes those of another case, and writes. */
const rowOf = (name: string) => {
  const row = PAGE.split("\n").find((line) => line.startsWith(`| ${name}`)) ?? "";
  return [...row.replace(/\([^)]*\)/g, "").matchAll(/\d+/g)].map(([number]) => Number(number));
};

const READS = new Set(["get", "listBySubject", "listBySid"]);

let application: Application | undefined;
afterEach(async () => {
  await application?.stop();
});

it("docs/deploy/sizing.md has the reads and writes of each kind of request", async () => {
  const clock = new TestClock();
  const store = watchedStore(clock);
  application = await startApplication({ clock, store });
  const { auth } = application;
  const counted = async (work: () => Promise<unknown>) => {
    store.operations.length = 0;
    await work();
    const reads = store.operations.filter((name) => READS.has(name)).length;
    return [reads, store.operations.length - reads];
  };
  const user = application.user();
  const [reads, writes] = await counted(() => user.signIn());
  expect([reads, writes, ...(await counted(() => user.signIn()))]).toEqual([4, 4, 6, 4]);
  clock.advance(600_000);
  // It also removes the trace of the session that the last sign-in replaced.
  expect(await counted(() => user.signIn())).toEqual([6, 5]);
  expect(rowOf("Sign-in")).toEqual([4, 6, 4, 5]);
  // The idle timeout, which is off here, adds a write.
  const guarded = await counted(() => auth.guard(user.request("/")));
  expect(rowOf("Guarded request").slice(0, 2)).toEqual(guarded);
  const refreshed = async () => {
    clock.advance(3_600_000);
    await auth.guard(user.request("/"));
  };
  expect(rowOf("Refresh")).toEqual(await counted(refreshed));
  expect(rowOf("Sign-out")).toEqual(await counted(() => user.get("/idpauth/logout/")));
});

it("docs/about/instead-of-a-service.md has the sizes of docs/deploy/sizing.md", () => {
  const buyers = readFileSync(
    new URL("../../docs/about/instead-of-a-service.md", import.meta.url),
    "utf8",
  );
  for (const size of ["70 MB more", "1.7 kB for each session", "170 MB"]) {
    expect(PAGE).toContain(size);
    expect(buyers).toContain(size);
  }
});

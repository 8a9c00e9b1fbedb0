import { AssertionError } from "node:assert/strict";
import { describe, expect, it } from "vitest";
import type { SessionStore } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import {
  checkStore,
  formatStoreReport,
  GUARANTEES,
  STORE_PROPERTIES,
  storeRequirements,
  StoreRequirementError,
  type StoreReport,
  type StoreResult,
  type StoreUnderTest,
} from "../../packages/idpauth-conformance/src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { brokenSharedStores } from "./broken-shared-stores.js";
import { StoppedClock } from "./broken-store.js";
import { brokenStores } from "./broken-stores.js";
import { MapStore } from "./map-store.js";
import { methodsOf } from "../support/store-with-replaceable-methods.mjs";
import { brokenEnds } from "./broken-ends.js";
import { brokenLists } from "./broken-lists.js";
import { soundSharedStore } from "./shared-store.js";

function nameOf({ method, title }: { method: string; title: string }): string {
  return `${method}: ${title}`;
}

function verdicts({ guarantees, properties }: StoreReport, given: boolean | undefined) {
  return [
    ...guarantees.filter((verdict) => verdict.given === given).map(({ number }) => number),
    ...properties.filter((verdict) => verdict.given === given).map(({ name }) => name),
  ];
}

function memory(): StoreUnderTest {
  const clock = new TestClock();
  return {
    store: memoryStore({ clock }),
    now: () => clock.now() / 1000,
    advance: (seconds) => clock.advanceAsync(seconds * 1000),
  };
}

function mapStore(): StoreUnderTest {
  const clock = new StoppedClock();
  return {
    store: new MapStore(clock),
    now: () => clock.seconds,
    advance: async (seconds) => void (clock.seconds += seconds),
  };
}

function brokenStore(name: string): () => StoreUnderTest {
  const found = brokenStores.find((store) => store.name === name);
  if (found === undefined) throw new Error(`there is no broken store "${name}"`);
  return found.create;
}

/** Requirements that some broken store has been found to break. */
const bitten = new Set<string>();

describe("checkStore: a store that", () => {
  it.each([...brokenStores, ...brokenLists, ...brokenSharedStores, ...brokenEnds])(
    "$name",
    async ({ name, breaks: [method, title], loses, create }) => {
      const report = await checkStore({ name, create });
      const broken = report.results.filter(({ error }) => error !== undefined);
      for (const result of broken) bitten.add(nameOf(result));
      const found = broken.find(
        (result) => result.method === method && result.title.startsWith(title),
      );
      expect(found, `found to break instead:\n${broken.map(nameOf).join("\n")}`).toBeDefined();
      expect(verdicts(report, false)).toEqual(loses);
    },
  );

  it("each requirement is broken by at least one of them, or nothing would show that it can fail", () => {
    expect(storeRequirements.map(nameOf).filter((name) => !bitten.has(name))).toEqual([]);
  });
});

describe("checkStore: what it says of", () => {
  it("a store that meets every requirement, with all features: every guarantee is given", async () => {
    const seen: StoreResult[] = [];
    const report = await checkStore({
      name: "sound",
      create: soundSharedStore,
      report: (result) => seen.push(result),
    });
    expect(report.results.filter(({ passed }) => !passed)).toEqual([]);
    expect(verdicts(report, true)).toEqual([1, 2, 3, 4, 5, 6, 7, ...Object.keys(STORE_PROPERTIES)]);
    expect(seen).toEqual(report.results);
    expect(report.results.map(nameOf)).toEqual(storeRequirements.map(nameOf));
  });

  it("a store without powers: what takes them is not checked, and nothing that hangs on it is given", async () => {
    const report = await checkStore({ name: "map", create: mapStore });
    const open = report.results.filter(({ notChecked }) => notChecked !== undefined);
    expect(new Set(open.map(({ method }) => method))).toEqual(
      new Set(["lossyIndex", "getMany", "watchEnds", "processes", "outage"]),
    );
    expect(open.filter(({ passed, error }) => passed || error !== undefined)).toEqual([]);
    expect(verdicts(report, true)).toEqual([1, "separation"]);
    expect(verdicts(report, false)).toEqual([]);
  });

  it("the memory store: all within its process, and nothing of other processes and outages", async () => {
    const report = await checkStore({ name: "memory", create: memory });
    expect(verdicts(report, undefined)).toEqual([2, 7]);
    expect(verdicts(report, false)).toEqual([]);
    const reasons = new Set(report.results.flatMap(({ notChecked }) => notChecked ?? []));
    expect([...reasons].sort()).toEqual([
      "a store in this process has no server",
      "no other process can reach a store in this process",
      "records stay in this process as objects, not as bytes",
      "the store's lists lose no entry, so it has no lossyIndex",
    ]);
  });

  it("a broken store: which guarantee it cannot give and why, with what was seen as the cause", async () => {
    const { results } = await checkStore({
      name: "racing",
      create: brokenStore("compares, then sets after a moment"),
    });
    const error = results.find(
      ({ method, title }) => method === "replace" && title.startsWith("of many"),
    )?.error;
    expect(error).toBeInstanceOf(StoreRequirementError);
    expect(error?.cause).toBeInstanceOf(AssertionError);
    expect(error).toMatchObject({ method: "replace", guarantees: [1, 2, 4, 5], properties: [] });
    expect(error?.message).toMatch(
      /^The racing store breaks a requirement\. replace: of many replaces at once with one version/,
    );
    expect(error?.message).toContain(
      "\nTwo processes would take the lease and spend the refresh token",
    );
    for (const number of [1, 2, 4, 5])
      expect(error?.message).toContain(`guarantee ${number}: ${GUARANTEES[number - 1]?.title}`);
    expect(error?.message).toContain("Seen: of 20 writers, not exactly one got true");
  });
});

describe("checkStore: its surroundings", () => {
  it("closes each store under test, for every outcome", async () => {
    let open = 0;
    const create = (): StoreUnderTest => {
      open += 1;
      return { ...brokenStore("delete gives nothing")(), close: async () => void (open -= 1) };
    };
    await checkStore({ name: "broken", create });
    expect(open).toBe(0);
  });

  it("a store with the real time only: a life of two seconds is enough, and nothing takes it for granted that time stands still", async () => {
    const lives = storeRequirements.filter(({ method }) => method === "expiry");
    const results = await Promise.all(
      lives.map(async ({ check }) => {
        const now = () => Math.floor(Date.now() / 1000);
        const advance = (seconds: number) =>
          new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
        await check({ store: new MapStore(), now, advance, life: 2 });
      }),
    );
    expect(results).toHaveLength(6);
  });

  it("an advance that lets no time pass is distinguished from a store that forgets the expiry", async () => {
    const clock = new StoppedClock();
    const create = () => ({
      store: new MapStore(clock),
      now: () => clock.seconds,
      advance: async () => undefined,
    });
    const { results } = await checkStore({ name: "map", create });
    expect(results.find(({ method }) => method === "expiry")?.error?.message).toContain(
      "advance() lets no time pass",
    );
  });

  it("an outage ends also when it could not begin", async () => {
    let ended = 0;
    const outage = {
      begin: () => Promise.reject(new Error("no permission")),
      end: async () => void (ended += 1),
    };
    const { results } = await checkStore({
      name: "sound",
      create: () => ({ ...soundSharedStore(), outage }),
    });
    const concerned = results.filter(({ method }) => method === "outage");
    expect(concerned.every(({ error }) => error?.message.includes("no permission"))).toBe(true);
    expect(ended).toBe(concerned.length);
  });

  it("another() that gives the very same store proves nothing", async () => {
    const under = mapStore();
    const { results } = await checkStore({
      name: "map",
      create: () => ({ ...under, another: () => under.store }),
    });
    const concerned = results.filter(({ method }) => method === "processes");
    expect(concerned.every(({ error }) => error?.message.includes("the same store"))).toBe(true);
  });

  const { store, now, advance } = mapStore();
  const without = (method: keyof SessionStore) => ({ ...methodsOf(store), [method]: undefined });
  it.each<[what: string, given: unknown, says: string]>([
    [
      "nothing",
      undefined,
      "create() must return an object with store, now and advance, got undefined",
    ],
    ["the store itself", store, "create() returned the store itself"],
    ["no store", { now, advance }, "a store is an object, got undefined"],
    ["no advance", { store, now }, "create() must return advance as well"],
    ["no time at all", { store }, "create() must return now and advance as well"],
    ["a now in milliseconds", { store, now: () => Date.now(), advance }, "not milliseconds"],
    ["a now in parts of a second", { store, now: () => 1.5, advance }, "whole seconds"],
    [
      "a life of a second",
      { store, now, advance, life: 1 },
      "life must be a whole number of seconds from 2",
    ],
    [
      "a time limit that is none",
      { store, now, advance, timeLimit: 0 },
      "timeLimit must be milliseconds above 0",
    ],
    ["half an outage", { store, now, advance, outage: { begin: advance } }, "there is no end"],
    [
      "another that is no function",
      { store, now, advance, another: store },
      "another must be a function",
    ],
    [
      "a store without a method",
      { store: without("touch"), now, advance },
      "it has no touch. A store has the methods get, insert,",
    ],
    ["a store without a name", { store: without("name"), now, advance }, "it has no name"],
    [
      "an empty store",
      { store: {}, now, advance },
      "it has no get, insert, replace, touch, delete, listBySubject and listBySid",
    ],
  ])("%s is a TypeError that says so", async (_what, given, says) => {
    const check = checkStore({ name: "garbage", create: () => given as StoreUnderTest });
    await expect(check).rejects.toThrow(TypeError);
    await expect(check).rejects.toThrow(`The garbage store cannot be tested: `);
    await expect(check).rejects.toThrow(says);
  });
});

describe("formatStoreReport", () => {
  it("has a line for each requirement under its method, and a result for each guarantee", async () => {
    const report = await checkStore({ name: "memory", create: memory });
    const text = formatStoreReport(report);
    for (const { method, title, passed, notChecked } of report.results) {
      const heading = passed ? method : `${method} (${String(notChecked)})`;
      const section = text.split("\n\n").find((part) => part.startsWith(`${heading}\n`));
      expect(section?.split("\n")).toContain(
        passed ? `  holds        ${title}` : `  not checked  ${title}`,
      );
    }
    const lines = text.split("\n");
    expect(lines).toContain(
      "  given        6. Logout wins over everything in flight: the session never comes back.",
    );
    const two = lines.indexOf(
      "  not checked  2. Any number of processes that share the store make one token request.",
    );
    expect(lines[two + 1]).toBe(
      "               - no other process can reach a store in this process",
    );
  });

  it("names under each guarantee that is not given the requirements that are broken, and then what was seen", async () => {
    const report = await checkStore({
      name: "broken",
      create: brokenStore("touch reads the entry and writes it back whole"),
    });
    const text = formatStoreReport(report);
    expect(text).toMatch(
      /^The broken store: of \d+ requirements \d+ hold, 3 are broken, 23 were not checked\.\n/,
    );
    expect(text).toContain(
      "  BROKEN       against a simultaneous replace: the replaced data stays\n",
    );
    expect(text).toContain(
      "  NOT GIVEN    5. No write of an old copy ever overwrites newer tokens.\n" +
        "               - touch: against a simultaneous replace: the replaced data stays\n",
    );
    expect(text.split("What was seen\n")[1]).toContain(
      "A time stamp that reads and writes the whole entry would bring the spent token back",
    );
  });
});

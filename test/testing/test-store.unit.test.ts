import { describe, expect, it } from "vitest";
import {
  storeRequirements,
  StoreRequirementError,
  testStore,
  type StoreUnderTest,
  type TestContext,
} from "../../packages/idpauth-conformance/src/index.js";
import { StoppedClock } from "./broken-store.js";
import { brokenStores } from "./broken-stores.js";
import { MapStore } from "./map-store.js";

type Run = (context?: TestContext) => Promise<void>;

/** A runner that only takes down what it is given. */
function registered(options: Partial<Parameters<typeof testStore>[0]> = {}): Map<string, Run> {
  const tests = new Map<string, Run>();
  testStore({ name: "map", create, test: (name, run) => tests.set(name, run), ...options });
  return tests;
}

function create(): StoreUnderTest {
  const clock = new StoppedClock();
  return {
    store: new MapStore(clock),
    now: () => clock.seconds,
    advance: async (seconds) => void (clock.seconds += seconds),
  };
}

const NEEDS_ANOTHER = "map store, processes: a time stamp by one store is visible to the other";
const MISSING = { get: "map store, get: returns undefined for a key that was never inserted" };

describe("testStore", () => {
  it("registers one test for each requirement, each under a name of its own", () => {
    expect([...registered().keys()]).toEqual(
      storeRequirements.map(({ method, title }) => `map store, ${method}: ${title}`),
    );
  });

  it("registers functions without parameters: of others Mocha and Jest think that they take a callback", () => {
    for (const run of registered().values()) expect(run).toHaveLength(0);
  });

  it("creates nothing before a test runs", () => {
    const never = () => {
      throw new Error("too early");
    };
    expect(registered({ create: never }).size).toBe(storeRequirements.length);
  });

  it("what holds passes, and what is broken rejects with the guarantees that are lost", async () => {
    await registered().get(MISSING.get)?.();
    const broken = brokenStores.find(({ name }) => name === "gives null for what is not there");
    const tests = registered({ create: broken!.create });
    await expect(tests.get(MISSING.get)?.()).rejects.toThrow(StoreRequirementError);
    await expect(tests.get(MISSING.get)?.()).rejects.toThrow(
      "separation: No user gets another user's session.",
    );
  });

  it("what cannot be checked skips itself, with the reason", async () => {
    const skipped: string[] = [];
    await registered().get(NEEDS_ANOTHER)?.({ skip: (why) => skipped.push(why) });
    expect(skipped).toEqual(["not checked: create() returned no another()"]);
  });

  it("where the runner has no way to skip, it does not pass either, and says what to do", async () => {
    for (const context of [undefined, {}])
      await expect(registered().get(NEEDS_ANOTHER)?.(context)).rejects.toThrow(
        'without: ["another"]',
      );
  });

  it("`without` leaves out what takes the powers that it names, and nothing else", () => {
    const tests = registered({ without: ["another", "outage", "getMany", "ends", "lossyIndex"] });
    const left = storeRequirements.filter(({ needs }) => needs === undefined || needs === "bytes");
    expect([...tests.keys()]).toEqual(
      left.map(({ method, title }) => `map store, ${method}: ${title}`),
    );
  });

  it("garbage fails every test with what is missing", async () => {
    const tests = registered({
      create: () => ({ ...create(), store: { name: "half" } }) as unknown as StoreUnderTest,
    });
    await expect(tests.get(MISSING.get)?.()).rejects.toThrow(
      "it has no get, insert, replace, touch, delete, listBySubject and listBySid",
    );
  });
});

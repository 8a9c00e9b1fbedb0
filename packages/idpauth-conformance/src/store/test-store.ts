import { checkRequirement } from "./check-requirement.js";
import type { StoreNeed } from "./guarantees.js";
import { storeRequirements } from "./requirements/index.js";
import type { StoreFactory } from "./store-under-test.js";

/** The context that a runner passes to a running test. vitest and node:test both have `skip`. */
export interface TestContext {
  /** Marks the running test as skipped. Jest has no such function. */
  skip?(why: string): unknown;
}

/** Registers a test: `it` of vitest, `test` of node:test or Jest, … */
export type RegisterTest = (name: string, run: (context?: TestContext) => Promise<void>) => unknown;

/** Options of `testStore`. */
export interface StoreTestOptions {
  /** The store's name in the names of the tests. */
  readonly name: string;
  /** Called for each test. The result is closed after the test. */
  readonly create: StoreFactory;
  /** Registers a test with any runner. */
  readonly test: RegisterTest;
  /**
   * The features that the store under test lacks. Requirements that need them get no test. You need
   * this only for a runner whose running tests cannot skip themselves, such as Jest.
   */
  readonly without?: readonly StoreNeed[];
}

/**
 * Registers one test for each requirement, each on a store of its own. A requirement that needs a
 * feature which the store under test lacks is skipped with the reason.
 */
export function testStore({ name, create, test, without = [] }: StoreTestOptions): void {
  for (const requirement of storeRequirements) {
    const { method, title, needs } = requirement;
    if (needs !== undefined && without.includes(needs)) continue;
    // The default keeps the function's length 0. Mocha and Jest pass a callback to a longer
    // function.
    test(`${name} store, ${method}: ${title}`, async (context = {}) => {
      const { error, notChecked } = await checkRequirement(name, requirement, create);
      if (error !== undefined) throw error;
      if (notChecked === undefined) return;
      if (context.skip === undefined) {
        throw new Error(
          `Not checked: ${notChecked}. This test runner cannot skip a running test, so testStore() has to know: without: ["${String(needs)}"].`,
        );
      }
      context.skip(`not checked: ${notChecked}`);
    });
  }
}

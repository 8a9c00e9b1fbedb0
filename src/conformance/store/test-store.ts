import { checkRequirement } from "./check-requirement.js";
import type { StoreNeed } from "./guarantees.js";
import { storeRequirements } from "./requirements/index.js";
import type { StoreFactory } from "./store-under-test.js";

/** What the runner hands to a running test, as far as it is used: vitest and node:test both have `skip`. */
export interface TestContext {
  skip?(why: string): unknown;
}

/** Any test runner's way to register a test: `it` of vitest, `test` of node:test or Jest, … */
export type RegisterTest = (name: string, run: (context?: TestContext) => Promise<void>) => unknown;

export interface StoreTestOptions {
  /** For the names of the tests. */
  readonly name: string;
  /** Called for each test; what it gives is closed after it. */
  readonly create: StoreFactory;
  readonly test: RegisterTest;
  /**
   * What the store under test is known to lack; no test is registered for what takes it. Needed only with a runner whose
   * running tests cannot skip themselves, such as Jest: what was not checked must not show as passed there.
   */
  readonly without?: readonly StoreNeed[];
}

/**
 * Holds a store to the port: one test per requirement, each on a store of its own. A requirement that takes what the store
 * under test lacks is skipped, with the reason; it never passes.
 */
export function testStore({ name, create, test, without = [] }: StoreTestOptions): void {
  for (const requirement of storeRequirements) {
    const { method, title, needs } = requirement;
    if (needs !== undefined && without.includes(needs)) continue;
    // The default keeps the function's length 0: of a longer one some runners think that it takes a callback.
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

import type { RegisterTest } from "../store/test-store.js";
import type { AdapterUnderTest } from "./adapter-under-test.js";
import { requirementsIn, type AdapterScope } from "./check-adapter.js";
import { checkAdapterRequirement } from "./check-requirement.js";

export interface AdapterTestOptions extends AdapterUnderTest, AdapterScope {
  /** Registers a test with any runner: `it` of vitest, `test` of node:test, … */
  readonly test: RegisterTest;
}

/**
 * Registers one test for each requirement in scope. Each test starts an application and a provider
 * of its own, on real sockets. A requirement whose feature the adapter lacks gets no test.
 */
export function testAdapter({ test, session = "bundled", ...adapter }: AdapterTestOptions): void {
  for (const requirement of requirementsIn({ session })) {
    if (requirement.needs !== undefined && adapter.lacks?.includes(requirement.needs) === true)
      continue;
    test(`${adapter.name}, ${session} sessions, ${requirement.area}: ${requirement.title}`, async () => {
      const { error } = await checkAdapterRequirement(adapter, session, requirement);
      if (error !== undefined) throw error;
    });
  }
}

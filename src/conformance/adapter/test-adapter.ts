import type { RegisterTest } from "../store/test-store.js";
import { checkAdapterRequirement } from "./check-requirement.js";
import type { AdapterUnderTest } from "./adapter-under-test.js";
import { adapterRequirements } from "./requirements/index.js";

export interface AdapterTestOptions extends AdapterUnderTest {
  /** Registers a test with any runner: `it` of vitest, `test` of node:test, … */
  readonly test: RegisterTest;
  /** Which sessions the host is tested with. Default `bundled`. */
  readonly session?: "bundled" | "host";
}

/**
 * Holds a host to the whole behaviour that a visitor can see: one test per requirement, each on an application and a provider
 * of its own, over real sockets. No test is registered for what the host says it lacks.
 */
export function testAdapter({ test, session = "bundled", ...host }: AdapterTestOptions): void {
  for (const requirement of adapterRequirements) {
    if ((requirement.session ?? session) !== session) continue;
    if (requirement.needs !== undefined && host.lacks?.includes(requirement.needs) === true) continue;
    test(`${host.name}, ${session} sessions, ${requirement.area}: ${requirement.title}`, async () => {
      const { error } = await checkAdapterRequirement(host, session, requirement);
      if (error !== undefined) throw error;
    });
  }
}

import type { RegisterTest } from "../store/test-store.js";
import { checkHostObligation } from "./check-requirement.js";
import type { HostUnderTest } from "./adapter-under-test.js";
import { hostObligations } from "./requirements/index.js";

export interface HostTestOptions extends HostUnderTest {
  /** Registers a test with any runner: `it` of vitest, `test` of node:test, … */
  readonly test: RegisterTest;
  /** Which sessions the host is tested with. Default `bundled`. */
  readonly session?: "bundled" | "host";
}

/**
 * Holds a host to the whole behaviour that a visitor can see: one test per obligation, each on an application and a provider
 * of its own, over real sockets. No test is registered for what the host says it lacks.
 */
export function testHost({ test, session = "bundled", ...host }: HostTestOptions): void {
  for (const obligation of hostObligations) {
    if ((obligation.session ?? session) !== session) continue;
    if (obligation.needs !== undefined && host.lacks?.includes(obligation.needs) === true) continue;
    test(`${host.name}, ${session} sessions, ${obligation.area}: ${obligation.promise}`, async () => {
      const { error } = await checkHostObligation(host, session, obligation);
      if (error !== undefined) throw error;
    });
  }
}

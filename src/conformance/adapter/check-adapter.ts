import { checkHostObligation, type HostResult } from "./check-requirement.js";
import type { HostUnderTest } from "./adapter-under-test.js";
import { hostObligations } from "./requirements/index.js";

export interface HostCheckOptions extends HostUnderTest {
  /** Default `bundled`. */
  readonly session?: "bundled" | "host";
  /** Called with each result as it comes. */
  readonly report?: (result: HostResult) => void;
}

export interface HostReport {
  readonly name: string;
  readonly session: "bundled" | "host";
  /** One for each obligation that is owed with these sessions, in the order of the table. */
  readonly results: readonly HostResult[];
}

/** Holds a host to everything it owes, without any test runner. A broken obligation does not reject; it is in the report. */
export async function checkHost({ session = "bundled", report, ...host }: HostCheckOptions): Promise<HostReport> {
  const results: HostResult[] = [];
  for (const obligation of hostObligations) {
    if ((obligation.session ?? session) !== session) continue;
    const result = await checkHostObligation(host, session, obligation);
    results.push(result);
    report?.(result);
  }
  return { name: host.name, session, results };
}

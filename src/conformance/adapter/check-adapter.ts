import { checkAdapterRequirement, type AdapterResult } from "./check-requirement.js";
import type { AdapterUnderTest } from "./adapter-under-test.js";
import { adapterRequirements } from "./requirements/index.js";

export interface AdapterCheckOptions extends AdapterUnderTest {
  /** Default `bundled`. */
  readonly session?: "bundled" | "host";
  /** Called with each result as it comes. */
  readonly report?: (result: AdapterResult) => void;
}

export interface AdapterReport {
  readonly name: string;
  readonly session: "bundled" | "host";
  /** One for each requirement that is owed with these sessions, in the order of the table. */
  readonly results: readonly AdapterResult[];
}

/** Holds a host to everything it owes, without any test runner. A broken requirement does not reject; it is in the report. */
export async function checkAdapter({ session = "bundled", report, ...host }: AdapterCheckOptions): Promise<AdapterReport> {
  const results: AdapterResult[] = [];
  for (const requirement of adapterRequirements) {
    if ((requirement.session ?? session) !== session) continue;
    const result = await checkAdapterRequirement(host, session, requirement);
    results.push(result);
    report?.(result);
  }
  return { name: host.name, session, results };
}

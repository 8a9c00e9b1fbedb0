import type { AdapterUnderTest } from "./adapter-under-test.js";
import { checkAdapterRequirement, type AdapterResult } from "./check-requirement.js";
import { adapterRequirements } from "./requirements/index.js";
import type { AdapterRequirement } from "./requirements/requirement.js";

/** Which requirements an adapter is checked against. */
export interface AdapterScope {
  /** The kind of sessions that the application uses. Default `bundled`. */
  readonly session?: "bundled" | "host";
}

export interface AdapterCheckOptions extends AdapterUnderTest, AdapterScope {
  /** Called with each result, as soon as it is known. */
  readonly report?: (result: AdapterResult) => void;
}

/** The results of `checkAdapter`. */
export interface AdapterReport {
  /** As the adapter's author gave it. */
  readonly name: string;
  /** The kind of sessions that the application used. */
  readonly session: "bundled" | "host";
  /** One result for each requirement in scope, in the order of {@link adapterRequirements}. */
  readonly results: readonly AdapterResult[];
}

/** Returns the requirements in scope, in the order of {@link adapterRequirements}. */
export function requirementsIn({
  session = "bundled",
}: AdapterScope): readonly AdapterRequirement[] {
  return adapterRequirements.filter((requirement) => (requirement.session ?? session) === session);
}

/**
 * Checks an adapter without a test runner and returns the results. A broken requirement does not
 * reject; the report names it.
 */
export async function checkAdapter({
  session = "bundled",
  report,
  ...adapter
}: AdapterCheckOptions): Promise<AdapterReport> {
  const results: AdapterResult[] = [];
  for (const requirement of requirementsIn({ session })) {
    const result = await checkAdapterRequirement(adapter, session, requirement);
    results.push(result);
    report?.(result);
  }
  return { name: adapter.name, session, results };
}

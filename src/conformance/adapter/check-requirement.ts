import { ADAPTER_FEATURES, type AdapterUnderTest } from "./adapter-under-test.js";
import type { AdapterRequirement } from "./requirements/requirement.js";
import { Stage } from "./stage.js";

/** A host breaks an requirement. `cause` is what was seen. */
export class AdapterRequirementError extends Error {
  override readonly name = "AdapterRequirementError";
  readonly area: string;
  readonly promise: string;

  constructor(name: string, { area, promise }: AdapterRequirement, cause: unknown) {
    super(`${name} breaks an requirement. ${area}: ${promise}.\nSeen: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.area = area;
    this.promise = promise;
  }
}

/** What became of one requirement. */
export interface AdapterResult {
  readonly area: string;
  readonly promise: string;
  /** True only when it was checked and holds. */
  readonly passed: boolean;
  /** Why it was not checked. */
  readonly notChecked?: string;
  /** Why it does not hold. */
  readonly error?: AdapterRequirementError;
}

/** Holds an application of its own to one requirement. */
export async function checkAdapterRequirement(
  host: AdapterUnderTest,
  session: "bundled" | "host",
  requirement: AdapterRequirement,
): Promise<AdapterResult> {
  const { area, promise, needs } = requirement;
  const stage = new Stage(host, session);
  if (needs !== undefined && !stage.has(needs)) return { area, promise, passed: false, notChecked: ADAPTER_FEATURES[needs] };
  try {
    try {
      await requirement.check(stage);
    } finally {
      await stage.stop();
    }
    return { area, promise, passed: true };
  } catch (error) {
    return { area, promise, passed: false, error: new AdapterRequirementError(host.name, requirement, error) };
  }
}

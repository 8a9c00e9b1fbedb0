import { ADAPTER_FEATURES, type AdapterUnderTest } from "./adapter-under-test.js";
import type { AdapterRequirement } from "./requirements/requirement.js";
import { ApplicationStarter } from "./application-starter.js";

/** A host breaks a requirement. `cause` is what was seen. */
export class AdapterRequirementError extends Error {
  override readonly name = "AdapterRequirementError";
  readonly area: string;
  readonly title: string;

  constructor(name: string, { area, title }: AdapterRequirement, cause: unknown) {
    super(`${name} breaks a requirement. ${area}: ${title}.\nSeen: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.area = area;
    this.title = title;
  }
}

/** What became of one requirement. */
export interface AdapterResult {
  readonly area: string;
  readonly title: string;
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
  const { area, title, needs } = requirement;
  const starter = new ApplicationStarter(host, session);
  if (needs !== undefined && !starter.has(needs)) return { area, title, passed: false, notChecked: ADAPTER_FEATURES[needs] };
  try {
    try {
      await requirement.check(starter);
    } finally {
      await starter.stop();
    }
    return { area, title, passed: true };
  } catch (error) {
    return { area, title, passed: false, error: new AdapterRequirementError(host.name, requirement, error) };
  }
}

import { ADAPTER_FEATURES, type AdapterUnderTest } from "./adapter-under-test.js";
import { ApplicationStarter } from "./application-starter.js";
import type { AdapterRequirement } from "./requirements/requirement.js";

/** An adapter breaks a requirement. `cause` is the failed check. */
export class AdapterRequirementError extends Error {
  /** Minifiers don't change it. */
  override readonly name = "AdapterRequirementError";
  /** The subject of the requirement: `login`, `guard`, … */
  readonly area: string;
  /** The broken rule, unique within its area. */
  readonly title: string;

  constructor(name: string, { area, title }: AdapterRequirement, cause: unknown) {
    super(
      `${name} breaks a requirement. ${area}: ${title}.\nSeen: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
    this.area = area;
    this.title = title;
  }
}

/** The result of one requirement. */
export interface AdapterResult {
  /** The subject of the requirement: `login`, `guard`, … */
  readonly area: string;
  /** The rule, unique within its area. */
  readonly title: string;
  /** True if it was checked and the adapter meets it. */
  readonly passed: boolean;
  /** The reason that it was not checked. */
  readonly notChecked?: string;
  /** The error of an adapter that breaks it. */
  readonly error?: AdapterRequirementError;
}

/** Checks one requirement on an application of its own. */
export async function checkAdapterRequirement(
  adapter: AdapterUnderTest,
  session: "bundled" | "host",
  requirement: AdapterRequirement,
): Promise<AdapterResult> {
  const { area, title, needs } = requirement;
  const starter = new ApplicationStarter(adapter, session);
  if (needs !== undefined && !starter.has(needs))
    return { area, title, passed: false, notChecked: ADAPTER_FEATURES[needs] };
  try {
    try {
      await requirement.check(starter);
    } finally {
      await starter.stop();
    }
    return { area, title, passed: true };
  } catch (error) {
    return {
      area,
      title,
      passed: false,
      error: new AdapterRequirementError(adapter.name, requirement, error),
    };
  }
}

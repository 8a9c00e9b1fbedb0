import { HOST_FEATURES, type HostUnderTest } from "./adapter-under-test.js";
import type { HostObligation } from "./requirements/requirement.js";
import { Stage } from "./stage.js";

/** A host breaks an obligation. `cause` is what was seen. */
export class HostObligationError extends Error {
  override readonly name = "HostObligationError";
  readonly area: string;
  readonly promise: string;

  constructor(name: string, { area, promise }: HostObligation, cause: unknown) {
    super(`${name} breaks an obligation. ${area}: ${promise}.\nSeen: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.area = area;
    this.promise = promise;
  }
}

/** What became of one obligation. */
export interface HostResult {
  readonly area: string;
  readonly promise: string;
  /** True only when it was checked and holds. */
  readonly passed: boolean;
  /** Why it was not checked. */
  readonly notChecked?: string;
  /** Why it does not hold. */
  readonly error?: HostObligationError;
}

/** Holds an application of its own to one obligation. */
export async function checkHostObligation(
  host: HostUnderTest,
  session: "bundled" | "host",
  obligation: HostObligation,
): Promise<HostResult> {
  const { area, promise, needs } = obligation;
  const stage = new Stage(host, session);
  if (needs !== undefined && !stage.has(needs)) return { area, promise, passed: false, notChecked: HOST_FEATURES[needs] };
  try {
    try {
      await obligation.check(stage);
    } finally {
      await stage.stop();
    }
    return { area, promise, passed: true };
  } catch (error) {
    return { area, promise, passed: false, error: new HostObligationError(host.name, obligation, error) };
  }
}

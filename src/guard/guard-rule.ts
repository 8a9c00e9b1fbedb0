import type { EpochSeconds } from "../clock.js";
import type { GuardRule } from "../config/rule-options.js";
import type { IdInfo } from "../record/identity.js";
import type { StepUp } from "../record/record.js";

/** The keys of the providers that the rule allows; undefined: all. */
export function providersOf({ provider }: GuardRule): readonly string[] | undefined {
  return typeof provider === "string" ? [provider] : provider;
}

/** The requirement on the authentication; undefined if the rule has none. */
export function stepUpOf({ maxAge, acr }: GuardRule): StepUp | undefined {
  if (maxAge === undefined && acr === undefined) return undefined;
  return {
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(acr !== undefined && { acr: typeof acr === "string" ? [acr] : [...acr] }),
  };
}

/**
 * Whether the claims show an authentication that is recent and strong enough. A claim that is
 * missing shows nothing.
 *
 * @param tolerance seconds by which the provider's clock may differ
 */
export function meetsStepUp(
  claims: IdInfo | undefined,
  { max_age: maxAge, acr }: StepUp,
  now: EpochSeconds,
  tolerance: number,
): boolean {
  const authTime = claims?.["auth_time"];
  if (maxAge !== undefined) {
    const isTime =
      typeof authTime === "number" && Number.isFinite(authTime) && authTime <= now + tolerance;
    // Written so that a `maxAge` that is NaN lets nobody pass.
    if (!isTime || !(now - authTime <= maxAge + tolerance)) return false;
  }
  if (acr === undefined) return true;
  // Entra ID reports its authentication contexts in `acrs`.
  const { acr: reached, acrs } = claims ?? {};
  return acr.some((wanted) => reached === wanted || (Array.isArray(acrs) && acrs.includes(wanted)));
}

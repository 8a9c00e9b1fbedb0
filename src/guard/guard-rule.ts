import type { EpochSeconds } from "../clock.js";
import type { IdInfo } from "../record/identity.js";
import type { StepUp } from "../record/record.js";
import type { Session } from "../record/session-view.js";

/** What a guarded route requires besides a signed-in user. */
export interface GuardRule<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /**
   * Only `true` lets the user pass; anything else is 403. An error goes to the framework's error
   * handling.
   */
  allow?(session: Session<OwnClaims, Data>): boolean | Promise<boolean>;
  /**
   * The most seconds since the user authenticated at the provider (`auth_time`); at least 30. An
   * older authentication is repeated.
   */
  readonly maxAge?: number;
  /**
   * The authentication context class that the route requires (`acr`), or a list of which one is
   * required.
   */
  readonly acr?: string | readonly string[];
  /**
   * The key of the provider that the user must have signed in at, or a list of which one is
   * required. Others are sent to a login at the first. Only with several providers.
   */
  readonly provider?: string | readonly string[];
}

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

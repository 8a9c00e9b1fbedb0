/** The authentication that a route can require of a user beyond the sign-in. Pure. */
import type { EpochSeconds } from "../clock.js";
import type { IdInfo } from "./identity.js";

/** A requirement on the authentication of a user. At least one member is present. */
export interface StepUp {
  /** Seconds since the authentication (`auth_time`). */
  readonly max_age?: number;
  /** The authentication context classes (`acr`) of which one is required. */
  readonly acr?: readonly string[];
}

/** One member of a {@link StepUp}. */
interface StepUpPart<Value> {
  /** Whether the claims show it. A claim that is missing shows nothing. */
  isShown(required: Value, claims: IdInfo, at: CheckedAt): boolean;
  /** The parameter with which a login requests it (OpenID Connect Core section 3.1.2.1). */
  readonly parameter: string;
  /** The parameter's value. */
  text(required: Value): string;
}

/** The time of a check, and the seconds by which the provider's clock may differ. */
export interface CheckedAt {
  readonly now: EpochSeconds;
  readonly tolerance: number;
}

const PARTS: { readonly [Name in keyof Required<StepUp>]: StepUpPart<Required<StepUp>[Name]> } = {
  max_age: {
    isShown(maxAge, { auth_time: authTime }, { now, tolerance }) {
      const isTime =
        typeof authTime === "number" && Number.isFinite(authTime) && authTime <= now + tolerance;
      // Written so that a `maxAge` that is NaN lets nobody pass.
      return isTime && now - authTime <= maxAge + tolerance;
    },
    parameter: "max_age",
    text: String,
  },
  acr: {
    // Entra ID reports its authentication contexts in `acrs`.
    isShown: (acr, { acr: reached, acrs }) =>
      acr.some((wanted) => reached === wanted || (Array.isArray(acrs) && acrs.includes(wanted))),
    parameter: "acr_values",
    text: (acr) => acr.join(" "),
  },
};

function partsOf(stepUp: StepUp): (readonly [part: StepUpPart<never>, required: never])[] {
  return (Object.keys(PARTS) as (keyof StepUp)[]).flatMap((name) =>
    stepUp[name] === undefined ? [] : [[PARTS[name], stepUp[name] as never] as const],
  );
}

/** Whether the claims show an authentication that is recent and strong enough. */
export function meetsStepUp(claims: IdInfo | undefined, stepUp: StepUp, at: CheckedAt): boolean {
  return partsOf(stepUp).every(([part, required]) => part.isShown(required, claims ?? {}, at));
}

/** The parameters of a login that requests the authentication. */
export function stepUpParameters(stepUp: StepUp): Readonly<Record<string, string>> {
  return Object.fromEntries(
    partsOf(stepUp).map(([{ parameter, text }, required]) => [parameter, text(required)]),
  );
}

/** One value of `acr_values`, which are separated by spaces. */
const ACR = /^[\x21-\x7e]{1,200}$/;
export const MAX_ACRS = 10;

/** Whether a value is a list of authentication context classes that a login can request. */
export function isAcrList(value: unknown): boolean {
  const isAcr = (item: unknown) => typeof item === "string" && ACR.test(item);
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_ACRS && value.every(isAcr);
}

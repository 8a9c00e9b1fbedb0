/** What a route, a proxy or a path of an API may require, and which values that can have. */
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

/**
 * The least `maxAge` in seconds. A shorter one would be over before the user comes back from the
 * provider.
 */
const LEAST_MAX_AGE = 30;

/** One value of `acr_values`, which are separated by spaces. */
const ACR = /^[\x21-\x7e]{1,200}$/;
export const MAX_ACRS = 10;

/** Whether a value is a list of authentication context classes that a login can request. */
export function isAcrList(value: unknown): boolean {
  const isAcr = (item: unknown) => typeof item === "string" && ACR.test(item);
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_ACRS && value.every(isAcr);
}

/** Whether the keys are those of providers is known at the start. */
function isProviderList(value: unknown): boolean {
  const isKey = (key: unknown) => typeof key === "string" && key !== "";
  return Array.isArray(value) && value.length > 0 && value.every(isKey);
}

const listed = (value: unknown) => (typeof value === "string" ? [value] : value);

/** Whether a value is allowed, and which ones are. */
export type ValueCheck = readonly [is: (value: unknown) => boolean, allowed: string];

/**
 * The requirements of a rule. One that is undefined by mistake, such as a missing setting, would
 * open the route to every signed-in user.
 */
export const REQUIREMENTS: { readonly [Name in keyof Required<GuardRule>]: ValueCheck } = {
  allow: [(value) => typeof value === "function", "a function"],
  maxAge: [
    (value) => Number.isSafeInteger(value) && (value as number) >= LEAST_MAX_AGE,
    `a whole number of seconds, at least ${String(LEAST_MAX_AGE)}`,
  ],
  acr: [
    (value) => isAcrList(listed(value)),
    `a string without spaces, or a list of 1 to ${String(MAX_ACRS)} such strings`,
  ],
  provider: [(value) => isProviderList(listed(value)), "the key of a provider, or a list of keys"],
};

/** Returns the check of the requirement with this name; undefined: there is none. */
export function requirementNamed(name: string): ValueCheck | undefined {
  return Object.hasOwn(REQUIREMENTS, name)
    ? REQUIREMENTS[name as keyof typeof REQUIREMENTS]
    : undefined;
}

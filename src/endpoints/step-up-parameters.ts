import { isAcr, MAX_ACRS } from "../http/guard-usage.js";
import { single } from "../http/request-and-replies.js";
import type { StepUp } from "../record/record.js";
import type { BadParameter } from "./parameters.js";

/** Digits of `max_age`: at most some thirty years in seconds. */
const MAX_AGE = /^\d{1,9}$/;

/**
 * Reads `max_age` and `acr_values` of a login, by which a guard has the user authenticate again. Anyone can change them in the address:
 * the guard checks the authentication itself, so a weaker one does not pass.
 */
export function stepUpParameters(query: URLSearchParams): { readonly stepUp: StepUp | undefined; readonly bad: readonly BadParameter[] } {
  const maxAge = single(query, "max_age");
  const acr = single(query, "acr_values");
  const bad: BadParameter[] = [];
  if (maxAge.repeated || (maxAge.value !== undefined && !MAX_AGE.test(maxAge.value))) {
    bad.push({ name: "max_age", options: [], reason: "The parameter max_age is a whole number of seconds, and given only once" });
  }
  const classes = acr.value?.split(" ").filter((value) => value !== "");
  if (acr.repeated || (classes !== undefined && !isListOfAcrs(classes))) {
    bad.push({
      name: "acr_values",
      options: [],
      reason: `The parameter acr_values has 1 to ${String(MAX_ACRS)} values separated by spaces, and is given only once`,
    });
  }
  if (bad.length > 0 || (maxAge.value === undefined && classes === undefined)) return { stepUp: undefined, bad };
  return { stepUp: { ...(maxAge.value !== undefined && { max_age: Number(maxAge.value) }), ...(classes && { acr: classes }) }, bad };
}

function isListOfAcrs(classes: readonly string[]): boolean {
  return classes.length > 0 && classes.length <= MAX_ACRS && classes.every(isAcr);
}

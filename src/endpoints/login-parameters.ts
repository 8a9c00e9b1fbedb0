import { single } from "../http/request-and-replies.js";
import type { BadParameter } from "./parameters.js";

/** The most characters of a value that a login passes on. */
const MAX_LENGTH = 512;

/** The values that a login passes on. Completes "takes …". */
export const PASSABLE = `one value of at most ${String(MAX_LENGTH)} characters, without control characters`;

/** Whether a login passes a value on. */
export function isPassable(value: string): boolean {
  return value.length <= MAX_LENGTH && !/\p{Cc}/u.test(value);
}

/**
 * Reads the parameters that a login passes on to the provider. An empty value counts as absent (RFC 6749 section 3.1).
 *
 * @param names IDP_LOGIN_PARAMS
 */
export function passedParameters(
  query: URLSearchParams,
  names: readonly string[],
): { readonly passed: Readonly<Record<string, string>>; readonly bad: readonly BadParameter[] } {
  const passed: [name: string, value: string][] = [];
  const bad: BadParameter[] = [];
  for (const name of names) {
    const { value = "", repeated } = single(query, name);
    if (repeated || !isPassable(value)) bad.push({ name, options: [], reason: `The parameter ${name} takes ${PASSABLE}` });
    else if (value !== "") passed.push([name, value]);
  }
  // Not by assignment: the name may be `__proto__`.
  return { passed: Object.fromEntries(passed), bad };
}

/** What an API demands of the user besides a token. Pure. */
import { valuesOf, type HeaderLines } from "./request-headers.js";

/**
 * A challenge that another sign-in meets, but no refresh (RFC 9470 section 3, RFC 6750
 * section 3.1).
 */
export interface Challenge {
  readonly status: 401 | 403;
  readonly error: "insufficient_user_authentication" | "insufficient_scope";
  /** `acr_values`, `max_age` and `scope`, as far as the API sent valid ones. */
  readonly parameters: Readonly<Record<string, string>>;
}

const PARAMETERS: Readonly<Record<string, RegExp>> = {
  acr_values: /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/,
  max_age: /^\d{1,9}$/,
  scope: /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
};
const MAX_PARAMETER_LENGTH = 1000;

/**
 * Returns the challenge of a response; undefined if a new token could meet it, or there is none.
 */
export function challengeOf(status: number, lines: HeaderLines): Challenge | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const error = status === 401 ? "insufficient_user_authentication" : "insufficient_scope";
  const text = valuesOf(lines, "www-authenticate").join(", ");
  const given = new Map(
    [...text.matchAll(/\b([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)].map(pair),
  );
  if (given.get("error") !== error) return undefined;
  const valid = Object.entries(PARAMETERS).flatMap(([name, form]) => {
    const value = given.get(name);
    return value !== undefined && value.length <= MAX_PARAMETER_LENGTH && form.test(value)
      ? [[name, value] as const]
      : [];
  });
  return { status, error, parameters: Object.fromEntries(valid) };
}

function pair([, name = "", quoted, token = ""]: RegExpMatchArray): [string, string] {
  return [name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? token];
}

/** The rules of an API for a path. Pure. */
import type { Api } from "../config/api-options.js";
import { coversMethod, type ApiRule } from "../config/api-rules.js";
import { decoded, flat, plain, rawPath } from "./lenient-path.js";

/** A request, as far as rules are about it. */
interface Requested {
  readonly method: string;
  /** As the browser sent it. */
  readonly target: string;
}

/**
 * Returns the rules of the API for a request that `proxiedUrl` accepts. A segment is compared as
 * the most lenient server reads it, so that a rule may concern too much, and never too little.
 */
export function rulesFor(
  { path: prefix = "", rules }: Api,
  { method, target }: Requested,
): readonly ApiRule[] {
  // Without rules, nothing is decoded.
  if (rules.length === 0) return rules;
  const names = namesIn(decoded(flat(rawPath(target).slice(prefix.length))));
  return rules.filter(
    ({ path = "", methods }) =>
      coversMethod(methods, method) && namesIn(path).every((name, at) => name === names[at]),
  );
}

/**
 * Returns the names of the segments of decoded text, without parameters, letter case, and what
 * servers trim. Empty segments don't count, as some servers merge slashes.
 */
function namesIn(path: string): string[] {
  return (
    plain(path)
      .split(/[/\\]/)
      .map((segment) =>
        segment
          // Also the stream of a file in NTFS: `admin::$DATA` is `admin`.
          .replace(/(?:[;?#]|::?\$).*$/s, "")
          .trim()
          .replace(/(?<![\s.])[\s.]+$/, ""),
      )
      .filter((name) => name !== "")
      // Both: `ẞ` is no capital of `ss` before it is `ß`, and `ı` only has the capital of `i`. The
      // small letter of `İ` is `i` to some systems, and an `i` with another dot to others.
      .map((name) => name.toLowerCase().replaceAll("\u0307", "").toUpperCase())
  );
}

/** The path rules of the proxy. Pure: what is checked is the text that is sent. */
import type { Api } from "../config/api-options.js";

/**
 * Why there is no URL: the path is another one's, or it could mean another place to the API than to
 * us.
 */
export type TargetError = "not_found" | "api_path_invalid";

/** Control characters, white space, what isn't ASCII, and the fragment. */
const NEVER = /[^\x21-\x7e]|#/;
/** NUL and the backslash. In a query they are data. */
const NEVER_IN_PATH = /%00|\\|%5c/i;
/**
 * A segment that a server could take for `.` or `..`, however often it was encoded: servers cut
 * path parameters off, and some decode twice.
 */
const DOTS =
  /(?:^|\/|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:$|\/|%(?:25)*(?:2f|5c)|;|%(?:25)*3b)/i;
/** What an API can allow by its `paths`. */
const ALLOWANCES = [
  ["%2F", /%2f/i],
  ["//", /^\/|\/\//],
  [";", /;/],
] as const;

/**
 * Returns the API's URL for a request target of the proxy.
 *
 * @param target as the browser sent it
 */
export function proxiedUrl(api: Api, target: string): URL | TargetError {
  // A target without a leading slash has absolute form, or is the asterisk of OPTIONS.
  if (!target.startsWith("/")) return "api_path_invalid";
  if (api.path === undefined || !target.startsWith(api.path))
    return isRefused(target) ? "api_path_invalid" : "not_found";
  return upstreamUrl(api, target.slice(api.path.length));
}

/**
 * Returns the API's URL for a path below its base.
 *
 * @param rest path and query without a leading slash; appended as it is
 */
export function upstreamUrl({ url: base, paths }: Api, rest: string): URL | "api_path_invalid" {
  const path = pathOf(rest);
  if (isRefused(rest)) return "api_path_invalid";
  if (ALLOWANCES.some(([allowance, form]) => form.test(path) && !paths.includes(allowance)))
    return "api_path_invalid";
  const built = base.href + rest;
  const url = new URL(built);
  // The parser, which changes what is not in normal form, must have changed nothing.
  const isBelow = url.origin === base.origin && url.pathname.startsWith(base.pathname);
  return isBelow && url.href === built ? url : "api_path_invalid";
}

function isRefused(target: string): boolean {
  const path = pathOf(target);
  return NEVER.test(target) || NEVER_IN_PATH.test(path) || DOTS.test(path);
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

/** The URL of an API for a path, if it can mean one place only. Pure: what is checked is what is sent. */
import type { Api } from "../config/api-options.js";
import { quoted } from "../config/describe-value.js";
import { decoded, flat, plain, rawPath } from "./lenient-path.js";

/**
 * Why there is no URL: the path is another one's, or it could mean another place to the API than to
 * us.
 */
export interface TargetRefusal {
  readonly code: "not_found" | "api_path_invalid";
  /** Names the text of the path that is refused. Never any of the query. */
  readonly detail: string;
}

/** Control characters, white space, what isn't ASCII, and the fragment. */
const NEVER = /[^\x21-\x7e]|#/;
/** A backslash, what the URL parser would encode, and a percent sign that encodes nothing. */
const NEVER_IN_PATH = /[\\"<>^`{}]|%(?![0-9a-f]{2})/i;
/** An encoded control character, backslash, or unreserved character (RFC 3986 section 2.3). */
const NEVER_ENCODED = /%(?:[01][0-9a-f]|7f|5[cf]|2[de]|7e|3[0-9]|[46][1-9a-f]|[57][0-9a])/i;
/**
 * What lenient decoders take for ASCII: UTF-8 that is longer than it must be (RFC 3629 section 10),
 * and `%uXXXX`.
 */
const LENIENT = /%(?:(?:c[01]%[89ab]|e0%[89]|f[08c]%8)[0-9a-f]|25u[0-9a-f]{4})/i;
/** An encoded slash in a path parameter: servers that cut parameters off first don't see it. */
const SLASH_IN_PARAMETER = /(?:^|\/)(?:(?!;|%3b)[^/])*(?:;|%3b)[^/]*%2f/i;
/** What an API can allow by its `paths`. */
const ALLOWANCES = [
  ["%2F", /%2f/i],
  ["//", /(?:^|\/|%2f)(?:\/|%2f)/i],
  [";", /;|%3b/i],
] as const;
/** A segment of decoded text that is `.` or `..` to a server that cuts parameters off and trims. */
const DOTS = /(?:^|[/\\])\s*\.{1,2}(?:\s[\s.]*)?(?:$|[/\\;?#])/;

/**
 * Returns the API's URL for a request target of the proxy.
 *
 * @param target as the browser sent it
 */
export function proxiedUrl(api: Api, target: string): URL | TargetRefusal {
  // A target without a leading slash has absolute form, or is the asterisk of OPTIONS.
  if (!target.startsWith("/")) return refused(rawPath(target));
  if (api.path === undefined || !target.startsWith(api.path))
    return { code: "not_found", detail: "The path isn't this API's." };
  return upstreamUrl(api, target.slice(api.path.length));
}

/**
 * Returns the API's URL for a path below its base.
 *
 * @param rest path and query without a leading slash. The path is appended as it is, the query as
 *   browsers write it
 */
export function upstreamUrl({ url: base, paths }: Api, rest: string): URL | TargetRefusal {
  const path = rawPath(rest);
  const flaw = flawIn(path, paths);
  if (flaw !== undefined) return refused(flaw);
  const query = rest.slice(path.length);
  if (NEVER.test(query))
    return {
      code: "api_path_invalid",
      detail: "The query contains a character that must be encoded.",
    };
  const built = base.href + path + (query === "" ? "" : query.replace(/["'<>]/g, encoded));
  const url = new URL(built);
  // The parser, which changes what is not in normal form, must have changed nothing.
  return url.href === built ? url : refused(path);
}

/** Returns the text of a path that is refused; undefined: none. */
function flawIn(path: string, paths: Api["paths"]): string | undefined {
  const raw = NEVER.exec(path) ?? NEVER_IN_PATH.exec(path);
  if (raw !== null) return raw[0];
  const text = flat(path);
  const found = NEVER_ENCODED.exec(text) ?? LENIENT.exec(text) ?? SLASH_IN_PARAMETER.exec(text);
  if (found !== null) return found[0];
  const needed = ALLOWANCES.find(
    ([allowance, form]) => form.test(text) && !paths.includes(allowance),
  );
  return needed?.[0] ?? DOTS.exec(plain(decoded(text)))?.[0];
}

function encoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function refused(text: string): TargetRefusal {
  return {
    code: "api_path_invalid",
    detail: `The path contains ${quoted(text)}, which an API could read in another way than idpauth.`,
  };
}

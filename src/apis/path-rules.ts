/** The path rules of the proxy. Pure: what is checked is the text that is sent. */
import type { Api } from "../config/api-options.js";
import { coversMethod, type ApiRule } from "../config/api-rules.js";
import { quoted } from "../config/describe-value.js";

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
/** Percent signs that were encoded, once or more, before two hexadecimal digits. */
const NESTED = /%(?:25)+(?=[0-9a-f]{2})/gi;
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

/**
 * Returns the path in which each character is encoded once at the most, however often it was. As
 * unreserved characters may not be encoded, only `%25` can stand before two digits.
 */
function flat(path: string): string {
  return path.replace(NESTED, "%");
}

/** Decodes a flat path, as UTF-8. */
function decoded(path: string): string {
  if (!path.includes("%")) return path;
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

/** Text that looks like nothing else. */
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Returns text with what some systems make of it: characters that only look like a slash, a
 * backslash, a dot or a letter become one, in NFKC and in the code pages of Windows, and what isn't
 * seen is dropped.
 */
function plain(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize("NFKC")
    .replace(/[\u2044\u2215\u29f8]/g, "/")
    .replace(/[\u2216\u29f5\u29f9\xa5\u20a9]/g, "\\")
    .replace(/[\x85\ufffd\p{Default_Ignorable_Code_Point}]/gu, "");
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

function encoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function rawPath(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

function refused(text: string): TargetRefusal {
  return {
    code: "api_path_invalid",
    detail: `The path contains ${quoted(text)}, which an API could read in another way than idpauth.`,
  };
}

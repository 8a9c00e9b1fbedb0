/** Which headers of an API's response the browser gets. Pure. */
import type { Api } from "../config/api-options.js";
import { varyByCookie } from "../guard/cache-headers.js";
import { NEVER_RETURNED } from "../http/never-passed-headers.js";
import { publicAddress, publicLinks, type PublicPlace } from "./redirects-and-links.js";
import { append, byName, passed, valuesOf, type HeaderLines } from "./request-headers.js";

/**
 * Headers that the browser gets only if the API's `responseHeaders` lists them. Most are commands
 * that concern the whole origin.
 */
const UNLESS_LISTED =
  /^(?:access-control-.*|timing-allow-origin|www-authenticate|refresh|strict-transport-security|public-key-pins.*|expect-ct|alt-svc|nel|report-to|reporting-endpoints|accept-ch|critical-ch|set-login|idp-signin-status|sec(?:ure)?-session-.*|use-as-dictionary|speculation-rules|attribution-reporting-.*|observe-browsing-topics|shared-storage-write|activate-storage-access|origin-agent-cluster)$/;

/** The statuses with which browsers follow `Location` (the Fetch standard). */
const REDIRECTS = [301, 302, 303, 307, 308];

/** Headers that contain one address. Outside the proxy it would be wrong, and name the API. */
const ADDRESSES = ["Content-Location", "Sourcemap", "X-Sourcemap"];

/** What the headers of a response depend on. */
export interface Answered extends PublicPlace {
  readonly status: number;
  /** The token that was sent. A header that repeats it is dropped. */
  readonly token: string;
}

/** The headers for the browser. */
export interface ReturnedHeaders {
  readonly headers: Record<string, string>;
  /**
   * What the API's `Location` needs a word about: `dropped`, because it leads outside and the
   * response is no redirect; `refused`, because it is one.
   */
  readonly location?: "dropped" | "refused";
}

/** Returns the headers for the browser. */
export function responseHeaders(lines: HeaderLines, api: Api, about: Answered): ReturnedHeaders {
  const headers = passed(lines, api, returnedName);
  for (const [name, value] of headers) if (value.includes(about.token)) headers.delete(name);
  const location = withPublicAddresses(headers, lines, { api, about });
  protect(headers);
  for (const [name, value] of Object.entries(api.responseHeaders))
    if (value !== true) headers.set(capitalized(name), value);
  // At the end: Node decodes a Content-Disposition that follows it, which changes its bytes.
  const length = headers.get("Content-Length");
  if (length !== undefined && headers.has("Content-Disposition")) {
    headers.delete("Content-Length");
    headers.set("Content-Length", length);
  }
  // Faster than `Object.fromEntries`.
  const returned: Record<string, string> = {};
  for (const [name, value] of headers) returned[name] = value;
  return location === undefined ? { headers: returned } : { headers: returned, location };
}

/** Makes the API's addresses the browser's. */
function withPublicAddresses(
  headers: Map<string, string>,
  lines: HeaderLines,
  { api, about }: { readonly api: Api; readonly about: Answered },
): ReturnedHeaders["location"] {
  for (const name of ADDRESSES)
    if (headers.has(name)) replace(headers, name, (value) => publicAddress(value, api, about));
  if (headers.has("Link")) replace(headers, "Link", (value) => publicLinks(value, api, about));
  if (!headers.has("Location")) return undefined;
  const isRedirect = REDIRECTS.includes(about.status);
  const listed = isRedirect ? api.redirects : [];
  // Nobody knows which one of different lines counts.
  const [location = "", ...others] = new Set(valuesOf(lines, "location"));
  const toPublic = () =>
    others.length === 0 ? publicAddress(location, api, { ...about, listed }) : undefined;
  if (replace(headers, "Location", toPublic)) return undefined;
  return isRedirect ? "refused" : "dropped";
}

/** Replaces a header, or drops it if there is no replacement. @returns whether it is still there */
function replace(
  headers: Map<string, string>,
  name: string,
  replacement: (value: string) => string | undefined,
): boolean {
  const before = headers.get(name);
  const after = before === undefined ? undefined : replacement(before);
  if (after !== undefined) headers.set(name, after);
  else headers.delete(name);
  return after !== undefined;
}

const returnedName = byName((name, { responseHeaders: table }) =>
  NEVER_RETURNED.test(name) || (table[name] !== true && UNLESS_LISTED.test(name))
    ? ""
    : capitalized(name),
);

/**
 * The API's content comes from our origin, where its scripts must not run, and it is one user's.
 */
function protect(headers: Map<string, string>): void {
  const isStream = STREAMED.test(headers.get("Content-Type") ?? "");
  headers.set(
    "Cache-Control",
    privateCacheControl(headers.get("Cache-Control")) + (isStream ? ", no-transform" : ""),
  );
  headers.set("Vary", varyByCookie(headers.get("Vary")));
  headers.set("X-Content-Type-Options", "nosniff");
  append(headers, "Content-Security-Policy", "sandbox");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  // The buffer of nginx.
  if (isStream) headers.set("X-Accel-Buffering", "no");
}

/** Types that the browser reads piece by piece. A middleware that compresses would hold them. */
const STREAMED =
  /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl|json-lines|json-seq|stream\+json))\s*(?:;|$)/i;

export function isEventStreamType(type: string | undefined): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(type ?? "");
}

/** A directive of Cache-Control, whose value may be a quoted string (RFC 9111 section 5.2). */
const DIRECTIVE = /[^\s,="]+(?:=(?:"(?:[^"\\]|\\.)*"|[^\s,"]*))?/g;

/** What is left of a list of directives when each of them has become a `1`. */
const LISTED = /^[\s,]*(?:1\s*(?:,[\s,]*|$))*$/;

/** Without what lets a shared cache store the response. */
function privateCacheControl(given: string | undefined): string {
  // With an open quote, for example, nobody knows where a cache sees a directive end.
  if (given === undefined || !LISTED.test(given.replace(DIRECTIVE, "1")))
    return "private, no-store";
  const kept = (given.match(DIRECTIVE) ?? []).filter(
    (directive) => !/^(?:public|s-maxage)(?:=|$)/i.test(directive),
  );
  // A cache that knows `must-understand` ignores a `no-store` beside it (section 5.2.2.3).
  const isConditional = kept.some((directive) => /^must-understand(?:=|$)/i.test(directive));
  const enough = isConditional ? /^private$/i : /^(?:private|no-store)$/i;
  return (kept.some((directive) => enough.test(directive)) ? kept : ["private", ...kept]).join(
    ", ",
  );
}

function capitalized(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

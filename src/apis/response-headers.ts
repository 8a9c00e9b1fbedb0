/** Which headers of an API's response the browser gets. Pure. */
import { varyByCookie } from "../guard/gate.js";
import { NEVER_RETURNED, type Api } from "../config/api-options.js";
import { append, byName, passed, type HeaderLines } from "./request-headers.js";

/**
 * Headers that the browser gets only if the API's `responseHeaders` lists them. Most are commands
 * that concern the whole origin.
 */
const UNLESS_LISTED =
  /^(?:access-control-.*|timing-allow-origin|www-authenticate|refresh|strict-transport-security|alt-svc|nel|report-to|accept-ch|set-login|sec(?:ure)?-session-.*|use-as-dictionary|x-idpauth-login)$/;

/** What the headers of a response depend on. */
export interface Answered {
  /** The API's URL that was requested. */
  readonly url: URL;
  /** The token that was sent. A header that repeats it is dropped. */
  readonly token: string;
  /** The part of the application's paths that the framework doesn't see; see `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
}

/**
 * Returns the headers for the browser; undefined if the API redirects to a place outside its base.
 */
export function responseHeaders(
  lines: HeaderLines,
  api: Api,
  { url, token, pathPrefix }: Answered,
): Record<string, string> | undefined {
  const headers = passed(lines, api, returnedName);
  for (const [name, value] of headers) if (value.includes(token)) headers.delete(name);
  const location = headers.get("Location");
  if (location !== undefined) {
    const inside = insidePath(location, url, api);
    if (inside === undefined) return undefined;
    headers.set("Location", pathPrefix + inside);
  }
  protect(headers);
  for (const [name, value] of Object.entries(api.responseHeaders))
    if (value !== true) headers.set(capitalized(name), value);
  // Faster than `Object.fromEntries`.
  const returned: Record<string, string> = {};
  for (const [name, value] of headers) returned[name] = value;
  return returned;
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
  const isEventStream = isEventStreamType(headers.get("Content-Type"));
  headers.set(
    "Cache-Control",
    privateCacheControl(headers.get("Cache-Control")) + (isEventStream ? ", no-transform" : ""),
  );
  headers.set("Vary", varyByCookie(headers.get("Vary")));
  headers.set("X-Content-Type-Options", "nosniff");
  append(headers, "Content-Security-Policy", "sandbox");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  // The buffer of nginx.
  if (isEventStream) headers.set("X-Accel-Buffering", "no");
}

export function isEventStreamType(type: string | undefined): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(type ?? "");
}

/** A directive of Cache-Control, whose value may be quoted (RFC 9111 section 5.2). */
const DIRECTIVE = /[^\s,="]+(?:=(?:"[^"]*"|[^\s,]*))?/g;

/** Without what lets a shared cache store the response. */
function privateCacheControl(given: string | undefined): string {
  if (given === undefined) return "private, no-store";
  const kept = (given.match(DIRECTIVE) ?? []).filter(
    (directive) => !/^(?:public|s-maxage)(?:=|$)/i.test(directive),
  );
  const isPrivate = kept.some((directive) => /^(?:private|no-store)$/i.test(directive));
  return (isPrivate ? kept : ["private", ...kept]).join(", ");
}

/** The path of the proxy for an address below the API's base; undefined for any other. */
function insidePath(
  location: string,
  url: URL,
  { url: { href: base }, path = "" }: Api,
): string | undefined {
  if (!URL.canParse(location, url.href)) return undefined;
  const { href } = new URL(location, url);
  const inside = path + href.slice(base.length);
  // Two slashes would begin the name of another host.
  return href.startsWith(base) && !inside.startsWith("//") ? inside : undefined;
}

function capitalized(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

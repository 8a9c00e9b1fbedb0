/** Which headers of an API's response the browser gets. Pure. */
import { varyByCookie } from "../guard/gate.js";
import { NEVER_RETURNED, type Api } from "../config/api-options.js";
import { append, connectionNames, type HeaderLines } from "./request-headers.js";

/** Headers that the browser gets only if the API's `responseHeaders` lists them. Most are commands that concern the whole origin. */
const UNLESS_LISTED =
  /^(?:access-control-.*|timing-allow-origin|www-authenticate|refresh|strict-transport-security|alt-svc|nel|report-to|accept-ch|set-login|sec(?:ure)?-session-.*|use-as-dictionary)$/;

/** What the headers of a response depend on. */
export interface Answered {
  /** The API's URL that was requested. */
  readonly url: URL;
  /** The token that was sent. A header that repeats it is dropped. */
  readonly token: string;
  /** The part of the application's paths that the framework doesn't see; see `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
}

/** Returns the headers for the browser; undefined if the API redirects to a place outside its base. */
export function responseHeaders(lines: HeaderLines, api: Api, { url, token, pathPrefix }: Answered): Record<string, string> | undefined {
  const sent = [...lines].map(([name, value]) => [name.toLowerCase(), value] as const);
  const { responseHeaders: table } = api;
  const dropped = connectionNames(sent);
  const headers = new Map<string, string>();
  for (const [name, value] of sent) {
    if (dropped.has(name) || NEVER_RETURNED.test(name) || (table[name] !== true && UNLESS_LISTED.test(name)) || value.includes(token))
      continue;
    append(headers, name, value);
  }
  const location = headers.get("location");
  if (location !== undefined) {
    const inside = insidePath(location, url, api);
    if (inside === undefined) return undefined;
    headers.set("location", pathPrefix + inside);
  }
  protect(headers);
  for (const [name, value] of Object.entries(table)) if (value !== true) headers.set(name, value);
  return Object.fromEntries([...headers].map(([name, value]) => [capitalized(name), value]));
}

/** The API's content comes from our origin, where its scripts must not run, and it is one user's. */
function protect(headers: Map<string, string>): void {
  const isEventStream = isEventStreamType(headers.get("content-type"));
  headers.set("cache-control", privateCacheControl(headers.get("cache-control")) + (isEventStream ? ", no-transform" : ""));
  headers.set("vary", varyByCookie(headers.get("vary")));
  headers.set("x-content-type-options", "nosniff");
  append(headers, "content-security-policy", "sandbox");
  headers.set("cross-origin-resource-policy", "same-origin");
  // The buffer of nginx.
  if (isEventStream) headers.set("x-accel-buffering", "no");
}

export function isEventStreamType(type: string | undefined): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(type ?? "");
}

/** A directive of Cache-Control, whose value may be quoted (RFC 9111 section 5.2). */
const DIRECTIVE = /[^\s,="]+(?:=(?:"[^"]*"|[^\s,]*))?/g;

/** Without what lets a shared cache store the response. */
function privateCacheControl(given: string | undefined): string {
  if (given === undefined) return "private, no-store";
  const kept = (given.match(DIRECTIVE) ?? []).filter((directive) => !/^(?:public|s-maxage)(?:=|$)/i.test(directive));
  const isPrivate = kept.some((directive) => /^(?:private|no-store)$/i.test(directive));
  return (isPrivate ? kept : ["private", ...kept]).join(", ");
}

/** The path of the proxy for an address below the API's base; undefined for any other. */
function insidePath(location: string, url: URL, { url: { href: base }, path = "" }: Api): string | undefined {
  if (!URL.canParse(location, url.href)) return undefined;
  const { href } = new URL(location, url);
  const inside = path + href.slice(base.length);
  // Two slashes would begin the name of another host.
  return href.startsWith(base) && !inside.startsWith("//") ? inside : undefined;
}

function capitalized(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

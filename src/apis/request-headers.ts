/** Which headers of a request an API gets. Pure. */
import type { Api } from "../config/api-options.js";
import { NEVER_FROM_BROWSER, NEVER_SENT } from "../http/never-passed-headers.js";
import type { Origin } from "../http/redirects.js";
import type { AccessToken } from "../record/dpop.js";

/**
 * Header lines as they were sent, in any letter case: name, value, name, value, as `rawHeaders` of
 * Node.js has them.
 */
export type HeaderLines = readonly string[];

/**
 * The headers of the browser that every API gets; docs/reference/proxy.md lists them. It gets others
 * only if its `requestHeaders` lists them: servers trust too many names that a proxy in front of
 * them usually sets. Not `baggage`, which would let a user write into the traces of all services.
 */
const SENT =
  /^(?:(?:accept|content|if)-[a-z\d-]+|sec-websocket-[a-z\d-]+|accept|range|prefer|idempotency-key|user-agent|traceparent|tracestate|last-event-id)$/;

/** What the proxy says about a request. */
export interface Sender {
  readonly token: AccessToken;
  /** The application's own origin, for which the browser sent the request. */
  readonly origin: Origin | undefined;
  /** The browser's IP address, as far as the application trusts it. */
  readonly client: string | undefined;
  /** The part of the application's paths that the framework doesn't see; see `IDP_PATH_PREFIX`. */
  readonly pathPrefix: string;
}

/**
 * Returns the headers for the API, with names in lower case, without those about the connection and
 * the length of the body.
 */
export function requestHeaders(lines: HeaderLines, api: Api, sender: Sender): Map<string, string> {
  const headers = passed(lines, api, sentName);
  // A compressed event stream arrives in bursts.
  if (headers.get("accept")?.toLowerCase().includes("text/event-stream") === true)
    headers.set("accept-encoding", "identity");
  for (const [name, value] of Object.entries(api.requestHeaders))
    if (value !== true) headers.set(name, value);
  forward(headers, api, sender);
  return headers.set("authorization", authorization(sender.token));
}

/** The header of a request with a token (RFC 6750 section 2.1, RFC 9449 section 7.1). */
export function authorization({ value, dpopKey }: AccessToken): string {
  return `${dpopKey === undefined ? "Bearer" : "DPoP"} ${value}`;
}

const sentName = byName((name, { requestHeaders: table }) => {
  const passes = SENT.test(name) || (table[name] === true && !NEVER_FROM_BROWSER.test(name));
  return passes && !NEVER_SENT.test(name) ? name : "";
});

/**
 * How many header names are remembered for each API, and how long one may be: strangers can send
 * any.
 */
const [MAX_NAMES, MAX_NAME_LENGTH] = [500, 100];

/**
 * Remembers what a function decides about a header of an API: the name with which it passes, or the
 * empty string.
 *
 * @param decide gets the name in lower case
 */
export function byName(
  decide: (name: string, api: Api) => string,
): (name: string, api: Api) => string {
  const known = new WeakMap<Api, Map<string, string>>();
  return (name, api) => {
    const names = known.get(api) ?? new Map<string, string>();
    const remembered = names.get(name);
    if (remembered !== undefined) return remembered;
    const decided = decide(name.toLowerCase(), api);
    if (names.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH)
      known.set(api, names.set(name, decided));
    return decided;
  };
}

/**
 * Returns the headers that pass, without those that `Connection` names (RFC 9110 section 7.6.1).
 */
export function passed(
  lines: HeaderLines,
  api: Api,
  nameOf: ReturnType<typeof byName>,
): Map<string, string> {
  const dropped = namedBy(valuesOf(lines, "connection"));
  const headers = new Map<string, string>();
  for (let at = 0; at < lines.length; at += 2) {
    const [name = "", value = ""] = [lines[at], lines[at + 1]];
    const passes = nameOf(name, api);
    if (passes !== "" && (dropped.length === 0 || !dropped.includes(name.toLowerCase())))
      append(headers, passes, value);
  }
  return headers;
}

/** Returns the names that `Connection` has, in lower case. Mostly, they concern no other header. */
function namedBy(connections: readonly string[]): readonly string[] {
  return connections.every((value) => value === "keep-alive" || value === "close")
    ? NONE
    : connections.flatMap((value) => value.split(",").map((name) => name.trim().toLowerCase()));
}

const NONE: readonly string[] = [];

export function append(headers: Map<string, string>, name: string, value: string): void {
  const before = headers.get(name);
  headers.set(name, before === undefined ? value : `${before}, ${value}`);
}

/**
 * Returns the length of a request's body as its headers say: in bytes, `chunked`, or undefined if
 * they say nothing. `invalid`: two servers could find two lengths, and the second one would take a
 * part of the body for the next request.
 */
export function lengthOf(lines: HeaderLines): number | "chunked" | "invalid" | undefined {
  const [length, ...lengths] = valuesOf(lines, "content-length");
  const [coding, ...codings] = valuesOf(lines, "transfer-encoding");
  if (lengths.length + codings.length > 0) return "invalid";
  if (coding !== undefined)
    return coding.toLowerCase() === "chunked" && length === undefined ? "chunked" : "invalid";
  if (length === undefined) return undefined;
  return /^\d{1,15}$/.test(length) ? Number(length) : "invalid";
}

/** Returns the values of a header. @param name in lower case */
export function valuesOf(lines: HeaderLines, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < lines.length; at += 2)
    if (lines[at]?.length === name.length && lines[at]?.toLowerCase() === name)
      values.push(lines[at + 1] ?? "");
  return values;
}

/** Adds the headers of RFC 7239, and of its older form. */
function forward(
  headers: Map<string, string>,
  { path = "" }: Api,
  { origin, client, pathPrefix }: Sender,
): void {
  const address =
    client !== undefined && /^[\da-f.:]+$/i.test(client)
      ? client.replace(/^::ffff:(?=\d+\.)/i, "")
      : undefined;
  let forwarded = `for=${address === undefined ? "unknown" : address.includes(":") ? `"[${address}]"` : address}`;
  if (address !== undefined) headers.set("x-forwarded-for", address);
  if (origin !== undefined) {
    const end = origin.indexOf("://");
    const [proto, host] = [origin.slice(0, end), origin.slice(end + 3)];
    headers.set("x-forwarded-host", host).set("x-forwarded-proto", proto);
    forwarded += `;host="${host}";proto=${proto}`;
  }
  const prefix = (pathPrefix + path).slice(0, -1);
  if (prefix !== "") headers.set("x-forwarded-prefix", prefix);
  headers.set("forwarded", forwarded);
}

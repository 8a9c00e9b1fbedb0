/** Which headers of a request an API gets. Pure. */
import type { Origin } from "../http/redirects.js";
import { alike, NEVER_SENT, type Api } from "../config/api-options.js";

/** Header lines as they were sent, in any letter case. */
export type HeaderLines = Iterable<readonly [name: string, value: string]>;

/** Headers that an API gets only if its `requestHeaders` lists them. */
const UNLESS_LISTED =
  /^(?:origin|referer|sec-fetch-.*|x-http-method.*|x-method-override|x-original-url|x-rewrite-url|x-real-ip|.*client-ip|.*connecting-ip)$/;

/** What the proxy says about a request. */
export interface Sender {
  readonly token: string;
  /** The application's own origin, for which the browser sent the request. */
  readonly origin: Origin | undefined;
  /** The browser's IP address, as far as the application trusts it. */
  readonly client: string | undefined;
}

/** Returns the headers for the API, with names in lower case, without those about the connection and the length of the body. */
export function requestHeaders(lines: HeaderLines, { requestHeaders: table }: Api, sender: Sender): Map<string, string> {
  const sent = [...lines].map(([name, value]) => [name.toLowerCase(), value] as const);
  const ours = Object.entries(table).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const oursAlike = new Set(ours.map(([name]) => alike(name)));
  const dropped = connectionNames(sent);
  const headers = new Map<string, string>();
  for (const [name, value] of sent) {
    const name2 = alike(name);
    if (dropped.has(name) || oursAlike.has(name2) || NEVER_SENT.test(name2)) continue;
    if (table[name] !== true && UNLESS_LISTED.test(name2)) continue;
    append(headers, name, value);
  }
  // A compressed event stream arrives in bursts.
  if (headers.get("accept")?.toLowerCase().includes("text/event-stream") === true) headers.set("accept-encoding", "identity");
  for (const [name, value] of [...ours, ...forwarded(sender)]) headers.set(name, value);
  return headers.set("authorization", `Bearer ${sender.token}`);
}

/** Returns the names that `Connection` lists (RFC 9110 section 7.6.1). @param lines names in lower case */
export function connectionNames(lines: HeaderLines): ReadonlySet<string> {
  const values = [...lines].flatMap(([name, value]) => (name === "connection" ? value.split(",") : []));
  return new Set(values.map((name) => name.trim().toLowerCase()));
}

export function append(headers: Map<string, string>, name: string, value: string): void {
  const before = headers.get(name);
  headers.set(name, before === undefined ? value : `${before}, ${value}`);
}

/**
 * Returns the length of a request's body as its headers say: in bytes, `chunked`, or undefined if they say nothing. `invalid`: two servers
 * could find two lengths, and the second one would take a part of the body for the next request.
 */
export function lengthOf(lines: HeaderLines): number | "chunked" | "invalid" | undefined {
  let length: string | undefined;
  let coding: string | undefined;
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    if (lower === "content-length") length = length === undefined ? value : "repeated";
    else if (lower === "transfer-encoding") coding = coding === undefined ? value.toLowerCase() : "repeated";
  }
  if (coding !== undefined) return coding === "chunked" && length === undefined ? "chunked" : "invalid";
  if (length === undefined) return undefined;
  return /^\d{1,15}$/.test(length) ? Number(length) : "invalid";
}

/** RFC 7239, and the older form of it. */
function forwarded({ origin, client }: Sender): [string, string][] {
  const address = client !== undefined && /^[\da-f.:]+$/i.test(client) ? client.replace(/^::ffff:(?=\d+\.)/i, "") : undefined;
  const node = address === undefined ? "unknown" : address.includes(":") ? `"[${address}]"` : address;
  const headers: [string, string][] = address === undefined ? [] : [["x-forwarded-for", address]];
  if (origin === undefined) return [...headers, ["forwarded", `for=${node}`]];
  const [proto = "", host = ""] = origin.split("://");
  headers.push(["x-forwarded-host", host], ["x-forwarded-proto", proto]);
  return [...headers, ["forwarded", `for=${node};host="${host}";proto=${proto}`]];
}

import assert from "node:assert/strict";
import type { BrowserResponse, CookieBrowser } from "../../../testing/browser/cookie-browser.js";

export const PROBE = "/idpauth/session";
export const ACCEPTS_HTML = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
export const ACCEPTS_JSON = { accept: "application/json" };

/** The test provider's person, as the user payload shows her. */
export const ADA = { email: "ada@example.com", name: "Ada Lovelace", picture: "https://pictures.example.com/ada.png" };
export const SIGNED_IN = { authenticated: true, user: ADA };
export const SIGNED_OUT = { authenticated: false, user: null };

/** Somebody else, as the provider knows her. */
export const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

/** The probe's verdict. */
export async function probe(browser: CookieBrowser, query = ""): Promise<Record<string, unknown>> {
  const answer = await browser.get(PROBE + query);
  assert.equal(answer.status, 200, `the probe answered ${String(answer.status)}: ${answer.text}`);
  return answer.json() as Record<string, unknown>;
}

export function assertRedirect(answer: BrowserResponse, location: string): void {
  assert.deepEqual([answer.status, answer.location, answer.text], [302, location, ""]);
}

/** A problem document (RFC 9457) with this code. */
export function assertProblem(answer: BrowserResponse, status: number, code: string): void {
  assert.deepEqual([answer.status, mediaType(answer)], [status, "application/problem+json"], answer.text);
  const { type, title, status: inBody, code: itsCode, detail } = answer.json() as Record<string, unknown>;
  assert.deepEqual([type, inBody, itsCode], ["about:blank", status, code]);
  assert.ok(typeof title === "string" && typeof detail === "string" && detail.length > 0, answer.text);
}

/** A page with this code in it. */
export function assertPage(answer: BrowserResponse, status: number, ...parts: readonly string[]): void {
  assert.deepEqual([answer.status, mediaType(answer)], [status, "text/html"], answer.text);
  for (const part of parts) assert.ok(answer.text.includes(part), `the page does not say ${part}: ${answer.text}`);
}

/** 503 that says when to come again. */
export function assertRetryAfter(answer: BrowserResponse): void {
  assert.equal(answer.status, 503, answer.text);
  assert.match(String(answer.headers["retry-after"]), /^[1-9]\d*$/);
}

export function mediaType({ headers }: BrowserResponse): string | undefined {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
}

/** The page for a callback that cannot be used. It offers to start again, and sets no cookie. */
export function assertLinkInvalid(answer: BrowserResponse): void {
  assertPage(answer, 400, "This sign-in link is no longer valid", "login_link_invalid", 'href="/idpauth/login/"');
  assert.deepEqual(ownCookies(answer), []);
}

/** The page for a sign-in that the provider, or the check of its answer, refused. */
export function assertRefused(answer: BrowserResponse): void {
  assertPage(answer, 400, "sign_in_refused", 'href="/idpauth/login/"');
  assert.deepEqual(ownCookies(answer), []);
}

/** A URL with other query parameters; undefined takes one away. */
export function withQuery(url: string, changes: Readonly<Record<string, string | undefined>>): string {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return changed.href;
}

/** What a person reads on the page. */
export function readable({ text }: BrowserResponse): string {
  return text
    .replace(/<style[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ");
}

/** What every answer carries, and what pages, JSON and redirects carry beside it. `row`: for the message. */
export function assertHeaders(answer: BrowserResponse, row: string): void {
  const { headers, text } = answer;
  const { "cache-control": caching, "x-content-type-options": sniffing, "referrer-policy": referrer } = headers;
  assert.deepEqual([caching, sniffing, referrer], ["no-store", "nosniff", "no-referrer"], row);
  assert.ok(
    headers.vary?.split(",").some((name) => name.trim().toLowerCase() === "cookie"),
    `${row}: Vary is ${String(headers.vary)}`,
  );
  for (const name of Object.keys(headers)) assert.ok(!name.startsWith("access-control-"), `${row}: ${name}`);
  if (mediaType(answer)?.endsWith("json") === true) assert.equal(headers["cross-origin-resource-policy"], "same-origin", row);
  if (mediaType(answer) === "text/html") {
    const policy = String(headers["content-security-policy"]);
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'"]) assert.ok(policy.includes(rule), `${row}: ${policy}`);
    assert.doesNotMatch(policy, /unsafe-inline|script-src/, row);
    assert.doesNotMatch(text, /<script|<style|\sstyle=|\son\w+=/i, row);
  }
  if (answer.status === 302) assert.equal(text, "", row);
}

/** Of our own, the cookies that an answer sets. A host's own session middleware may set what it likes. */
export function ownCookies({ setCookies }: BrowserResponse): readonly string[] {
  return setCookies.filter((line) => /^(?:__Host-)?idpauth/.test(line));
}

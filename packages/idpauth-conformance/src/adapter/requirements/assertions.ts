import assert from "node:assert/strict";
import type { BrowserResponse, CookieBrowser } from "idpauth/testing";

export const PROBE = "/idpauth/session";
export const ACCEPTS_HTML = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
};
export const ACCEPTS_JSON = { accept: "application/json" };
/** A script that means a login or a logout, and doesn't only fetch a link. */
export const SAYS_SCRIPT = { "x-idpauth": "1" };
/** The link with which a page starts a login that this browser may not have begun. */
const START_AGAIN = /href="\/idpauth\/login\/\?(?:scheme|cross_site)=/;
/** As a browser that does not know `Sec-Fetch-Site`, or a program. */
export const SITE_UNKNOWN: Readonly<Record<string, string | string[]>> = { "sec-fetch-site": [] };

/** The user payload of the test provider's user. */
export const ADA = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};
export const SIGNED_IN = { authenticated: true, user: ADA };
export const SIGNED_OUT = { authenticated: false, user: null };

/** Another user, as the provider's claims. */
export const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

/** Returns the body of the probe. */
export async function probe(browser: CookieBrowser, query = ""): Promise<Record<string, unknown>> {
  const response = await browser.get(PROBE + query);
  assert.equal(
    response.status,
    200,
    `the probe responded with ${String(response.status)}: ${response.text}`,
  );
  return response.json() as Record<string, unknown>;
}

export function assertRedirect(response: BrowserResponse, location: string): void {
  assert.deepEqual([response.status, response.location, response.text], [302, location, ""]);
}

/** Checks for a problem document (RFC 9457) with this code. */
export function assertProblem(response: BrowserResponse, status: number, code: string): void {
  assert.deepEqual(
    [response.status, mediaType(response)],
    [status, "application/problem+json"],
    response.text,
  );
  const {
    type,
    title,
    status: inBody,
    code: itsCode,
    detail,
  } = response.json() as Record<string, unknown>;
  assert.deepEqual([type, inBody, itsCode], ["about:blank", status, code]);
  assert.ok(
    typeof title === "string" && typeof detail === "string" && detail.length > 0,
    response.text,
  );
}

/** Checks for a page that contains these parts. */
export function assertPage(
  response: BrowserResponse,
  status: number,
  ...parts: readonly string[]
): void {
  assert.deepEqual([response.status, mediaType(response)], [status, "text/html"], response.text);
  for (const part of parts)
    assert.ok(response.text.includes(part), `the page does not say ${part}: ${response.text}`);
}

/** Checks for a 503 with Retry-After. */
export function assertRetryAfter(response: BrowserResponse): void {
  assert.equal(response.status, 503, response.text);
  assert.match(String(response.headers["retry-after"]), /^[1-9]\d*$/);
}

export function mediaType({ headers }: BrowserResponse): string | undefined {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
}

/** Checks for the page of an unusable callback, which offers a new login and sets no cookie. */
export function assertLinkInvalid(response: BrowserResponse): void {
  assertPage(response, 400, "This sign-in link is no longer valid", "login_link_invalid");
  assert.match(response.text, START_AGAIN);
  assert.deepEqual(ownCookies(response), []);
}

/** Returns the URL with changed query parameters; undefined removes a parameter. */
export function withQuery(
  url: string,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return changed.href;
}

/**
 * Checks the headers of every response, and those of pages, JSON and redirects. `row` is for the
 * message.
 */
export function assertHeaders(response: BrowserResponse, row: string): void {
  const { headers, text } = response;
  const {
    "cache-control": caching,
    "x-content-type-options": sniffing,
    "referrer-policy": referrer,
  } = headers;
  assert.deepEqual([caching, sniffing, referrer], ["no-store", "nosniff", "no-referrer"], row);
  assert.ok(
    headers.vary?.split(",").some((name) => name.trim().toLowerCase() === "cookie"),
    `${row}: Vary is ${String(headers.vary)}`,
  );
  for (const name of Object.keys(headers))
    assert.ok(!name.startsWith("access-control-"), `${row}: ${name}`);
  if (mediaType(response)?.endsWith("json") === true)
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", row);
  if (mediaType(response) === "text/html") {
    const policy = String(headers["content-security-policy"]);
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(rule), `${row}: ${policy}`);
    assert.doesNotMatch(policy, /unsafe-inline|script-src/, row);
    assert.doesNotMatch(text, /<script|<style|\sstyle=|\son\w+=/i, row);
  }
  if (response.status === 302) assert.equal(text, "", row);
}

/** Returns idpauth's own Set-Cookie lines, without those of a framework's session middleware. */
export function ownCookies({ setCookies }: BrowserResponse): readonly string[] {
  return setCookies.filter((line) => /^(?:__Host-Http-)?idpauth/.test(line));
}

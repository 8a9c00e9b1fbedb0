import assert from "node:assert/strict";
import type { CookieBrowser } from "../../../testing/browser/cookie-browser.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import type { AdapterRequirement } from "./requirement.js";

const OWN = "http://app.example";
const FALLBACK = "/start";
const LOGIN = "/idpauth/login/";

/** Values that are kept, and their spelling in the browser, which is the final Location. */
const KEPT: readonly (readonly [raw: string, href: string])[] = [
  ["http://app.example", "http://app.example/"],
  ["http://app.example/", "http://app.example/"],
  ["http://app.example?x=1", "http://app.example/?x=1"],
  ["http://app.example#top", "http://app.example/#top"],
  ["http://app.example/%2e%2e/x", "http://app.example/x"],
  ["http://app.example//evil.example", "http://app.example//evil.example"],
  ["http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example#c", "http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example#c"],
  ["http://app.example/%zz?q=%C3%A4&q=b+c", "http://app.example/%zz?q=%C3%A4&q=b+c"],
];

/** Values that lead to another origin, at least for one parser. */
const REJECTED: readonly string[] = [
  "",
  "/reports",
  "//app.example/reports",
  "https://app.example/reports",
  "http://app.example:80/reports",
  "http://app.example:8080/",
  "http://app.example:/",
  "http://APP.example/",
  "HTTP://app.example/",
  "http://app.exampl",
  "http://app.example./",
  "http://app.example.evil.example/",
  "http://app.example@evil.example/",
  "http://user:secret@app.example/",
  "http://evil.example/?http://app.example/",
  "http://app.example\\@evil.example/",
  "http://app.example/\\evil.example",
  "http:\\\\app.example/",
  "http:app.example/",
  "http://app.example/a b",
  "http://app.example/\tb",
  "javascript:alert(1)//http://app.example/",
  "http%3A%2F%2Fapp.example%2F",
  `http://app.example/${"x".repeat(2048)}`,
];

/** Values that no header can carry. */
const REJECTED_IN_QUERY: readonly string[] = [
  " http://app.example/",
  "http://app.example/ ",
  "http://app.example/\r\nSet-Cookie: evil=1",
  "http://app.example/\u0000",
  "http://app.example/\u0085",
];

/** Passes the origin to a login by query or header; several values repeat it. Returns the authorization URL. */
type Place = (browser: CookieBrowser, ...raw: readonly string[]) => Promise<string>;

const byQuery: Place = async (browser, ...raw) => {
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP" });
  for (const value of raw) query.append("origin_url", value);
  const response = await browser.get(`${OWN}${LOGIN}?${query.toString()}`);
  assert.equal(response.status, 302, `${JSON.stringify(raw)} was answered with ${String(response.status)}`);
  return response.location ?? "";
};

const byHeader: Place = async (browser, ...raw) => {
  const response = await browser.get(`${OWN}${LOGIN}?scheme=PRESERVE_ORIGIN_HP&response=json`, {
    headers: raw.length === 0 ? {} : { "x-origin-url": [...raw] },
  });
  assert.equal(response.status, 200, `${JSON.stringify(raw)} was answered with ${String(response.status)}`);
  return (response.json() as { redirect_to: string }).redirect_to;
};

async function start(starter: ApplicationStarter): Promise<{ app: StartedApplication; browser: CookieBrowser }> {
  const app = await starter.start({ options: { authFinalRedirectUrl: FALLBACK } });
  return { app, browser: app.browser({ proxied: { [OWN]: app.port } }) };
}

/** Returns the final address of a login that started with this origin. */
async function end(app: StartedApplication, browser: CookieBrowser, place: Place, ...raw: readonly string[]): Promise<string | undefined> {
  const response = await browser.get(await app.provider.signInCode(await place(browser, ...raw)));
  assert.equal(response.status, 302);
  return response.location;
}

async function checkKept(starter: ApplicationStarter, place: Place): Promise<void> {
  const { app, browser } = await start(starter);
  for (const [raw, href] of KEPT) assert.equal(await end(app, browser, place, raw), href);
}

async function checkRejected(starter: ApplicationStarter, place: Place, corpus: readonly string[]): Promise<void> {
  const { app, browser } = await start(starter);
  // An earlier login's page must never be the fallback.
  assert.equal(await end(app, browser, place, `${OWN}/earlier`), `${OWN}/earlier`);
  for (const raw of corpus) assert.equal(await end(app, browser, place, raw), FALLBACK, JSON.stringify(raw));
  assert.equal(await end(app, browser, place), FALLBACK, "missing");
  assert.equal(await end(app, browser, place, `${OWN}/page`, `${OWN}/page`), FALLBACK, "repeated");
}

export const originRequirements: readonly AdapterRequirement[] = [
  {
    area: "origin",
    title: "an origin_url of the application's own origin is where the user ends, in the browser's spelling",
    check: (starter) => checkKept(starter, byQuery),
  },
  {
    area: "origin",
    title: "an X-ORIGIN-URL of the application's own origin is where the user ends, in the browser's spelling",
    check: (starter) => checkKept(starter, byHeader),
  },
  {
    area: "origin",
    title: "an origin_url that is missing, repeated, malformed or of another origin is replaced by the fallback without an error",
    core: true,
    check: (starter) => checkRejected(starter, byQuery, [...REJECTED, ...REJECTED_IN_QUERY]),
  },
  {
    area: "origin",
    title: "an X-ORIGIN-URL that is missing, repeated, malformed or of another origin is replaced by the fallback without an error",
    core: true,
    check: (starter) => checkRejected(starter, byHeader, REJECTED),
  },
];

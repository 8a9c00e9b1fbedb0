import assert from "node:assert/strict";
import type { CookieBrowser } from "idpauth/testing";
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
  [
    "http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example#c",
    "http://app.example/a%2Fb?next=http%3A%2F%2Fevil.example#c",
  ],
  ["http://app.example/%zz?q=%C3%A4&q=b+c", "http://app.example/%zz?q=%C3%A4&q=b+c"],
];

/**
 * Passes the origin to a login by query or header; several values repeat it. Returns the
 * authorization URL.
 */
type Place = (browser: CookieBrowser, ...raw: readonly string[]) => Promise<string>;

const byQuery: Place = async (browser, ...raw) => {
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP" });
  for (const value of raw) query.append("origin_url", value);
  const response = await browser.get(`${OWN}${LOGIN}?${query.toString()}`);
  assert.equal(
    response.status,
    302,
    `${JSON.stringify(raw)} was answered with ${String(response.status)}`,
  );
  return response.location ?? "";
};

const byHeader: Place = async (browser, ...raw) => {
  const response = await browser.get(`${OWN}${LOGIN}?scheme=PRESERVE_ORIGIN_HP&response=json`, {
    headers: raw.length === 0 ? {} : { "x-origin-url": [...raw] },
  });
  assert.equal(
    response.status,
    200,
    `${JSON.stringify(raw)} was answered with ${String(response.status)}`,
  );
  return (response.json() as { redirect_to: string }).redirect_to;
};

async function start(
  starter: ApplicationStarter,
): Promise<{ app: StartedApplication; browser: CookieBrowser }> {
  const app = await starter.start({ options: { authFinalRedirectUrl: FALLBACK } });
  return { app, browser: app.browser({ proxied: { [OWN]: app.port } }) };
}

/** Returns the final address of a login that started with this origin. */
async function end(
  app: StartedApplication,
  browser: CookieBrowser,
  place: Place,
  ...raw: readonly string[]
): Promise<string | undefined> {
  const response = await browser.get(await app.provider.signInCode(await place(browser, ...raw)));
  assert.equal(response.status, 302);
  return response.location;
}

async function checkKept(starter: ApplicationStarter, place: Place): Promise<void> {
  const { app, browser } = await start(starter);
  for (const [raw, href] of KEPT) assert.equal(await end(app, browser, place, raw), href);
}

export const originRequirements: readonly AdapterRequirement[] = [
  {
    area: "origin",
    title:
      "an origin_url of the application's own origin is where the user ends, in the browser's spelling",
    check: (starter) => checkKept(starter, byQuery),
  },
  {
    area: "origin",
    title:
      "an X-ORIGIN-URL of the application's own origin is where the user ends, in the browser's spelling",
    check: (starter) => checkKept(starter, byHeader),
  },
];

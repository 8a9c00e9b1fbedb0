import assert from "node:assert/strict";
import type { BrowserResponse, CookieBrowser } from "../../../testing/browser/cookie-browser.js";
import { fitsHeader, redirectCorpus, type RedirectCase } from "../redirect-corpus.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import type { AdapterRequirement } from "./requirement.js";

const OWN = "http://app.example";
const FALLBACK = "/start";
const LOGIN = "/idpauth/login/";

/** Simultaneous logins: enough to keep the application busy, and few enough for its sockets. */
const BATCH = 32;

/** The parameters of an authorization request, each exactly once. */
const AUTHORIZATION_PARAMETERS = [
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "prompt",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
];

/** Starts a login that returns to the value. Returns the authorization URL. */
type Place = (browser: CookieBrowser, value: string) => Promise<string>;

const byQuery: Place = async (browser, value) => {
  const query = new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: value }).toString();
  const response = await browser.get(`${OWN}${LOGIN}?${query}`);
  assert.equal(response.status, 302);
  return locationOf(response);
};

const byHeader: Place = async (browser, value) => {
  const response = await browser.get(`${OWN}${LOGIN}?scheme=PRESERVE_ORIGIN_HP&response=json`, { headers: { "x-origin-url": value } });
  assert.equal(response.status, 200);
  return (response.json() as { redirect_to: string }).redirect_to;
};

/** Returns the only Location header. With two, browsers differ in the one that they follow. */
function locationOf(response: BrowserResponse): string {
  const names = response.rawHeaders.filter((_text, at) => at % 2 === 0);
  assert.equal(names.filter((name) => name.toLowerCase() === "location").length, 1, "one Location header");
  return response.location ?? "";
}

/** Returns the failure of one value's login, or undefined. */
async function trip(app: StartedApplication, place: Place, { group, value, location }: RedirectCase): Promise<string | undefined> {
  const shown = `${group}: ${JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value)}`;
  const browser = app.browser({ proxied: { [OWN]: app.port } });
  try {
    const callback = await app.provider.signInCode(await place(browser, value));
    const response = await browser.get(callback);
    assert.equal(response.status, 302);
    assert.equal(locationOf(response), location ?? FALLBACK);
    assert.doesNotMatch(response.text, /evil/i, "nothing of the value stands in the response's body");
    return undefined;
  } catch (error) {
    return `${shown} (${(error as Error).message.replaceAll("\n", " ")})`;
  }
}

async function checkCorpus(starter: ApplicationStarter, place: Place, corpus: readonly RedirectCase[]): Promise<void> {
  const app = await starter.start({ options: { authFinalRedirectUrl: FALLBACK } });
  const wrong: string[] = [];
  for (let at = 0; at < corpus.length; at += BATCH) {
    const outcomes = await Promise.all(corpus.slice(at, at + BATCH).map((each) => trip(app, place, each)));
    wrong.push(...outcomes.filter((outcome) => outcome !== undefined));
  }
  assert.deepEqual(wrong, []);
  const asked = app.provider.requestsTo("authorize");
  assert.equal(asked.length, corpus.length);
  for (const { query } of asked) {
    assert.deepEqual([...query.keys()].sort(), AUTHORIZATION_PARAMETERS);
    assert.equal(query.get("redirect_uri"), `${OWN}/idpauth/login-callback`);
  }
  assert.deepEqual(app.caught, []);
}

/** The corpus in parts, because a slow server needs time for each login. */
const PARTS: readonly (readonly [what: string, has: (each: RedirectCase) => boolean])[] = [
  ["what names another address", ({ group, location }) => location === null && isAddress(group)],
  ["what one parser reads otherwise than another", ({ group, location }) => location === null && !isAddress(group)],
  ["what must be kept", ({ location }) => location !== null],
];

function isAddress(group: string): boolean {
  return ["scheme-relative", "prefix and suffix", "user info", "port", "scheme", "address spelling"].includes(group);
}

/** The whole redirect corpus, by query and by header. */
export const redirectCorpusRequirements: readonly AdapterRequirement[] = PARTS.flatMap(([what, has]) => [
  {
    area: "origin",
    title: `the redirect corpus as origin_url, ${what}: each value ends where it must, on the wire`,
    core: true,
    check: (starter) => checkCorpus(starter, byQuery, redirectCorpus(OWN).filter(has)),
  },
  {
    area: "origin",
    title: `the redirect corpus as X-ORIGIN-URL, ${what}: each value that a header can carry ends where it must, on the wire`,
    core: true,
    check: (starter) =>
      checkCorpus(
        starter,
        byHeader,
        redirectCorpus(OWN).filter((each) => has(each) && fitsHeader(each.value)),
      ),
  },
]);

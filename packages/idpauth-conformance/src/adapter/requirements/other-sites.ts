import assert from "node:assert/strict";
import type { BrowserResponse, CookieBrowser } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import {
  assertPage,
  assertRedirect,
  GRACE,
  probe,
  SIGNED_IN,
  SIGNED_OUT,
  SITE_UNKNOWN,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "other sites";
const EVIL = "https://evil.example/";
const LOGIN = "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=";
const LOGOUT = "/idpauth/logout/";

/**
 * Signs Grace in by a login that a page has started, or the user (null). Returns the response of
 * the callback.
 */
async function signInGrace(
  { provider }: StartedApplication,
  browser: CookieBrowser,
  login: string,
  from: string | null,
  headers: Readonly<Record<string, string | string[]>> = {},
) {
  const { location = "" } = await browser.navigate(login, { from, headers });
  return browser.navigate(await provider.signInCode(location, GRACE), { from: provider.issuer });
}

/** Posts the form of the page of two accounts. Returns where it leads. */
async function continued(
  app: StartedApplication,
  browser: CookieBrowser,
  page: BrowserResponse,
  headers: Readonly<Record<string, string | string[]>> = {},
): Promise<string> {
  const fields = [
    ...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g),
  ].map(([, name = "", value = ""]): [string, string] => [name, value.replaceAll("&amp;", "&")]);
  const { status, location = "" } = await browser.navigate("/idpauth/login/", {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: app.origin,
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
    from: app.origin,
  });
  assert.equal(status, 303);
  return location;
}

/** Signs in, and out again by a link of that page. Returns the address of the logout's redirect. */
async function signedOut(app: StartedApplication, from: string | null): Promise<URL> {
  const browser = await app.signedIn();
  const { location = "" } = await browser.navigate(LOGOUT, { from });
  assert.deepEqual(await probe(browser), SIGNED_OUT);
  return new URL(location, app.origin);
}

async function emailIn(browser: CookieBrowser): Promise<unknown> {
  return ((await probe(browser))["user"] as { readonly email?: unknown } | null)?.email;
}

export const otherSiteRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a login that a link of another site has started replaces no session of another user, who decides on a page",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const page = `${app.origin}/public?year=2024`;
      const response = await signInGrace(app, browser, LOGIN + encodeURIComponent(page), EVIL);
      assertPage(response, 409, 'name="login_hint" value="grace');
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.match(response.text, /<a class="button" href="\/idpauth\/"/);
      const next = await continued(app, browser, response);
      assertRedirect(await signInGrace(app, browser, next, app.origin), page);
      assert.equal(await emailIn(browser), GRACE.email);
    },
  },
  {
    area,
    title:
      "the form of that page continues in a browser without Sec-Fetch-Site, for its own session alone",
    async check(starter) {
      const app = await starter.start();
      const [browser, other] = [await app.signedIn(), await app.signedIn()];
      const page = `${app.origin}/public`;
      const login = LOGIN + encodeURIComponent(page);
      const response = await signInGrace(app, browser, login, app.origin, SITE_UNKNOWN);
      assertPage(response, 409, 'name="login_hint" value="grace');
      const next = await continued(app, browser, response, SITE_UNKNOWN);
      assertPage(await signInGrace(app, other, next, app.origin, SITE_UNKNOWN), 409);
      assertRedirect(await signInGrace(app, browser, next, app.origin, SITE_UNKNOWN), page);
      assert.deepEqual([await emailIn(browser), await probe(other)], [GRACE.email, SIGNED_IN]);
    },
  },
  {
    area,
    title:
      "after a logout by a link of another site, a login by such a link signs in only after the user's consent",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      await browser.navigate(LOGOUT, { from: EVIL });
      const login = `${LOGIN}${encodeURIComponent(`${app.origin}/public`)}`;
      const response = await signInGrace(app, browser, login, EVIL);
      assertPage(response, 409, 'name="login_hint" value="grace');
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assertRedirect(await signInGrace(app, browser, login, app.origin), `${app.origin}/public`);
      assert.equal(await emailIn(browser), GRACE.email);
      await browser.navigate(LOGOUT, { from: app.origin });
      assertRedirect(await signInGrace(app, browser, login, EVIL), `${app.origin}/public`);
    },
  },
  {
    area,
    title:
      "a login that the user has started, by a typed address or a page of the application, signs in another user",
    async check(starter) {
      const app = await starter.start();
      for (const from of [null, app.origin]) {
        const browser = await app.signedIn();
        assert.equal((await signInGrace(app, browser, "/idpauth/login/", from)).status, 302);
        assert.equal(await emailIn(browser), GRACE.email);
      }
    },
  },
  {
    area,
    title: "a logout that a link of another site has started does not continue at the provider",
    async check(starter) {
      const app = await starter.start({ options: { logoutAtProvider: true } });
      assert.equal((await signedOut(app, EVIL)).href, `${app.origin}/idpauth/`);
      const { details } = app.log.find(({ code }) => code === "logout_not_at_provider") ?? {};
      assert.equal(details?.reason, "cross_site");
    },
  },
  {
    area,
    title:
      "a logout that the user has started continues at the provider with id_token_hint, and one of a sibling domain without it",
    session: "bundled",
    async check(starter) {
      const app = await starter.start({ options: { logoutAtProvider: true } });
      for (const [from, hasHint] of [
        [null, true],
        [app.origin, true],
        ["http://127.0.0.1:1/", false],
      ] as const) {
        const { origin, searchParams } = await signedOut(app, from);
        assert.deepEqual(
          [origin, searchParams.has("id_token_hint")],
          [new URL(app.provider.issuer).origin, hasHint],
        );
      }
    },
  },
];

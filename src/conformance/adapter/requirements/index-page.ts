import assert from "node:assert/strict";
import type { StageOptions } from "../application-starter.js";
import { assertPage, mediaType, probe, readable, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
import { leaksIn, secretsOf } from "./secrets.js";

const INDEX = "/idpauth/";
const HOUR = 3600;

/** The ends of a session, and the words of the page for each. */
const ENDS: readonly (readonly [start: StageOptions, seconds: number, parts: readonly RegExp[]])[] = [
  [{ options: { sessionMaxAge: 1800 } }, 1801, [/IDP_SESSION_MAX_AGE/, /1,?800 seconds/]],
  [{ options: { sessionIdleTimeout: 600 } }, 601, [/IDP_SESSION_IDLE_TIMEOUT/, /600 seconds/]],
  [{ options: { sessionAutoRefresh: false } }, HOUR, [/IDP_SESSION_AUTO_REFRESH/, /\boff\b/]],
  [{ provider: { issueRefreshToken: false } }, HOUR, [/gave no refresh token/]],
];

export const indexPageRequirements: readonly AdapterRequirement[] = [
  {
    area: "index page",
    title: "the page says that a signed-out user is signed out, also during a login, and offers to sign in",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const starting = app.browser();
      await app.approved(starting);
      for (const browser of [app.browser(), starting]) {
        assertPage(await browser.navigate(INDEX), 200, "You are signed out", 'href="/idpauth/login/"');
      }
      // The endpoint has only the page, for every Accept header.
      assertPage(await app.browser().get(INDEX, { headers: { accept: "application/json" } }), 200, "You are signed out");
    },
  },
  {
    area: "index page",
    title: "the page names the signed-in user, allows the picture by its origin only, and offers to sign out",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const page = await browser.navigate(INDEX);
      assertPage(page, 200, "You are signed in", "Ada Lovelace", "ada@example.com", "https://pictures.example.com/ada.png");
      assertPage(page, 200, 'href="/idpauth/logout/"');
      assert.match(String(page.headers["content-security-policy"]), /(?:^|; )img-src https:\/\/pictures\.example\.com(?:;|$)/);
      // The page never shows iss, azp, aud and sub.
      for (const claim of ["ada-1815", app.provider.issuer, app.provider.clientId]) assert.ok(!page.text.includes(claim), claim);
      assert.deepEqual(leaksIn(page.text + JSON.stringify(page.rawHeaders), secretsOf(app)), []);
    },
  },
  {
    area: "index page",
    title: "the page needs only its stylesheet, which exists",
    async check(starter) {
      const app = await starter.start();
      const page = await app.browser().navigate(INDEX);
      const href = /<link[^>]+href="([^"]+)"/.exec(page.text)?.[1];
      const sheet = await app.browser().get(href ?? "");
      assert.deepEqual([sheet.status, mediaType(sheet)], [200, "text/css"]);
      assert.doesNotMatch(page.text, /<script|<style|\sstyle=|\son\w+=/i);
      assert.doesNotMatch(sheet.text, /url\(|@import/);
    },
  },
  {
    area: "index page",
    title: "the page shows a user whose ID token has expired as signed in, without a provider request and without a refresh",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const asked = app.provider.requests.length;
      app.clock.advance(HOUR * 1_000);
      assertPage(await browser.navigate(INDEX), 200, "You are signed in");
      assert.equal((await browser.get(INDEX, { method: "HEAD" })).status, 200);
      assert.equal(app.provider.requests.length, asked);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1);
    },
  },
  {
    area: "index page",
    title: "the page names the setting that ended the session, with its value, and offers to sign in again",
    core: true,
    async check(starter) {
      for (const [start, seconds, parts] of ENDS) {
        const app = await starter.start(start);
        const browser = await app.signedIn();
        const asked = app.provider.requests.length;
        app.clock.advance((seconds - 1) * 1_000);
        assertPage(await browser.navigate(INDEX), 200, "You are signed in");
        app.clock.advance(1_000);
        const page = await browser.navigate(INDEX);
        assertPage(page, 200, "Your session has ended", 'href="/idpauth/login/"');
        for (const part of parts) assert.match(readable(page), part);
        assert.equal(app.provider.requests.length, asked);
      }
    },
  },
  {
    area: "index page",
    title: "the page says that the provider refused to renew the session",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.provider.revokeAll();
      app.clock.advance(HOUR * 1_000);
      await probe(browser);
      const text = readable(await browser.navigate(INDEX));
      assert.match(text, /Your session has ended/);
      assert.match(text, /the provider refused to renew it/);
    },
  },
  {
    area: "index page",
    title: "the page explains a sign-in error in fixed words beside the state, and repeats no other word of the address",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browsers = [
        [app.browser(), "You are signed out"],
        [await app.signedIn(), "You are signed in"],
      ] as const;
      for (const [browser, state] of browsers) {
        const page = await browser.navigate(`${INDEX}?error=access_denied&error_description=EVIL`);
        assertPage(page, 200, state, "access_denied");
        assert.match(readable(page), /You did not give your consent/);
        assert.doesNotMatch(page.text, /EVIL/);
        for (const error of ["EVIL", "%3Cscript%3EEVIL%3C/script%3E", "__proto__", "access_denied&error=EVIL", "x".repeat(2000)]) {
          const unknown = await browser.navigate(`${INDEX}?error=${error}`);
          assertPage(unknown, 200, state);
          assert.doesNotMatch(unknown.text + JSON.stringify(unknown.rawHeaders), /EVIL|__proto__|xxxx/);
        }
      }
    },
  },
  {
    area: "index page",
    title: "the page shows the provider's claims as text, never as markup or policy",
    core: true,
    async check(starter) {
      const app = await starter.start({
        provider: {
          person: {
            sub: "x",
            name: '<img src=x onerror="alert(1)">',
            email: "</p><script>alert(1)</script>",
            picture: "https://a.example;script-src *;/x.png",
          },
        },
      });
      const page = await (await app.signedIn()).navigate(INDEX);
      assertPage(page, 200, "You are signed in", "&lt;img src=x");
      assert.doesNotMatch(page.text, /<script|<img/i);
      assert.doesNotMatch(String(page.headers["content-security-policy"]), /script-src|a\.example/);
    },
  },
];

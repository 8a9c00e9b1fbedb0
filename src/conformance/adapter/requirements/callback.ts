import assert from "node:assert/strict";
import type { StartedApplication } from "../application-starter.js";
import {
  ACCEPTS_JSON,
  assertLinkInvalid,
  assertPage,
  assertProblem,
  assertRedirect,
  GRACE,
  PROBE,
  probe,
  readable,
  SIGNED_IN,
  SIGNED_OUT,
  withQuery,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const INDEX = "/idpauth/";
const CALLBACK = "/idpauth/login-callback";
const UNKNOWN_STATE = "A".repeat(43);

const pageOf = (app: StartedApplication) => `${app.origin}/reports?year=2024#q3`;
const fromPage = (app: StartedApplication) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: pageOf(app) }).toString()}`;
const stateOf = (callback: string) => new URL(callback).searchParams.get("state") ?? "";
const tokenRequests = (app: StartedApplication) => app.provider.requestsTo("token").length;

/** Callbacks with an unusable state, each made from a valid one. */
const BAD_STATES: readonly ((callback: string) => string)[] = [
  (callback) => withQuery(callback, { state: undefined }),
  (callback) => withQuery(callback, { state: "" }),
  (callback) => withQuery(callback, { state: UNKNOWN_STATE }),
  (callback) => withQuery(callback, { state: `${stateOf(callback)}A` }),
  (callback) => withQuery(callback, { state: stateOf(callback).toUpperCase() }),
  (callback) => withQuery(callback, { state: "__proto__" }),
  (callback) => `${callback}&state=${stateOf(callback)}`,
  (callback) => `${callback}&state=x`,
];

/** Error codes of the fixed list, and the code that replaces all others. */
const PROVIDER_ERRORS: readonly (readonly [error: string, code: string])[] = [
  ["access_denied", "access_denied"],
  ["temporarily_unavailable", "temporarily_unavailable"],
  ["EVIL<script>", "provider_error"],
  ["__proto__", "provider_error"],
  ["ACCESS_DENIED", "provider_error"],
];

export const callbackRequirements: readonly AdapterRequirement[] = [
  {
    area: "callback",
    title: "the callback responds with 302 and no body, leads to the login's page, and signs the user in",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = await app.approved(browser, fromPage(app));
      // Unknown parameters change nothing.
      const visited = withQuery(callback, { email: "grace@example.com", sub: "grace-1906", session_state: "x", access_token: "y" });
      assertRedirect(await browser.navigate(visited), pageOf(app));
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
  {
    area: "callback",
    title: "a sign-in as another user signs the previous user out",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const before = app.copyOf(browser);
      await browser.navigate(await app.approved(browser, undefined, GRACE));
      assert.deepEqual(await probe(browser), {
        authenticated: true,
        user: { email: "grace@example.com", name: "Grace Hopper", picture: null },
      });
      assert.deepEqual(await probe(before), SIGNED_OUT);
    },
  },
  {
    area: "callback",
    title: "the callback requests userinfo once if the ID token lacks the user's claims; if userinfo fails, the sign-in stands",
    core: true,
    async check(starter) {
      const app = await starter.start({ provider: { claimsInIdToken: false } });
      assert.deepEqual(await probe(await app.signedIn()), SIGNED_IN);
      assert.equal(app.provider.requestsTo("userinfo").length, 1);
      const nameless = { authenticated: true, user: { email: null, name: null, picture: null } };
      app.provider.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else" });
      assert.deepEqual(await probe(await app.signedIn()), nameless);
      app.provider.fault("userinfo", { kind: "reset" });
      assert.deepEqual(await probe(await app.signedIn()), nameless);
    },
  },
  {
    area: "callback",
    title: "a state that is missing, empty, unknown, changed or repeated gets a 400 page that offers a new login, and uses nothing up",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const [browser, signedIn] = [app.browser(), await app.signedIn()];
      const callback = await app.approved(browser, fromPage(app));
      const asked = tokenRequests(app);
      for (const spoil of BAD_STATES) {
        for (const each of [browser, signedIn, app.browser()]) assertLinkInvalid(await each.navigate(spoil(callback)));
      }
      assertLinkInvalid(await browser.navigate(CALLBACK));
      assert.equal(tokenRequests(app), asked);
      assert.deepEqual(await probe(signedIn), SIGNED_IN);
      assertRedirect(await browser.navigate(callback), pageOf(app));
    },
  },
  {
    area: "callback",
    title: "a state of another browser gets a 400, signed in or not, and still works in its own browser",
    async check(starter) {
      const app = await starter.start();
      const [home, stranger, starting, signedIn] = [app.browser(), app.browser(), app.browser(), await app.signedIn()];
      const callback = await app.approved(home, fromPage(app), GRACE);
      await starting.navigate("/idpauth/login/");
      for (const other of [stranger, starting, signedIn]) assertLinkInvalid(await other.navigate(callback));
      assert.deepEqual([await probe(stranger), await probe(starting), await probe(signedIn)], [SIGNED_OUT, SIGNED_OUT, SIGNED_IN]);
      assertRedirect(await home.navigate(callback), pageOf(app));
    },
  },
  {
    area: "callback",
    title: "an unusable link gets problem+json if Accept asks for JSON",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const response = await app.browser().get(`${CALLBACK}?code=x&state=y`, { headers: ACCEPTS_JSON });
      assertProblem(response, 400, "login_link_invalid");
      assert.equal(response.json().title, "This sign-in link is no longer valid");
      assertLinkInvalid(await app.browser().get(`${CALLBACK}?code=x&state=y`));
    },
  },
  {
    area: "callback",
    title: "a known state without exactly one code or error gets a 400 and uses that login up",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const spoils: readonly ((callback: string) => string)[] = [
        (callback) => withQuery(callback, { code: undefined }),
        (callback) => withQuery(callback, { code: "" }),
        (callback) => `${callback}&code=b`,
        (callback) => `${callback}&error=a&error=b`,
      ];
      for (const spoil of spoils) {
        const callback = await app.approved(browser);
        assertLinkInvalid(await browser.navigate(spoil(callback)));
        assertLinkInvalid(await browser.navigate(callback));
      }
      assert.equal(tokenRequests(app), 0);
    },
  },
  {
    area: "callback",
    title: "a callback that a signed-in user repeats, by a reload or the back button, leads to the page without a provider request",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = await app.approved(browser, fromPage(app));
      await browser.navigate(callback);
      for (const again of [callback, withQuery(callback, { code: undefined, error: "access_denied" })]) {
        assertRedirect(await browser.navigate(again), pageOf(app));
      }
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assertLinkInvalid(await app.browser().navigate(callback));
      await browser.get("/idpauth/logout/");
      assertLinkInvalid(await browser.navigate(callback));
      assert.equal(tokenRequests(app), 1);
    },
  },
  {
    area: "callback",
    title: "a double click makes one token request, and both requests get the same response",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = await app.approved(browser, fromPage(app));
      const hold = app.provider.hold("token");
      const responses = [browser.navigate(callback), browser.navigate(callback)];
      await hold.arrived;
      // A request after the second click has a response, so the click has arrived too.
      await app.browser().get(PROBE);
      hold.release();
      const cookies: (readonly string[])[] = [];
      for (const response of await Promise.all(responses)) {
        assertRedirect(response, pageOf(app));
        cookies.push(response.setCookies);
      }
      assert.equal(tokenRequests(app), 1);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      // The browser shows the later response and may never read the earlier one, so each has the new session's cookie.
      if (starter.session === "bundled") assert.deepEqual(cookies[1], cookies[0]);
    },
  },
  {
    area: "callback",
    title: "a session remembers the last eight used states",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callbacks: string[] = [];
      for (let login = 1; login <= 9; login += 1) {
        const callback = await app.approved(browser);
        callbacks.push(callback);
        assertRedirect(await browser.navigate(callback), INDEX);
      }
      assertLinkInvalid(await browser.navigate(callbacks[0] ?? ""));
      for (const callback of callbacks.slice(1)) assertRedirect(await browser.navigate(callback), INDEX);
    },
  },
  {
    area: "callback",
    title: "an error from the provider leads to the index page, which explains it in fixed words and repeats none of the provider's",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const [browser, signedIn] = [app.browser(), await app.signedIn()];
      for (const each of [browser, signedIn]) {
        for (const [error, code] of PROVIDER_ERRORS) {
          const callback = await app.approved(each);
          const failed = withQuery(callback, {
            code: undefined,
            error,
            error_description: "EVIL words",
            error_uri: "https://evil.example",
          });
          const response = await each.navigate(failed);
          assertRedirect(response, `${INDEX}?error=${code}`);
          const page = await each.navigate(response.location ?? "");
          assertPage(page, 200, code);
          assert.match(readable(page), /The sign-in was not completed\. \w+/);
          assert.doesNotMatch(`${page.text}${JSON.stringify(page.rawHeaders)}`, /evil/i);
          if (each === browser) assertLinkInvalid(await each.navigate(callback));
        }
      }
      assert.deepEqual([await probe(browser), await probe(signedIn)], [SIGNED_OUT, SIGNED_IN]);
      assert.doesNotMatch(JSON.stringify(app.log), /evil/i);
    },
  },
  {
    area: "callback",
    title: "a logout during the callback wins: the user is signed out, and the tokens are revoked",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = await app.approved(browser);
      const leaving = app.copyOf(browser);
      const hold = app.provider.hold("token", { before: false });
      const revoking = app.provider.hold("revoke");
      const response = browser.navigate(callback);
      await hold.arrived;
      assert.deepEqual((await leaving.get("/idpauth/logout/?response=json")).json(), { status: "logged_out" });
      hold.release();
      assertLinkInvalid(await response);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      await revoking.arrived;
      assert.equal(app.provider.requestsTo("revoke")[0]?.params.get("token"), app.newest("refresh_token"));
      revoking.release();
      await app.auth.idle();
    },
  },
];

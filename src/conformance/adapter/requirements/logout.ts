import assert from "node:assert/strict";
import type { Fault } from "../../../testing/provider/test-provider.js";
import type { StartedApplication } from "../application-starter.js";
import { ACCEPTS_HTML, assertLinkInvalid, assertPage, assertProblem, assertRedirect, mediaType, ownCookies } from "./assertions.js";
import { probe, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGOUT = "/idpauth/logout/";
const AS_JSON = `${LOGOUT}?response=json`;
const INDEX = "/idpauth/";
const LOGGED_OUT = { status: "logged_out" };

const revocations = (app: StartedApplication) => app.provider.requestsTo("revoke");

/** Failures of the revocation, which do not affect the logout. */
const FAILURES: readonly Fault[] = [
  { kind: "reset" },
  { kind: "status", status: 400, body: { error: "invalid_token" } },
  { kind: "status", status: 401, body: { error: "invalid_client" } },
  { kind: "status", status: 503 },
  { kind: "redirect", status: 307 },
  { kind: "oversized" },
  { kind: "truncated", body: "cut short" },
];

export const logoutRequirements: readonly AdapterRequirement[] = [
  {
    area: "logout",
    title: "a logout responds with 302 and no body, to the index page or to IDP_AUTH_LOGOUT_REDIRECT_URL, a path or another address",
    async check(starter) {
      const app = await starter.start();
      for (const query of ["", "?response=redirect", "?response=REDIRECT", "?other=json"]) {
        assertRedirect(await (await app.signedIn()).navigate(LOGOUT + query), INDEX);
      }
      for (const authLogoutRedirectUrl of ["/bye?a=1", "https://elsewhere.example/bye?x=1#y"]) {
        const configured = await starter.start({ options: { authLogoutRedirectUrl } });
        assertRedirect(await (await configured.signedIn()).navigate(LOGOUT), authLogoutRedirectUrl);
      }
    },
  },
  {
    area: "logout",
    title: "a logout with response=json, in any letter case, responds with 200 and status logged_out",
    async check(starter) {
      const app = await starter.start({ options: { authLogoutRedirectUrl: "/bye" } });
      for (const form of ["json", "JSON", "Json"]) {
        const response = await (await app.signedIn()).get(`${LOGOUT}?response=${form}`, { headers: ACCEPTS_HTML });
        assert.deepEqual([response.status, mediaType(response), response.json()], [200, "application/json", LOGGED_OUT]);
      }
    },
  },
  {
    area: "logout",
    title: "a logout ends the session for every holder of its cookie, and ends its pending logins",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const pending = await app.approved(browser);
      const thief = app.copyOf(browser);
      await browser.get(AS_JSON);
      assert.deepEqual([await probe(browser), await probe(thief)], [SIGNED_OUT, SIGNED_OUT]);
      assertLinkInvalid(await thief.navigate(pending));
      assertLinkInvalid(await browser.navigate(pending));
      assert.equal((await browser.get("/reports")).status, 401);
      assert.equal(app.provider.requestsTo("token").length, 1);
    },
  },
  {
    area: "logout",
    title: "a logout revokes the newest refresh token, which ends the access tokens made from it",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.clock.advance(3_600_000);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      await browser.get(AS_JSON);
      assert.deepEqual(
        revocations(app).map(({ params }) => Object.fromEntries(params)),
        [
          {
            token: app.newest("refresh_token"),
            token_type_hint: "refresh_token",
            client_id: app.provider.clientId,
            client_secret: app.provider.clientSecret,
          },
        ],
      );
      assert.equal(app.provider.isActive(app.newest("access_token")), false);
    },
  },
  {
    area: "logout",
    title: "a logout without a refresh token revokes the access token, also after the session has ended",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 60 }, provider: { issueRefreshToken: false } });
      const browser = await app.signedIn();
      app.clock.advance(61_000);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      await browser.get(AS_JSON);
      const [revocation, ...more] = revocations(app);
      assert.deepEqual([revocation?.params.get("token"), more], [app.newest("access_token"), []]);
      assert.equal(revocation?.params.get("token_type_hint"), "access_token");
    },
  },
  {
    area: "logout",
    title: "a logout with IDP_TOKEN_REVOKE_ON_LOGOUT off, or at a provider without revocation, only ends the session",
    core: true,
    async check(starter) {
      for (const tokenRevokeOnLogout of [false, true]) {
        const app = await starter.start({ options: { tokenRevokeOnLogout } });
        if (tokenRevokeOnLogout) app.provider.discoveryDocument = ({ revocation_endpoint: _gone, ...document }) => document;
        const browser = await app.signedIn();
        const asked = app.provider.requests.length;
        assert.deepEqual((await browser.get(AS_JSON)).json(), LOGGED_OUT);
        assert.deepEqual(await probe(browser), SIGNED_OUT);
        assert.equal(app.provider.requests.length, asked);
      }
    },
  },
  {
    area: "logout",
    title: "a logout succeeds if the revocation fails",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const fault of FAILURES) {
        app.provider.fault("revoke", { ...fault, times: 2 });
        for (const target of [AS_JSON, LOGOUT]) {
          const browser = await app.signedIn();
          const response = await browser.get(target);
          if (target === LOGOUT) assertRedirect(response, INDEX);
          else assert.deepEqual([response.status, response.json()], [200, LOGGED_OUT], JSON.stringify(fault));
          assert.deepEqual(await probe(browser), SIGNED_OUT);
          // Longer than any back-off, during which no request is sent.
          app.clock.advance(61_000);
        }
      }
      assert.equal(revocations(app).length, 2 * FAILURES.length);
    },
  },
  {
    area: "logout",
    title: "a logout ends the session first and waits for a revocation for at most one second",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const thief = app.copyOf(browser);
      const hold = app.provider.hold("revoke");
      const response = browser.get(AS_JSON);
      await hold.arrived;
      assert.deepEqual(await probe(thief), SIGNED_OUT);
      app.clock.advance(1_000);
      assert.deepEqual((await response).json(), LOGGED_OUT);
      hold.release();
    },
  },
  {
    area: "logout",
    title: "a logout with an invalid, empty or repeated response gets a 400 that lists the valid ones, and changes nothing",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const query of [
        "response=EVIL",
        "response=",
        "response",
        "response=json&response=json",
        "response=%20json",
        "response=__proto__",
      ]) {
        const response = await browser.get(`${LOGOUT}?${query}`);
        assertProblem(response, 400, "invalid_parameter");
        const { detail, valid_options: options } = response.json() as { detail: string; valid_options: Record<string, string[]> };
        assert.deepEqual([Object.keys(options), [...(options["response"] ?? [])].sort()], [["response"], ["json", "redirect"]]);
        assert.match(detail, /json.*redirect|redirect.*json/);
        const page = await browser.navigate(`${LOGOUT}?${query}`);
        assertPage(page, 400, "invalid_parameter", "json", "redirect");
        assert.doesNotMatch(response.text + page.text, /EVIL/);
        assert.deepEqual([...ownCookies(response), ...ownCookies(page)], []);
      }
      assert.deepEqual([await probe(browser), revocations(app)], [SIGNED_IN, []]);
    },
  },
  {
    area: "logout",
    title: "a logout of a signed-out user gets the same response and makes no provider request",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const starting = app.browser();
      const pending = await app.approved(starting);
      const asked = app.provider.requests.length;
      for (const browser of [app.browser(), starting]) {
        assertRedirect(await app.copyOf(browser).navigate(LOGOUT), INDEX);
        assert.deepEqual((await browser.get(AS_JSON)).json(), LOGGED_OUT);
      }
      assert.equal(app.provider.requests.length, asked);
      assertLinkInvalid(await starting.navigate(pending));
    },
  },
  {
    area: "logout",
    title: "two logouts at once succeed and revoke once",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const twin = app.copyOf(browser);
      for (const response of await Promise.all([browser.get(AS_JSON), twin.get(AS_JSON)])) assert.deepEqual(response.json(), LOGGED_OUT);
      assert.equal(revocations(app).length, 1);
    },
  },
];

import assert from "node:assert/strict";
import { settled } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import {
  assertLinkInvalid,
  assertRedirect,
  GRACE,
  PROBE,
  probe,
  SIGNED_IN,
  SIGNED_OUT,
  withQuery,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const pageOf = (app: StartedApplication) => `${app.origin}/reports?year=2024#q3`;
const fromPage = (app: StartedApplication) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: pageOf(app) }).toString()}`;
const tokenRequests = (app: StartedApplication) => app.provider.requestsTo("token").length;

export const callbackRequirements: readonly AdapterRequirement[] = [
  {
    area: "callback",
    title:
      "the callback responds with 302 and no body, redirects to the login's page, and signs the user in",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callback = await app.approved(browser, fromPage(app));
      // Unknown parameters change nothing.
      const visited = withQuery(callback, {
        email: "grace@example.com",
        sub: "grace-1906",
        session_state: "x",
        access_token: "y",
      });
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
    title:
      "a state of another browser gets a 400, signed in or not, and still works in its own browser",
    async check(starter) {
      const app = await starter.start();
      const [home, stranger, starting, signedIn] = [
        app.browser(),
        app.browser(),
        app.browser(),
        await app.signedIn(),
      ];
      const callback = await app.approved(home, fromPage(app), GRACE);
      await starting.navigate("/idpauth/login/");
      for (const other of [stranger, starting, signedIn])
        assertLinkInvalid(await other.navigate(callback));
      assert.deepEqual(
        [await probe(stranger), await probe(starting), await probe(signedIn)],
        [SIGNED_OUT, SIGNED_OUT, SIGNED_IN],
      );
      assertRedirect(await home.navigate(callback), pageOf(app));
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
      // The browser shows the later response and may never read the earlier one, so each has the
      // new session's cookie.
      if (starter.session === "bundled") assert.deepEqual(cookies[1], cookies[0]);
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
      assert.deepEqual((await leaving.get("/idpauth/logout/?response=json")).json(), {
        status: "logged_out",
      });
      hold.release();
      assertLinkInvalid(await response);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      await revoking.arrived;
      assert.equal(
        app.provider.requestsTo("revoke")[0]?.params.get("token"),
        app.newest("refresh_token"),
      );
      revoking.release();
      await settled(app.auth);
    },
  },
];

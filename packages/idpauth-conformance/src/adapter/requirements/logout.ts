import assert from "node:assert/strict";
import type { StartedApplication } from "../application-starter.js";
import { ACCEPTS_HTML, assertLinkInvalid, assertRedirect, mediaType } from "./assertions.js";
import { probe, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGOUT = "/idpauth/logout/";
const AS_JSON = `${LOGOUT}?response=json`;
const INDEX = "/idpauth/";
const LOGGED_OUT = { status: "logged_out" };

const revocations = (app: StartedApplication) => app.provider.requestsTo("revoke");

export const logoutRequirements: readonly AdapterRequirement[] = [
  {
    area: "logout",
    title:
      "a logout responds with 302 and no body, to the index page or to IDP_AUTH_LOGOUT_REDIRECT_URL, a path or another address",
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
    title:
      "a logout with response=json, in any letter case, responds with 200 and status logged_out",
    async check(starter) {
      const app = await starter.start({ options: { authLogoutRedirectUrl: "/bye" } });
      for (const form of ["json", "JSON", "Json"]) {
        const response = await (
          await app.signedIn()
        ).get(`${LOGOUT}?response=${form}`, { headers: ACCEPTS_HTML });
        assert.deepEqual(
          [response.status, mediaType(response), response.json()],
          [200, "application/json", LOGGED_OUT],
        );
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
    title: "two logouts at once succeed and revoke once",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const twin = app.copyOf(browser);
      for (const response of await Promise.all([browser.get(AS_JSON), twin.get(AS_JSON)]))
        assert.deepEqual(response.json(), LOGGED_OUT);
      assert.equal(revocations(app).length, 1);
    },
  },
];

import assert from "node:assert/strict";
import type { AdapterRequirement } from "./requirement.js";
/** The whole sign-in and logout of a user. */
export const tripRequirements: readonly AdapterRequirement[] = [
  {
    area: "trip",
    title:
      "a user goes from a guarded page through login and callback back to the page, and logs out",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const page = await browser.follow("/reports?year=2024&q=a%2Fb#top");
      assert.deepEqual(
        page.trail.map(({ status, url }) => [
          status,
          url.origin === app.origin ? url.pathname : "provider",
        ]),
        [
          [302, "/reports"],
          [302, "/idpauth/login/"],
          [302, "provider"],
          [302, "/idpauth/login-callback"],
          [200, "/reports"],
        ],
      );
      assert.equal(page.url.search, "?year=2024&q=a%2Fb");
      const user = {
        email: "ada@example.com",
        name: "Ada Lovelace",
        picture: "https://pictures.example.com/ada.png",
      };
      assert.deepEqual(page.json().user, user);
      assert.equal(
        page.json().token,
        app.provider.issued.filter(({ kind }) => kind === "access_token").at(-1)?.value,
      );
      assert.deepEqual((await browser.get("/idpauth/session")).json(), {
        authenticated: true,
        user,
      });

      const out = await browser.get("/idpauth/logout/?response=json");
      assert.deepEqual([out.status, out.json()], [200, { status: "logged_out" }]);
      assert.deepEqual((await browser.get("/idpauth/session")).json(), {
        authenticated: false,
        user: null,
      });
      assert.equal((await browser.navigate("/reports")).status, 302);
      const refreshToken =
        app.provider.issued.filter(({ kind }) => kind === "refresh_token").at(-1)?.value ?? "";
      assert.equal(app.provider.isActive(refreshToken), false, "the refresh token was not revoked");
      assert.deepEqual(app.caught, []);
    },
  },
];

import assert from "node:assert/strict";
import type { AdapterRequirement } from "./requirement.js";
import { leaksIn, secretsOf } from "./secrets.js";

/** The whole sign-in and logout of a user. */
export const tripRequirements: readonly AdapterRequirement[] = [
  {
    area: "trip",
    title: "a user goes from a guarded page through login and callback back to the page, and logs out",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const page = await browser.follow("/reports?year=2024&q=a%2Fb#top");
      assert.deepEqual(
        page.trail.map(({ status, url }) => [status, url.origin === app.origin ? url.pathname : "provider"]),
        [
          [302, "/reports"],
          [302, "/idpauth/login/"],
          [302, "provider"],
          [302, "/idpauth/login-callback"],
          [200, "/reports"],
        ],
      );
      assert.equal(page.url.search, "?year=2024&q=a%2Fb");
      const user = { email: "ada@example.com", name: "Ada Lovelace", picture: "https://pictures.example.com/ada.png" };
      assert.deepEqual(page.json().user, user);
      assert.equal(page.json().token, app.provider.issued.filter(({ kind }) => kind === "access_token").at(-1)?.value);
      assert.deepEqual((await browser.get("/idpauth/session")).json(), { authenticated: true, user });

      const out = await browser.get("/idpauth/logout/?response=json");
      assert.deepEqual([out.status, out.json()], [200, { status: "logged_out" }]);
      assert.deepEqual((await browser.get("/idpauth/session")).json(), { authenticated: false, user: null });
      assert.equal((await browser.navigate("/reports")).status, 302);
      const refreshToken = app.provider.issued.filter(({ kind }) => kind === "refresh_token").at(-1)?.value ?? "";
      assert.equal(app.provider.isActive(refreshToken), false, "the refresh token was not revoked");
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area: "trip",
    title: "listeners get each step with time, issuer and subject; neither listeners nor the log get a secret",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 7200 } });
      const told: Readonly<Record<string, unknown>>[] = [];
      for (const name of ["login", "refresh", "logout", "blocked", "ended", "failure"] as const) {
        app.auth.on(name, (event) => void told.push({ name, ...event }));
      }
      const browser = await app.signedIn();
      app.clock.advance(3_600_000);
      await browser.get("/reports");
      app.clock.advance(3_601_000);
      // The event `ended` comes once per session, `blocked` each time.
      for (let time = 0; time < 2; time += 1) assert.equal((await browser.get("/reports")).status, 401);
      await browser.navigate(`/idpauth/login-callback?code=x&state=y`);
      app.provider.fault("revoke", { kind: "reset" });
      await browser.get("/idpauth/logout/");
      await app.browser().get("/idpauth/logout/");

      const names = told.map(({ name }) => name).filter((name) => name !== "failure");
      assert.deepEqual(names, ["login", "refresh", "ended", "blocked", "blocked", "logout"]);
      for (const { name, time, issuer, subject } of told) {
        assert.equal(typeof time, "number", String(name));
        if (name !== "failure") assert.deepEqual([issuer, subject], [app.provider.issuer, "ada-1815"], String(name));
      }
      assert.deepEqual(leaksIn(JSON.stringify([told, app.log]), secretsOf(app)), []);
    },
  },
];

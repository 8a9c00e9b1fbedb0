import assert from "node:assert/strict";
import { settled } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { assertRetryAfter, probe, PROBE, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const HOUR_SECONDS = 3600;

const refreshes = (app: StartedApplication) =>
  app.provider.requestsTo("token", { grant_type: "refresh_token" });

function pass(app: StartedApplication, seconds: number): void {
  app.clock.advance(seconds * 1_000);
}

export const refreshRequirements: readonly AdapterRequirement[] = [
  {
    area: "refresh",
    title:
      "an expired ID token makes one token request for any number of requests, and all get the fresh token",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const old = app.newest("access_token");
      pass(app, HOUR_SECONDS);
      const hold = app.provider.hold("token");
      const reports = Array.from({ length: 10 }, () => browser.get("/reports"));
      const probes = Array.from({ length: 10 }, () => browser.get(PROBE));
      await hold.arrived;
      hold.release();
      for (const response of await Promise.all(probes))
        assert.deepEqual([response.status, response.json()], [200, SIGNED_IN]);
      const fresh = app.newest("access_token");
      assert.notEqual(fresh, old);
      for (const response of await Promise.all(reports))
        assert.deepEqual([response.status, response.json().token], [200, fresh]);
      assert.equal(refreshes(app).length, 1);
    },
  },
  {
    area: "refresh",
    title:
      "each refresh sends the newest refresh token, and none happens before the ID token expires",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (let time = 1; time <= 4; time += 1) {
        pass(app, HOUR_SECONDS - 1);
        assert.deepEqual(await probe(browser), SIGNED_IN);
        assert.equal(refreshes(app).length, time - 1);
        const newest = app.newest("refresh_token");
        pass(app, 1);
        assert.deepEqual(await probe(browser), SIGNED_IN);
        assert.equal(refreshes(app).at(-1)?.params.get("refresh_token"), newest);
        assert.notEqual(app.newest("refresh_token"), newest);
      }
      assert.deepEqual([refreshes(app).length, app.provider.reuses], [4, 0]);
    },
  },
  {
    area: "refresh",
    title:
      "a user waits for at most IDP_HTTP_TIMEOUT; the refresh continues in the background and is stored",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      pass(app, HOUR_SECONDS);
      const hold = app.provider.hold("token");
      const response = browser.get(PROBE);
      await hold.arrived;
      pass(app, 5);
      assertRetryAfter(await response);
      hold.release();
      await settled(app.auth);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(refreshes(app).length, 1);
    },
  },
  {
    area: "refresh",
    title:
      "a logout during a refresh wins: the session is not written back, and the new tokens are revoked",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const late = app.copyOf(browser);
      pass(app, HOUR_SECONDS);
      const hold = app.provider.hold("token", { before: false });
      const response = late.get(PROBE);
      await hold.arrived;
      assert.equal((await browser.get("/idpauth/logout/?response=json")).status, 200);
      hold.release();
      assert.deepEqual((await response).json(), SIGNED_OUT);
      await settled(app.auth);
      assert.deepEqual([await probe(late), await probe(browser)], [SIGNED_OUT, SIGNED_OUT]);
      assert.equal(app.provider.isActive(app.newest("refresh_token")), false);
    },
  },
];

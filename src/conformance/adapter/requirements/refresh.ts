import assert from "node:assert/strict";
import type { Fault } from "../../../testing/provider/test-provider.js";
import type { StartedApplication } from "../application-starter.js";
import { assertRetryAfter, GRACE, probe, PROBE, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const HOUR = 3600;

const refreshes = (app: StartedApplication) => app.provider.requestsTo("token", { grant_type: "refresh_token" });

function pass(app: StartedApplication, seconds: number): void {
  app.clock.advance(seconds * 1_000);
}

/** Outages, which are not refusals. */
const OUTAGES: readonly Fault[] = [
  { kind: "reset" },
  { kind: "status", status: 500 },
  { kind: "status", status: 408 },
  { kind: "status", status: 429 },
  { kind: "status", status: 400, body: { error: "invalid_client" } },
  { kind: "status", status: 400, body: { error: "invalid_scope" } },
  { kind: "status", status: 403 },
  { kind: "status", status: 404 },
  { kind: "redirect", status: 307 },
  { kind: "garbage" },
  { kind: "truncated", body: "{}" },
  { kind: "oversized" },
];

/** Refusals by the provider. */
const REFUSALS: readonly Fault[] = [
  { kind: "status", status: 400, body: { error: "invalid_grant" } },
  { kind: "status", status: 400, body: { error: "something_else" } },
  { kind: "status", status: 400 },
  { kind: "status", status: 400, body: "<html>" },
];

export const refreshRequirements: readonly AdapterRequirement[] = [
  {
    area: "refresh",
    title: "an expired ID token makes one token request for any number of requests, and all get the fresh token",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const old = app.newest("access_token");
      pass(app, HOUR);
      const hold = app.provider.hold("token");
      const reports = Array.from({ length: 10 }, () => browser.get("/reports"));
      const probes = Array.from({ length: 10 }, () => browser.get(PROBE));
      await hold.arrived;
      hold.release();
      for (const response of await Promise.all(probes)) assert.deepEqual([response.status, response.json()], [200, SIGNED_IN]);
      const fresh = app.newest("access_token");
      assert.notEqual(fresh, old);
      for (const response of await Promise.all(reports)) assert.deepEqual([response.status, response.json().token], [200, fresh]);
      assert.equal(refreshes(app).length, 1);
    },
  },
  {
    area: "refresh",
    title: "each refresh sends the newest refresh token, and none happens before the ID token expires",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (let time = 1; time <= 4; time += 1) {
        pass(app, HOUR - 1);
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
    title: "the refresh token stays in use if the provider sends no new one",
    core: true,
    async check(starter) {
      const app = await starter.start({ provider: { rotation: false } });
      const browser = await app.signedIn();
      for (let time = 1; time <= 2; time += 1) {
        pass(app, HOUR);
        assert.deepEqual(await probe(browser), SIGNED_IN);
        assert.equal(refreshes(app).at(-1)?.params.get("refresh_token"), app.newest("refresh_token"));
      }
    },
  },
  {
    area: "refresh",
    title: "the fresh claims replace the old ones; a name, email or picture that is not sent again stays",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.provider.mutateIdToken = ({ claims: { name: _name, picture: _picture, ...claims } }) => ({
        claims: { ...claims, email: "countess@example.com" },
      });
      pass(app, HOUR);
      assert.deepEqual(await probe(browser), { authenticated: true, user: { ...SIGNED_IN.user, email: "countess@example.com" } });
    },
  },
  {
    area: "refresh",
    title: "a refresh that the provider refuses ends the session and is not tried again; a new sign-in works",
    core: true,
    async check(starter) {
      const app = await starter.start();
      for (const fault of REFUSALS) {
        const browser = await app.signedIn();
        const before = refreshes(app).length;
        app.provider.fault("token", { ...fault, times: 1 });
        pass(app, HOUR);
        for (let time = 0; time < 3; time += 1) assert.deepEqual(await probe(browser), SIGNED_OUT);
        assert.equal((await probe(browser, "?details=true"))["reason"], "refresh_rejected");
        assert.equal(refreshes(app).length, before + 1);
        assert.deepEqual(await probe(await app.signedIn(browser)), SIGNED_IN);
      }
    },
  },
  {
    area: "refresh",
    title: "a fresh ID token that is wrong or another user's ends the session and switches no user",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const spoils = [
        () => (app.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, ...GRACE } })),
        () => (app.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, aud: "another-client" } })),
        () => (app.provider.mutateIdToken = ({ header, claims, sign }) => sign({ ...header, alg: "none" }, claims)),
        () => (app.provider.tokenResponse = (response) => ({ ...response, id_token: "not a token" })),
      ];
      for (const spoil of spoils) {
        const browser = await app.signedIn();
        pass(app, HOUR);
        spoil();
        assert.deepEqual(await probe(browser, "?details=true"), {
          ...SIGNED_OUT,
          reason: "refresh_rejected",
          account: null,
          ends_in: null,
          expires_in: 0,
          max_age_expires_in: null,
          idle_expires_in: null,
          session_expiry_expires_in: null,
        });
        app.provider.mutateIdToken = undefined;
        app.provider.tokenResponse = undefined;
      }
    },
  },
  {
    area: "refresh",
    title: "an outage of the provider gets 503 with Retry-After and signs no user out; the next request after it works",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const fault of OUTAGES) {
        pass(app, HOUR);
        app.provider.fault("token", { ...fault, times: 1 });
        const response = await browser.get(PROBE);
        assertRetryAfter(response);
        assert.deepEqual(response.json(), SIGNED_OUT);
        assert.match((await browser.navigate("/idpauth/")).text, /You are signed in/);
        // Longer than any back-off without a Retry-After, which doubles with each outage.
        pass(app, 61);
        assert.deepEqual(await probe(browser), SIGNED_IN, JSON.stringify(fault));
      }
    },
  },
  {
    area: "refresh",
    title: "an ID token that cannot be verified yet counts as an outage, and the rotated refresh token is stored",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      pass(app, HOUR);
      app.provider.mutateIdToken = ({ header, claims, sign }) => sign({ ...header, kid: "not published yet" }, claims);
      assertRetryAfter(await browser.get(PROBE));
      const rotated = app.newest("refresh_token");
      app.provider.mutateIdToken = undefined;
      pass(app, 61);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(refreshes(app).at(-1)?.params.get("refresh_token"), rotated);
    },
  },
  {
    area: "refresh",
    title: "a user waits for at most IDP_HTTP_TIMEOUT; the refresh continues in the background and is stored",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      pass(app, HOUR);
      const hold = app.provider.hold("token");
      const response = browser.get(PROBE);
      await hold.arrived;
      pass(app, 5);
      assertRetryAfter(await response);
      hold.release();
      await app.auth.idle();
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal(refreshes(app).length, 1);
    },
  },
  {
    area: "refresh",
    title: "a refresh never extends the maximum age, and none happens after it",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 1800 }, provider: { idTokenSeconds: 600 } });
      const browser = await app.signedIn();
      for (let waited = 600; waited <= 1800; waited += 600) {
        pass(app, 600);
        assert.deepEqual(await probe(browser), SIGNED_IN);
      }
      pass(app, 1);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      pass(app, 600);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assert.equal(refreshes(app).length, 3);
    },
  },
  {
    area: "refresh",
    title: "a refresh that is running when the maximum age ends does not extend it",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 1800, httpTimeout: 20 }, provider: { idTokenSeconds: 1795 } });
      const browser = await app.signedIn();
      pass(app, 1799);
      const hold = app.provider.hold("token");
      const response = browser.get(PROBE);
      await hold.arrived;
      pass(app, 3);
      hold.release();
      assert.deepEqual((await response).json(), SIGNED_OUT);
    },
  },
  {
    area: "refresh",
    title: "a refresh never extends an idle timeout that has passed, and counts as use",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionIdleTimeout: 600 }, provider: { idTokenSeconds: 300 } });
      const browser = await app.signedIn();
      pass(app, 600);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      pass(app, 600);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      pass(app, 601);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assert.equal(refreshes(app).length, 2);
    },
  },
  {
    area: "refresh",
    title: "a logout during a refresh wins: the session is not written back, and the new tokens are revoked",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const late = app.copyOf(browser);
      pass(app, HOUR);
      const hold = app.provider.hold("token", { before: false });
      const response = late.get(PROBE);
      await hold.arrived;
      assert.equal((await browser.get("/idpauth/logout/?response=json")).status, 200);
      hold.release();
      assert.deepEqual((await response).json(), SIGNED_OUT);
      await app.auth.idle();
      assert.deepEqual([await probe(late), await probe(browser)], [SIGNED_OUT, SIGNED_OUT]);
      assert.equal(app.provider.isActive(app.newest("refresh_token")), false);
    },
  },
];

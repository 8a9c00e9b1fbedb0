import assert from "node:assert/strict";
import type { CookieBrowser } from "../../../testing/browser/cookie-browser.js";
import type { StageOptions } from "../application-starter.js";
import {
  ACCEPTS_HTML,
  ADA,
  assertPage,
  assertRetryAfter,
  mediaType,
  ownCookies,
  probe,
  PROBE,
  SIGNED_IN,
  SIGNED_OUT,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const HOUR = 3600;

/** The ends of a session, and their names in the details. */
const ENDS: readonly (readonly [reason: string, start: StageOptions, seconds: number])[] = [
  ["max_age", { options: { sessionMaxAge: 1800 } }, 1801],
  ["idle", { options: { sessionIdleTimeout: 600 } }, 601],
  ["auto_refresh_off", { options: { sessionAutoRefresh: false } }, HOUR],
  ["no_refresh_token", { provider: { issueRefreshToken: false } }, HOUR],
];

export const probeRequirements: readonly AdapterRequirement[] = [
  {
    area: "probe",
    title: "the probe responds with 200 and exactly email, name and picture, or user null, for every Accept header",
    async check(starter) {
      const app = await starter.start();
      for (const [browser, body] of [
        [await app.signedIn(), SIGNED_IN],
        [app.browser(), SIGNED_OUT],
      ] as const) {
        for (const headers of [{}, ACCEPTS_HTML, { accept: "image/png" }]) {
          const response = await browser.get(PROBE, { headers });
          assert.deepEqual([response.status, mediaType(response), response.json()], [200, "application/json", body]);
        }
      }
    },
  },
  {
    area: "probe",
    title: "a claim that the provider never sent is null",
    core: true,
    async check(starter) {
      const app = await starter.start({ provider: { person: { sub: "grace-1906", name: "Grace Hopper", locale: "en" } } });
      const user = { email: null, name: "Grace Hopper", picture: null };
      assert.deepEqual(await probe(await app.signedIn()), { authenticated: true, user });
    },
  },
  {
    area: "probe",
    title: "names in every script arrive unchanged, in the probe and on the index page",
    async check(starter) {
      const name = 'Zoë 李 🦊 \u2028 "</script>';
      const app = await starter.start({ provider: { person: { sub: "zoe", name, email: "zoë@exämple.com" } } });
      const browser = await app.signedIn();
      assert.deepEqual((await probe(browser))["user"], { email: "zoë@exämple.com", name, picture: null });
      const page = await browser.navigate("/idpauth/");
      assertPage(page, 200, "Zoë 李 🦊", "zoë@exämple.com");
      assert.ok(page.text.trimEnd().endsWith("</html>"), "the page is cut off");
    },
  },
  {
    area: "probe",
    title: "a user who has only started a login is signed out",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      await app.approved(browser);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area: "probe",
    title: "a session is valid to the last second of its limits; an ended session comes back only by a new sign-in",
    core: true,
    async check(starter) {
      for (const [reason, start, seconds] of ENDS) {
        const app = await starter.start(start);
        const browser = await app.signedIn();
        app.clock.advance((seconds - 1) * 1_000);
        assert.deepEqual(await probe(browser, "?slide=false"), SIGNED_IN, reason);
        app.clock.advance(1_000);
        for (let time = 0; time < 2; time += 1) assert.deepEqual(await probe(browser), SIGNED_OUT, reason);
        assert.equal((await probe(browser, "?details=true"))["reason"], reason);
        assert.deepEqual(app.provider.requestsTo("token", { grant_type: "refresh_token" }), []);
        assert.deepEqual(await probe(await app.signedIn(browser)), SIGNED_IN);
      }
    },
  },
  {
    area: "probe",
    title: "if several limits have passed, the probe names the maximum age before the idle timeout, and both before the expired ID token",
    core: true,
    async check(starter) {
      const app = await starter.start({
        options: { sessionMaxAge: 1800, sessionIdleTimeout: 600, sessionAutoRefresh: false },
        provider: { idTokenSeconds: 300 },
      });
      const browser = await app.signedIn();
      for (const [seconds, reason] of [
        [301, "auto_refresh_off"],
        [300, "idle"],
        [1200, "max_age"],
      ] as const) {
        app.clock.advance(seconds * 1_000);
        assert.equal((await probe(browser, "?details=true"))["reason"], reason);
      }
    },
  },
  {
    area: "probe",
    title: "the probe of a signed-in user extends the idle timeout; that of an ended session does not",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionIdleTimeout: 600 } });
      const browser = await app.signedIn();
      for (let time = 0; time < 3; time += 1) {
        app.clock.advance(600_000);
        assert.deepEqual(await probe(browser), SIGNED_IN);
      }
      app.clock.advance(601_000);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area: "probe",
    title: "the probe with slide=false or by HEAD and the index page do not extend the idle timeout",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionIdleTimeout: 600 } });
      const browser = await app.signedIn();
      app.clock.advance(600_000);
      assert.deepEqual(await probe(browser, "?slide=false"), SIGNED_IN);
      assert.equal((await browser.get(PROBE, { method: "HEAD" })).status, 200);
      assert.equal((await browser.navigate("/idpauth/")).status, 200);
      app.clock.advance(1_000);
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
  {
    area: "probe",
    title: "other values of slide and details are ignored, also empty and repeated ones",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionIdleTimeout: 600 } });
      const browser = await app.signedIn();
      for (const query of [
        "slide=",
        "slide=no",
        "slide=0",
        "slide=false&slide=false",
        "details",
        "details=1",
        "details=true&details=true",
        "x=y",
      ]) {
        app.clock.advance(600_000);
        assert.deepEqual(await probe(browser, `?${query}`), SIGNED_IN, query);
      }
    },
  },
  {
    area: "probe",
    title: "details=true adds the reason and the seconds left of each limit, null for an absent limit",
    core: true,
    async check(starter) {
      const app = await starter.start({ options: { sessionMaxAge: 1800, sessionIdleTimeout: 600 } });
      const browser = await app.signedIn();
      const details = (expires: number | null, maxAge: number | null, idle: number | null, reason: string | null = null) => ({
        ...(reason === null ? SIGNED_IN : SIGNED_OUT),
        reason,
        // A refresh extends the ID token, so only the other limits end the session.
        ends_in: reason === null ? (idle ?? maxAge) : null,
        expires_in: expires,
        max_age_expires_in: maxAge,
        idle_expires_in: idle,
        session_expiry_expires_in: null,
      });
      const detailsOf = async (by: CookieBrowser, query = "?details=true") => {
        const { account, ...rest } = await probe(by, query);
        if (rest["authenticated"] === true) assert.match(String(account), /^[\w-]{43}$/);
        else assert.equal(account, null);
        return rest;
      };
      app.clock.advance(100_000);
      assert.deepEqual(await detailsOf(browser), details(3500, 1700, 600));
      app.clock.advance(50_000);
      assert.deepEqual(await detailsOf(browser, "?details=true&slide=false"), details(3450, 1650, 550));
      app.clock.advance(2_000_000);
      assert.deepEqual(await detailsOf(browser), details(1450, 0, 0, "max_age"));
      assert.deepEqual(await detailsOf(app.browser()), details(null, null, null, "no_credentials"));
      const unlimited = await starter.start();
      assert.deepEqual(await detailsOf(await unlimited.signedIn()), details(HOUR, null, null));
    },
  },
  {
    area: "probe",
    title: "the probe during a provider outage gets 503 with Retry-After and a body without a user, for every query",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.provider.fault("token", { kind: "status", status: 503, headers: { "Retry-After": "30" } });
      assert.deepEqual(await probe(browser), { authenticated: true, user: ADA }, "the ID token is still valid");
      app.clock.advance(HOUR * 1_000);
      for (const query of ["", "?details=true", "?slide=false"]) {
        const response = await browser.get(PROBE + query, { headers: ACCEPTS_HTML });
        assertRetryAfter(response);
        assert.deepEqual([mediaType(response), response.json(), ownCookies(response)], ["application/json", SIGNED_OUT, []]);
        assert.equal(response.headers["retry-after"], "30");
      }
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1, "the back-off was not kept");
      assert.deepEqual(await probe(app.browser()), SIGNED_OUT, "an outage does not concern who is signed out");
      app.provider.clearFaults();
      app.clock.advance(30_000);
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
];

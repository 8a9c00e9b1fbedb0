import assert from "node:assert/strict";
import { TestClock } from "../../../testing/test-clock.js";
import type { AdapterStage, StartedApplication } from "../stage.js";
import { WatchedStore } from "../watched-store.js";
import { ACCEPTS_JSON, assertPage, assertProblem, assertRedirect, assertRetryAfter, mediaType, probe, PROBE } from "./answers.js";
import { SIGNED_IN, SIGNED_OUT } from "./answers.js";
import type { AdapterRequirement } from "./requirement.js";

async function start(stage: AdapterStage): Promise<{ app: StartedApplication; store: WatchedStore }> {
  const clock = new TestClock();
  const store = new WatchedStore(clock);
  return { app: await stage.start({ clock, options: { store, debug: true } }), store };
}

export const storeOutageRequirements: readonly AdapterRequirement[] = [
  {
    area: "store outage",
    promise:
      "every endpoint is 503 with Retry-After, says neither signed out nor logged_out, touches no cookie, and all is as before afterwards",
    session: "bundled",
    async check(stage) {
      const { app, store } = await start(stage);
      const browser = await app.signedIn();
      const callback = await app.approved(browser);
      const asked = app.provider.requests.length;
      store.isAway = true;
      for (const target of [
        "/idpauth/",
        "/idpauth/login/",
        "/idpauth/logout/",
        "/idpauth/logout/?response=json",
        "/idpauth/debug",
        callback,
      ]) {
        const [page, document] = [await browser.navigate(target), await browser.get(target, { headers: ACCEPTS_JSON })];
        assertPage(page, 503, "store_unavailable");
        assertProblem(document, 503, "store_unavailable");
        for (const answer of [page, document]) {
          assertRetryAfter(answer);
          assert.deepEqual(answer.setCookies, [], target);
          assert.doesNotMatch(answer.text, /You are signed out|logged_out/);
        }
      }
      const probed = await browser.get(PROBE);
      assertRetryAfter(probed);
      assert.deepEqual([mediaType(probed), probed.json(), probed.setCookies], ["application/json", SIGNED_OUT, []]);
      assert.equal((await browser.get(PROBE, { method: "HEAD" })).status, 503);
      assert.deepEqual(
        app.provider.requests.slice(asked).map(({ endpoint }) => endpoint),
        [],
      );
      store.isAway = false;
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assertRedirect(await browser.navigate(callback), "/idpauth/");
    },
  },
  {
    area: "store outage",
    promise: "does not concern a visitor without a cookie, but for a login",
    session: "bundled",
    async check(stage) {
      const { app, store } = await start(stage);
      store.isAway = true;
      const browser = app.browser();
      assert.deepEqual(await probe(browser), SIGNED_OUT);
      assertPage(await browser.navigate("/idpauth/"), 200, "You are signed out");
      assert.deepEqual((await browser.get("/idpauth/logout/?response=json")).json(), { status: "logged_out" });
      assert.deepEqual(store.operations, []);
      const login = await browser.navigate("/idpauth/login/");
      assertPage(login, 503, "store_unavailable");
      assert.deepEqual(login.setCookies, []);
    },
  },
  {
    area: "store outage",
    promise: "that begins during a callback is 503 without a cookie, and revokes nothing",
    session: "bundled",
    async check(stage) {
      const { app, store } = await start(stage);
      const browser = app.browser();
      const callback = await app.approved(browser);
      const hold = app.provider.hold("token", { before: false });
      const answering = browser.navigate(callback);
      await hold.arrived;
      store.isAway = true;
      hold.release();
      const answer = await answering;
      assertPage(answer, 503, "store_unavailable");
      assertRetryAfter(answer);
      assert.deepEqual([answer.setCookies, app.provider.requestsTo("revoke")], [[], []]);
      store.isAway = false;
      assert.deepEqual(await probe(browser), SIGNED_OUT);
    },
  },
];

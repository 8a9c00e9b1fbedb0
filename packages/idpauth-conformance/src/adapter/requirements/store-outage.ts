import assert from "node:assert/strict";
import { TestClock } from "idpauth/testing";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { WatchedStore } from "../watched-store.js";
import {
  ACCEPTS_JSON,
  assertPage,
  assertProblem,
  assertRedirect,
  assertRetryAfter,
  mediaType,
  PROBE,
  probe,
  SAYS_SCRIPT,
} from "./assertions.js";
import { SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

async function start(
  starter: ApplicationStarter,
): Promise<{ app: StartedApplication; store: WatchedStore }> {
  const clock = new TestClock();
  const store = new WatchedStore(clock);
  return { app: await starter.start({ clock, options: { store, debug: true } }), store };
}

export const storeOutageRequirements: readonly AdapterRequirement[] = [
  {
    area: "store outage",
    title:
      "every endpoint gets 503 with Retry-After, reports no signed-out state, touches no cookie, and works as before afterwards",
    session: "bundled",
    async check(starter) {
      const { app, store } = await start(starter);
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
        const [page, document] = [
          await browser.navigate(target),
          await browser.get(target, { headers: { ...ACCEPTS_JSON, ...SAYS_SCRIPT } }),
        ];
        assertPage(page, 503, "store_unavailable");
        assertProblem(document, 503, "store_unavailable");
        for (const response of [page, document]) {
          assertRetryAfter(response);
          assert.deepEqual(response.setCookies, [], target);
          assert.doesNotMatch(response.text, /You are signed out|logged_out/);
        }
      }
      const probed = await browser.get(PROBE);
      assertRetryAfter(probed);
      assert.deepEqual(
        [mediaType(probed), probed.json(), probed.setCookies],
        ["application/json", SIGNED_OUT, []],
      );
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
];

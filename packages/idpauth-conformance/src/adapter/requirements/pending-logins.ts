import assert from "node:assert/strict";
import type { StartedApplication } from "../application-starter.js";
import { assertRedirect, probe, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const pageOf = (app: StartedApplication, tab: number) => `${app.origin}/page/${String(tab)}`;
const loginOf = (app: StartedApplication, tab: number) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: pageOf(app, tab) }).toString()}`;

export const pendingLoginRequirements: readonly AdapterRequirement[] = [
  {
    area: "pending logins",
    title: "two tabs can sign in at once, in any order, and each returns to its own page",
    async check(starter) {
      const app = await starter.start();
      for (const order of [
        [1, 2],
        [2, 1],
      ]) {
        const browser = app.browser();
        const callbacks = new Map([
          [1, await app.approved(browser, loginOf(app, 1))],
          [2, await app.approved(browser, loginOf(app, 2))],
        ]);
        for (const tab of order)
          assertRedirect(await browser.navigate(callbacks.get(tab) ?? ""), pageOf(app, tab));
        assert.deepEqual(await probe(browser), SIGNED_IN);
      }
    },
  },
  {
    area: "pending logins",
    title:
      "two tabs that return at the same moment both reach their own pages, and the user is signed in",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callbacks = [
        await app.approved(browser, loginOf(app, 1)),
        await app.approved(browser, loginOf(app, 2)),
      ];
      const hold = app.provider.hold("token", { count: 2 });
      const responses = callbacks.map((callback) => browser.navigate(callback));
      await hold.arrived;
      hold.release();
      for (const [index, response] of (await Promise.all(responses)).entries())
        assertRedirect(response, pageOf(app, index + 1));
      assert.deepEqual(await probe(browser), SIGNED_IN);
      // Some providers end the whole grant with one token.
      assert.deepEqual(app.provider.requestsTo("revoke"), []);
    },
  },
];

import assert from "node:assert/strict";
import type { StartedApplication } from "../application-starter.js";
import { assertPage, assertRedirect, probe, SIGNED_IN } from "./assertions.js";
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
        for (const tab of order) assertRedirect(await browser.navigate(callbacks.get(tab) ?? ""), pageOf(app, tab));
        assert.deepEqual(await probe(browser), SIGNED_IN);
      }
    },
  },
  {
    area: "pending logins",
    title: "a browser keeps eight pending logins; a ninth login ends the oldest",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callbacks: string[] = [];
      for (let tab = 1; tab <= 9; tab += 1) callbacks.push(await app.approved(browser, loginOf(app, tab)));
      assertPage(await browser.navigate(callbacks[0] ?? ""), 400, "login_link_invalid");
      assert.deepEqual(app.provider.requestsTo("token"), []);
      for (const tab of [9, 2]) assertRedirect(await browser.navigate(callbacks[tab - 1] ?? ""), pageOf(app, tab));
    },
  },
  {
    area: "pending logins",
    title: "each pending login lasts ten minutes from its own start, also when others start later",
    core: true,
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const first = await browser.navigate(loginOf(app, 1));
      app.clock.advance(1_000);
      const second = await browser.navigate(loginOf(app, 2));
      app.clock.advance(300_000);
      const third = await browser.navigate(loginOf(app, 3));
      app.clock.advance(299_000);
      const back = (response: { readonly location: string | undefined }) => app.provider.signInCode(response.location ?? "");
      assertPage(await browser.navigate(await back(first)), 400, "login_link_invalid");
      assertRedirect(await browser.navigate(await back(second)), pageOf(app, 2));
      assertRedirect(await browser.navigate(await back(third)), pageOf(app, 3));
    },
  },
  {
    area: "pending logins",
    title: "two tabs that return at the same moment both reach their own pages, and the user is signed in",
    async check(starter) {
      const app = await starter.start();
      const browser = app.browser();
      const callbacks = [await app.approved(browser, loginOf(app, 1)), await app.approved(browser, loginOf(app, 2))];
      const hold = app.provider.hold("token", { count: 2 });
      const responses = callbacks.map((callback) => browser.navigate(callback));
      await hold.arrived;
      hold.release();
      for (const [index, response] of (await Promise.all(responses)).entries()) assertRedirect(response, pageOf(app, index + 1));
      assert.deepEqual(await probe(browser), SIGNED_IN);
      // Some providers end the whole grant with one token.
      assert.deepEqual(app.provider.requestsTo("revoke"), []);
    },
  },
];

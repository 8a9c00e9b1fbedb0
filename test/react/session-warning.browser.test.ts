import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { bundle, startPageServer, type PageServer } from "./page-server.js";
import { openWarningPage, type WarningPage } from "./warning-page.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("SessionWarning", () => {
  let browser: Browser;
  let server: PageServer;
  let page: WarningPage;

  beforeAll(async () => {
    server = await startPageServer(await bundle("page/browser.ts"));
    browser = await launchChromium(executablePath!);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  afterEach(async () => {
    expect(page.complaints).toEqual([]);
    await page.tab.close();
  });

  const open: typeof openWarningPage extends (a: Browser, b: PageServer, ...rest: infer R) => unknown
    ? (...rest: R) => Promise<void>
    : never = async (...rest) => {
    page = await openWarningPage(browser, server, ...rest);
  };
  const focused = () =>
    page.tab.evaluate(() => {
      const { activeElement } = document;
      // Between the last and the first button, the focus is on the browser's own controls.
      if (activeElement === document.body) return "the browser";
      return activeElement?.id || activeElement?.textContent;
    });
  const activeTitle = (text: string | null) => expect.poll(() => page.title()).toBe(text);

  it.each([
    ["idle", { idle: 65, maxAge: 3600 }, ["Stay signed in", "Sign out"]],
    ["maximum age", { maxAge: 65, idle: 66 }, ["Sign in again", "Sign out", "Close"]],
    ["provider's own", { sessionExpiry: 65, idle: 66 }, ["Sign in again", "Sign out", "Close"]],
    ["ID token's, without a refresh token,", { idToken: 65, idle: 66 }, ["Sign in again", "Sign out", "Close"]],
  ])(
    "the %s limit: opens 60 seconds before the end, is exact at each second, and says when the session has ended",
    async (_name, limits, buttons) => {
      await open(limits);
      await page.run(4.999);
      await activeTitle(null);
      await page.run(0.001);
      for (let left = 60; left > 0; left -= 1) {
        await activeTitle(`Your session ends in ${left} s`);
        if (left === 60) expect(await page.buttons()).toEqual(buttons);
        await page.run(0.999);
        expect(await page.title()).toBe(`Your session ends in ${left} s`);
        await page.run(0.001);
      }
      await activeTitle("Your session has ended");
      expect(await page.buttons()).toEqual(["Sign in again", "Close"]);
    },
  );

  it("does not warn of an ID token that a refresh renews", async () => {
    await open({ idToken: 30, maxAge: 3600, end: 3600 });
    await page.run(120);
    await activeTitle(null);
  });

  it("is right after timers that did not run, as on a computer that slept", async () => {
    await open({ idle: 3600 });
    await page.tab.clock.fastForward(3_558_000);
    await activeTitle("Your session ends in 42 s");
    await page.tab.clock.fastForward(20_300);
    await activeTitle("Your session ends in 22 s");
    await page.run(0.7);
    await activeTitle("Your session ends in 21 s");
    await page.tab.clock.fastForward(7_200_000);
    await activeTitle("Your session has ended");
  });

  it("renders nothing between two seconds, and nothing at all before the warning", async () => {
    await open({ idle: 120 });
    const before = await page.tab.evaluate(() => {
      const count = { changes: 0 };
      new MutationObserver((records) => (count.changes += records.length)).observe(document.querySelector("dialog")!, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
      return Object.assign(globalThis, { count }).count.changes;
    });
    await page.run(59.9);
    expect(await page.tab.evaluate("count.changes")).toBe(before);
  });

  it("warnBefore moves the warning", async () => {
    await open({ idle: 200 }, { warning: { warnBefore: 120 } });
    await page.run(79.999);
    await activeTitle(null);
    await page.run(0.001);
    await activeTitle("Your session ends in 120 s");
  });

  it("by keyboard alone: the focus goes to the first button, stays in the dialog, and goes back to where it was", async () => {
    await open({ idle: 60 });
    await activeTitle("Your session ends in 60 s");
    expect(await focused()).toBe("Stay signed in");
    const visited = new Set<unknown>();
    for (let presses = 0; presses < 6; presses += 1) {
      await page.tab.keyboard.press("Tab");
      visited.add(await focused());
    }
    expect([...visited].filter((name) => !["Stay signed in", "Sign out", "the browser"].includes(String(name)))).toEqual([]);
    await page.tab.locator("button", { hasText: "Stay signed in" }).focus();
    await page.tab.keyboard.press("Enter");
    expect(await page.calls()).toEqual(["keepAlive"]);
    await page.tab.evaluate(() => fixture.client.settle(fixture.signedIn({ idle: 3600 })));
    await activeTitle(null);
    expect(await focused()).toBe("note");
  });
});

import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { startTestApplication, type TestApplication } from "./application.js";
import type { BrowserUser, Tab } from "./browser.js";
import { otherSiteScenarios } from "./other-sites.js";
import { chromiumForTests, IN_A_BROWSER, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("Chromium", IN_A_BROWSER, () => {
  let browser: Browser;
  let application: TestApplication;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    [browser, application] = await Promise.all([
      launchChromium(executablePath!),
      startTestApplication(),
    ]);
  }, 120_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
  });

  async function open(context: BrowserContext, url: string): Promise<Tab> {
    const page = await context.newPage();
    await page.goto(url);
    return {
      id: "",
      async goto(address) {
        await page.goto(address);
      },
      evaluate: (expression) => page.evaluate(expression),
      click: (selector) => page.click(selector),
      fill: (selector, text) => page.fill(selector, text),
      async back() {
        await page.goBack();
      },
      close: () => page.close(),
    };
  }

  otherSiteScenarios({
    async user() {
      const context = await browser.newContext();
      contexts.push(context);
      return { open: (url: string) => open(context, url) } as unknown as BrowserUser;
    },
    get application() {
      return application;
    },
  });
});

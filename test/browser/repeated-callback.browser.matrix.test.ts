import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { startTestApplication, type TestApplication } from "./application.js";
import { PATIENCE } from "./browser.js";
import { patientContext } from "./patient-context.js";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)(
  "a user signs in although the browser repeats the callback:",
  () => {
    let browser: Browser;
    let application: TestApplication;
    let context: BrowserContext;
    let tab: Page;

    beforeAll(async () => {
      [browser, application] = await Promise.all([
        launchChromium(executablePath!),
        startTestApplication(),
      ]);
    }, 120_000);
    afterAll(async () => {
      await browser.close();
      await application.stop();
    });
    beforeEach(async () => {
      context = await patientContext(browser);
      tab = await context.newPage();
      application.callbacks.length = 0;
      application.logins.length = 0;
    });
    afterEach(() => context.close());

    async function expectArrived(): Promise<void> {
      await expect.poll(() => tab.url(), PATIENCE).toBe(`${application.origin}/guarded`);
      expect(await tab.innerText("h1")).toBe("Guarded");
    }

    const callbacksThatArrived = () =>
      application.logins.filter(({ path }) => path === "/idpauth/login-callback").length;
    const requests = () =>
      [
        application.provider.requestsTo("authorize").length,
        application.provider.requestsTo("token").length,
      ] as const;

    /** Opens a guarded page. Returns a function that clicks the link on the provider's page. */
    async function atProvider(): Promise<() => Promise<void>> {
      application.askFirst();
      await tab.goto(`${application.origin}/guarded`);
      expect(await tab.innerText("h1")).toBe("Who is signing in?");
      const { x, y } = (await tab.locator("a").boundingBox())!;
      // `locator.click` would wait for the first click's navigation.
      return () => tab.mouse.click(x + 1, y + 1);
    }

    it("a second click at the provider comes while the code is exchanged, and the login begins again by itself", async () => {
      const click = await atProvider();
      const [authorizations, exchanges] = requests();
      const exchange = application.provider.hold("token");
      await click();
      await exchange.arrived;
      await click();
      await expect.poll(callbacksThatArrived, PATIENCE).toBe(2);
      exchange.release();
      await expectArrived();
      expect(application.callbacks).not.toContain(400);
      // Two clicks and the login that began by itself. The second click's code is never exchanged.
      expect(requests()).toEqual([authorizations + 3, exchanges + 2]);
    });

    it("a second click at the provider comes after the callback's response, and the user stays signed in", async () => {
      const click = await atProvider();
      const [authorizations, exchanges] = requests();
      const page = application.hangOnce("/guarded");
      await click();
      await page;
      await click();
      await expectArrived();
      expect(application.callbacks).toEqual([302, 302]);
      expect(requests()).toEqual([authorizations + 2, exchanges + 1]);
    });

    it("the connection breaks, and the user loads the page once more", async () => {
      application.loseCallback();
      let callback = "";
      tab.on("request", (request) => {
        if (request.url().includes("/login-callback?")) callback = request.url();
      });
      await tab.goto(`${application.origin}/guarded`).catch(() => undefined);
      expect(callback).not.toBe("");
      // On a connection that it has used before, Chromium itself repeats the request.
      if (!tab.url().endsWith("/guarded")) await tab.goto(callback);
      await expectArrived();
      expect(application.callbacks).not.toContain(400);
    });
  },
);

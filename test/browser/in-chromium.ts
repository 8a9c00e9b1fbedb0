import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { startTestApplication, type TestApplication } from "./application.js";
import type { BrowserUser, RunningBrowser } from "./browser.js";
import { startChromium } from "./chromium.js";
import type { Browsing } from "./scenarios.js";

/**
 * Runs scenarios in Chromium that need no https. Firefox and WebKit run all of theirs in one file.
 *
 * @param executablePath undefined: they are skipped
 */
export function inChromium(
  executablePath: string | undefined,
  scenarios: (browsing: Pick<Browsing, "user" | "application">) => void,
): void {
  describe.skipIf(executablePath === undefined)("Chromium", () => {
    let browser: RunningBrowser;
    let application: TestApplication;
    const users: BrowserUser[] = [];

    beforeAll(async () => {
      [browser, application] = await Promise.all([
        startChromium(executablePath!),
        startTestApplication(),
      ]);
    }, 120_000);
    afterEach(async () => {
      for (const user of users.splice(0)) await user.leave();
    });
    afterAll(async () => {
      await browser.stop();
      await application.stop();
    });

    scenarios({
      async user() {
        const user = await browser.newUser();
        users.push(user);
        return user;
      },
      get application() {
        return application;
      },
    });
  });
}

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests, IN_A_BROWSER, launchChromium } from "../support/chromium.js";
import { bundle, startPageServer, type PageServer } from "./page-server.js";
import { openWarningPage, shoot, type OpenOptions } from "./warning-page.js";

const executablePath = await chromiumForTests();

const SCREENS: readonly (readonly [string, OpenOptions])[] = [
  ["light", { colorScheme: "light", viewport: { width: 900, height: 600 } }],
  ["dark", { colorScheme: "dark", viewport: { width: 900, height: 600 } }],
  ["phone", { colorScheme: "light", viewport: { width: 320, height: 568 } }],
  ["forced-colors", { forcedColors: "active", viewport: { width: 900, height: 600 } }],
];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly failureSummary: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

describe.skipIf(executablePath === undefined)(
  "SessionWarning with its stylesheet",
  IN_A_BROWSER,
  () => {
    let browser: Browser;
    let server: PageServer;
    let axe: string;

    beforeAll(async () => {
      axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      server = await startPageServer(await bundle("page/browser.ts"));
      browser = await launchChromium(executablePath!);
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    it.each(SCREENS)(
      "%s: axe finds nothing in each state, and nothing scrolls sideways",
      async (screen, options) => {
        const { tab, run, title, complaints } = await openWarningPage(
          browser,
          server,
          { idle: 65 },
          options,
        );
        const check = async (state: string, shown: string) => {
          await expect.poll(title).toContain(shown);
          await tab.evaluate(
            "Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)",
          );
          await shoot(tab, `session-warning-${state}-${screen}`);
          const { violations, passes } = await tab.evaluate<AxeResult>("axe.run()");
          expect(
            violations.map(({ id, nodes }) => ({
              id,
              nodes: nodes.map((node) => node.failureSummary),
            })),
          ).toEqual([]);
          expect(passes.map(({ id }) => id)).toContain("aria-dialog-name");
          expect(
            await tab.evaluate(
              "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            ),
          ).toBeLessThanOrEqual(0);
          const sideways =
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))";
          expect(await tab.evaluate(sideways)).toBeLessThanOrEqual(0);
        };
        await tab.evaluate(axe);
        await run(23);
        await expect.poll(title).toBe("Your session ends in 42 s");
        // axe waits for timers.
        await tab.clock.resume();
        await check("stay", "Your session ends in");
        await tab.evaluate(() => fixture.client.set(fixture.signedIn({ maxAge: 60, idle: 70 })));
        await tab.getByRole("button", { name: "Sign in again" }).click();
        await tab.evaluate(() => fixture.client.settle());
        await tab.getByText("That failed. Try again.").waitFor();
        await check("again", "Your session ends in");
        await tab.evaluate(() => fixture.client.set(fixture.states["signed-out"]));
        await check("ended", "Your session has ended");
        expect(complaints).toEqual([]);
        await tab.close();
      },
    );

    it("moves only for users who accept motion", async () => {
      const animation = "getComputedStyle(document.querySelector('dialog')).animationName";
      const still = await openWarningPage(
        browser,
        server,
        { idle: 30 },
        { reducedMotion: "reduce" },
      );
      await expect.poll(still.title).toBe("Your session ends in 30 s");
      expect(await still.tab.evaluate(animation)).toBe("none");
      await still.tab.close();
      const moving = await openWarningPage(
        browser,
        server,
        { idle: 30 },
        { reducedMotion: "no-preference" },
      );
      await expect.poll(moving.title).toBe("Your session ends in 30 s");
      expect(await moving.tab.evaluate(animation)).toBe("session-warning");
      await moving.tab.close();
    });

    it("an application can give the dialog a class of its own", async () => {
      const page = await openWarningPage(
        browser,
        server,
        { idle: 30 },
        { warning: { className: "card wide" } },
      );
      await expect.poll(page.title).toBe("Your session ends in 30 s");
      expect(await page.tab.locator("dialog").getAttribute("class")).toBe("card wide");
      await page.tab.close();
    });
  },
);

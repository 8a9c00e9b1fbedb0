import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDemoProcess, type DemoProcess } from "../../scripts/demo-process.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

interface AxeResult {
  readonly violations: readonly { readonly id: string }[];
  readonly passes: readonly { readonly id: string }[];
}

/** A browser that opens no window after the 401, because the click was too long ago for it. */
const BLOCKS_FIRST_WINDOW = `{
  const { open } = window;
  window.open = () => {
    window.open = open;
    return null;
  };
}`;

/** What a user can click now. */
const USABLE = "main :not([inert]) > .button:visible";

/** What Chromium writes for each response with an error status, and for a connection that ends. */
const EXPECTED = "Failed to load resource: ";

const executablePath = await chromiumForTests();

describe.skipIf(executablePath === undefined)("the screen of the demo", () => {
  let browser: Browser;
  let demo: DemoProcess;
  let axe: string;

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    demo = await startDemoProcess("fleet.js");
    browser = await launchChromium(executablePath ?? "");
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    expect(await demo.end()).toMatchObject({ code: 0, left: [] });
  });

  it("every card does what it says", async () => {
    const complaints: string[] = [];
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(60_000);
    context.on("console", (message) => {
      if (!message.text().startsWith(EXPECTED)) complaints.push(message.text());
    });
    context.on("weberror", (error) => complaints.push(error.error().message));
    const page = await context.newPage();
    await page.addInitScript(BLOCKS_FIRST_WINDOW);
    const outcome = (card: string, text: RegExp) =>
      page.locator(`#${card} .outcome`).filter({ hasText: text }).waitFor();
    const click = (name: string) => page.getByRole("button", { name, exact: true }).click();

    await page.goto(`${demo.origin}/`);
    await page.getByText("You're signed out").waitFor();
    await expectAccessible(page);
    expect(await page.getByText("Sign in first.").count()).toBe(7);
    expect(await page.locator(USABLE).allInnerTexts()).toEqual(["Sign in"]);

    await click("Sign in");
    await page.getByRole("link", { name: "Customer account" }).click();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Emmy Noether" }).click();
    await page.getByText("Signed in as Emmy Noether").waitFor();
    expect(await page.locator("#sign-in dl").innerText()).toMatch(
      /User\s+Emmy Noether\s+Provider\s+customers\s+Signed in\s+\d+ seconds? ago\s+ID token\s+expires in [45] min \d+ s\s+Session ends\s+in .*\s+Cookies that scripts see\s+none/,
    );

    await click("Expire the token, send 200 requests");
    await outcome("race", /^200 of 200 succeeded, 1 token request at the provider, /);
    expect(await page.locator("#race .ok").count()).toBe(200);

    await click("Expire the token, send 200 requests, kill the process");
    await outcome("fleet", /^200 of 200 succeeded, 2 token requests at .* app-\d died /);

    await click("Transfer €100");
    await outcome("step-up", /^The transfer waits/);
    await click("Open the window");
    const window = await windowOf(context, page);
    // The session's provider, without a choice.
    await window.getByRole("link", { name: "Emmy Noether" }).click();
    await outcome("step-up", /^€100 transferred, because you signed in \d+ seconds? ago/);

    await page.getByRole("link", { name: "Show your sessions" }).click();
    await page.getByText("Chrome on Linux").first().waitFor();
    await page.goBack();

    await click("List orders");
    await outcome("orders", /access token of “emmy” and no cookie/);
    await click("Open a stream and a socket");
    await page.locator("#stream").filter({ hasText: "is on its way" }).waitFor();
    await page.locator("#socket").filter({ hasText: "pong" }).waitFor();
    await expectAccessible(page);

    for (const what of ["Stop the session store", "Stop the provider"]) {
      await click(what);
      await outcome("outage", /is down for 5 seconds/);
      await outcome(
        "outage",
        /^[1-9]\d* requests? got 503\. Then you were still signed in as Emmy/,
      );
    }

    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "Open a second tab" }).click();
    const second = await opened;
    await second.getByText("Signed in as Emmy Noether").waitFor();
    await expectAccessible(second);
    await second.getByRole("button", { name: "Sign out" }).click();
    await outcome("tabs", /^You signed out in another tab/);
    await outcome("orders", /^Both were closed, because you're signed out/);
    await second.close();

    await page.bringToFront();
    expect(await page.locator(USABLE).allInnerTexts()).toEqual(["Sign in"]);
    expect(complaints).toEqual([]);
    await context.close();
  }, 200_000);

  it.each(["light", "dark"] as const)(
    "it fits on a phone, and axe finds nothing there, %s",
    async (colorScheme) => {
      const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme });
      await page.goto(`${demo.origin}/`);
      await page.getByText("You're signed out").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      await expectAccessible(page);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Sign in");
      await page.close();
    },
  );

  async function expectAccessible(page: Page): Promise<void> {
    await page.evaluate(axe);
    const { violations, passes } = await page.evaluate<AxeResult>(
      // The page's policy doesn't let axe load the provider's stylesheet, which is the application's.
      "axe.run({ preload: false })",
    );
    expect(violations).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain("color-contrast");
  }
});

/** The popup window that the page opens. */
async function windowOf(context: BrowserContext, page: Page): Promise<Page> {
  const isOther = (one: Page): boolean => one !== page;
  return context.pages().find(isOther) ?? context.waitForEvent("page", isOther);
}

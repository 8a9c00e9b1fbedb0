import { readFileSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { startClientApplication, status, type ClientApplication } from "./client-application.js";

// The service worker of a progressive web app, between the page and idpauth.

const executablePath = await chromiumForTests();
const PAGE = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/how-to/single-page-applications.md"),
  "utf8",
);
/** The rule of the page docs/how-to/single-page-applications.md. */
const [, DENIED = ""] = /navigateFallbackDenylist: \[\/(.+?)\/\]/.exec(PAGE) ?? [];

describe.skipIf(executablePath === undefined)("behind a service worker", () => {
  let browser: Browser;
  let application: ClientApplication;
  let context: BrowserContext;
  let warnings: string[];

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    application = await startClientApplication({ events: true });
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
  });
  beforeEach(async () => {
    warnings = [];
    context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    context.on("console", (message) => {
      if (message.type() === "warning") warnings.push(message.text());
    });
  });
  afterEach(() => context.close());

  /** A page that the worker controls, of a user who is signed out. */
  async function open(denied: string): Promise<Page> {
    const tab = await context.newPage();
    const options = JSON.stringify({ events: true, probeInterval: 86_400 });
    await tab.goto(`${application.origin}/app?options=${encodeURIComponent(options)}`);
    await tab.evaluate(`(async () => {
      await navigator.serviceWorker.register("/service-worker.js?deny=" + ${JSON.stringify(encodeURIComponent(denied))});
      await navigator.serviceWorker.ready;
      if (navigator.serviceWorker.controller === null)
        await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    })()`);
    await tab.reload();
    await status(tab, "signed-out");
    return tab;
  }

  const signIn = (tab: Page) =>
    Promise.all([tab.waitForEvent("load"), tab.evaluate("void auth.signIn()")]);

  it("a navigation fallback hides the login, and the client says so", async () => {
    const tab = await open("");
    await signIn(tab);
    expect(new URL(tab.url()).pathname).toBe("/idpauth/login/");
    await status(tab, "signed-out");
    expect(warnings).toEqual([
      `${application.origin}/service-worker.js?deny= hides ${application.origin}/idpauth/login/.`,
    ]);
  });

  it("with the page's denylist, users sign in, and the session and the event stream pass the worker", async () => {
    expect(DENIED).not.toBe("");
    const tab = await open(DENIED);
    await signIn(tab);
    await status(tab, "signed-in");
    expect(new URL(tab.url()).pathname).toBe("/app");
    // The page's next probe is a day away, so only the event stream tells it of the end.
    await context.request.get(`${application.origin}/idpauth/logout/?response=json`);
    await status(tab, "signed-out");
    expect(warnings).toEqual([]);
  });
});

import type { BrowserContext, Page } from "playwright-core";
import { launchChromium } from "../support/chromium.js";
import type { BrowserCookie, BrowserUser, RunningBrowser, Tab } from "./browser.js";

// Chromium over playwright-core, for the scenarios that it has in common with Firefox and WebKit.

/** @param options.cachesPages keeps pages in the back/forward cache */
export async function startChromium(
  executablePath: string,
  options: { cachesPages?: boolean } = {},
): Promise<RunningBrowser> {
  const browser = await launchChromium(executablePath, options);
  return {
    version: `Chromium ${browser.version()}`,
    newUser: async () => new ChromiumUser(await browser.newContext({ ignoreHTTPSErrors: true })),
    stop: () => browser.close(),
  };
}

class ChromiumUser implements BrowserUser {
  readonly #context: BrowserContext;
  readonly #tabs = new Map<Page, Tab>();

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  async open(url: string): Promise<Tab> {
    const tab = this.#tabOf(await this.#context.newPage());
    await tab.goto(url);
    return tab;
  }

  tabs(): Promise<readonly Tab[]> {
    return Promise.resolve(this.#context.pages().map((page) => this.#tabOf(page)));
  }

  async cookies(tab: Tab): Promise<readonly BrowserCookie[]> {
    const cookies = await this.#context.cookies((await tab.evaluate("location.href")) as string);
    return cookies.map((cookie) => ({
      ...cookie,
      expires: cookie.expires < 0 ? undefined : cookie.expires,
    }));
  }

  leave(): Promise<void> {
    return this.#context.close();
  }

  #tabOf(page: Page): Tab {
    const known = this.#tabs.get(page) ?? chromiumTab(page, String(this.#tabs.size));
    this.#tabs.set(page, known);
    return known;
  }
}

function chromiumTab(page: Page, id: string): Tab {
  return {
    id,
    async goto(url) {
      await page.goto(url);
    },
    evaluate: (expression) => page.evaluate(expression),
    click: (selector) => page.click(selector),
    fill: (selector, text) => page.fill(selector, text),
    async back() {
      // The navigation must not take the page away before the command has ended.
      await page.evaluate("void setTimeout(() => history.back())");
    },
    close: () => page.close(),
  };
}

import {
  driverPackage,
  type BrowserCookie,
  type BrowserUser,
  type RunningBrowser,
  type Tab,
} from "./browser.js";

// Firefox over WebDriver BiDi, which puppeteer-core speaks. The package is only installed for these
// tests, so its types are written here.

interface Puppeteer {
  launch(options: object): Promise<Browser>;
}

interface Browser {
  version(): Promise<string>;
  createBrowserContext(): Promise<Context>;
  close(): Promise<void>;
}

interface Context {
  newPage(options: { readonly type: "window" }): Promise<Page>;
  pages(): Promise<Page[]>;
  cookies(): Promise<(Omit<BrowserCookie, "expires"> & { readonly expires: number })[]>;
  close(): Promise<void>;
}

interface Page {
  goto(url: string): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  click(selector: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts Firefox without a window. */
export async function startFirefox(executablePath: string): Promise<RunningBrowser> {
  const { default: puppeteer } = driverPackage("puppeteer-core") as { default: Puppeteer };
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath,
    headless: true,
    acceptInsecureCerts: true,
  });
  return {
    version: (await browser.version()).replace("firefox/", "Firefox "),
    newUser: async () => new FirefoxUser(await browser.createBrowserContext()),
    stop: () => browser.close(),
  };
}

class FirefoxUser implements BrowserUser {
  readonly #context: Context;
  readonly #tabs = new Map<Page, Tab>();

  constructor(context: Context) {
    this.#context = context;
  }

  async open(url: string): Promise<Tab> {
    // Another tab of the same window would be hidden.
    const tab = this.#tabOf(await this.#context.newPage({ type: "window" }));
    await tab.goto(url);
    return tab;
  }

  async tabs(): Promise<readonly Tab[]> {
    return (await this.#context.pages()).map((page) => this.#tabOf(page));
  }

  async cookies(tab: Tab): Promise<readonly BrowserCookie[]> {
    const { hostname } = new URL((await tab.evaluate("location.href")) as string);
    const cookies = await this.#context.cookies();
    return cookies
      .filter(({ domain }) => domain === hostname)
      .map((cookie) => ({ ...cookie, expires: cookie.expires < 0 ? undefined : cookie.expires }));
  }

  leave(): Promise<void> {
    return this.#context.close();
  }

  #tabOf(page: Page): Tab {
    const known = this.#tabs.get(page) ?? firefoxTab(page, String(this.#tabs.size));
    this.#tabs.set(page, known);
    return known;
  }
}

function firefoxTab(page: Page, id: string): Tab {
  return {
    id,
    async goto(url) {
      // While the response to a form still loads in the page or in a frame, Firefox can end another
      // navigation.
      await page.goto(url).catch(() => page.goto(url));
    },
    evaluate: (expression) => page.evaluate(expression),
    click: (selector) => page.click(selector),
    fill: (selector, text) => page.type(selector, text),
    async back() {
      await page.evaluate("void history.back()");
    },
    close: () => page.close(),
  };
}

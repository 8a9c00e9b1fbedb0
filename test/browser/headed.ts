import { driverPackage } from "./browser.js";
import { startScreen } from "./screen.js";

// Chromium and Firefox with windows, whose hidden tabs are hidden: a headless browser shows every
// tab. Playwright makes every page visible, so puppeteer-core drives both. The package is only
// installed for these tests, so its types are written here.

interface Puppeteer {
  launch(options: object): Promise<Browser>;
}

interface Browser {
  version(): Promise<string>;
  newPage(options: { readonly type: "tab" | "window" }): Promise<HeadedPage>;
  close(): Promise<void>;
}

export interface HeadedPage {
  goto(url: string): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  /** Switches the window to this tab. */
  bringToFront(): Promise<void>;
}

/** A browser with an empty profile. */
export interface HeadedBrowser {
  readonly version: string;
  /** Opens a tab in the window, or a window, in front of the others. */
  open(type: "tab" | "window", url: string): Promise<HeadedPage>;
  stop(): Promise<void>;
}

export interface HeadedPrograms {
  readonly browser: "chrome" | "firefox";
  readonly executablePath: string;
  readonly xvfb: string;
}

export async function startHeaded({
  browser: name,
  executablePath,
  xvfb,
}: HeadedPrograms): Promise<HeadedBrowser> {
  const { default: puppeteer } = driverPackage("puppeteer-core") as { default: Puppeteer };
  const screen = await startScreen(xvfb);
  const browser = await puppeteer.launch({
    browser: name,
    executablePath,
    headless: false,
    args: name === "chrome" ? ["--no-sandbox", "--disable-gpu", "--no-first-run"] : [],
    env: { ...process.env, DISPLAY: screen.display },
  });
  return {
    version: await browser.version(),
    async open(type, url) {
      const page = await browser.newPage({ type });
      await page.goto(url);
      return page;
    },
    async stop() {
      await browser.close();
      await screen.stop();
    },
  };
}

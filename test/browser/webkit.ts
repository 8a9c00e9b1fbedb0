import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import {
  driverPackage,
  type BrowserCookie,
  type BrowserUser,
  type RunningBrowser,
  type Tab,
} from "./browser.js";
import { startScreen } from "./screen.js";

// WebKitGTK's MiniBrowser over WebDriver, which selenium-webdriver speaks. The package is only
// installed for these tests, so its types are written here. MiniBrowser has no headless mode: Xvfb
// is its screen.

interface Selenium {
  readonly Builder: new () => Builder;
  readonly By: { css(selector: string): unknown };
}

interface Builder {
  usingServer(url: string): this;
  withCapabilities(capabilities: object): this;
  build(): PromiseLike<WebDriver>;
}

interface WebDriver {
  getCapabilities(): Promise<{ get(name: string): string }>;
  get(url: string): Promise<void>;
  executeScript(script: string): Promise<unknown>;
  findElement(
    by: unknown,
  ): Promise<{ click(): Promise<void>; sendKeys(text: string): Promise<void> }>;
  getAllWindowHandles(): Promise<string[]>;
  getWindowHandle(): Promise<string>;
  switchTo(): {
    window(handle: string): Promise<void>;
    newWindow(type: "tab" | "window"): Promise<void>;
  };
  manage(): {
    getCookies(): Promise<(Omit<BrowserCookie, "expires"> & { readonly expiry?: number })[]>;
  };
  close(): Promise<void>;
  quit(): Promise<void>;
}

/** Milliseconds for the end of a session. */
const QUIT_LIMIT = 10_000;

/** Starts a screen and WebKit's driver. */
export async function startWebKit({
  driver,
  xvfb,
}: {
  readonly driver: string;
  readonly xvfb: string;
}): Promise<RunningBrowser> {
  const selenium = driverPackage("selenium-webdriver") as Selenium;
  const screen = await startScreen(xvfb);
  const port = await freePort();
  const service = spawn(driver, [`--port=${String(port)}`], {
    stdio: "ignore",
    env: { ...process.env, DISPLAY: screen.display, LIBGL_ALWAYS_SOFTWARE: "1" },
  });
  const server = `http://127.0.0.1:${String(port)}`;
  await eventually(() => fetch(`${server}/status`));

  const newUser = async () => {
    // A session is a process of the browser, with a profile in memory. Awaited here: a session that
    // the driver never starts would otherwise reject where nothing handles it.
    const session = await new selenium.Builder()
      .usingServer(server)
      .withCapabilities({ browserName: "MiniBrowser", acceptInsecureCerts: true })
      .build();
    return { session, user: new WebKitUser(session, selenium.By) };
  };
  const { session, user } = await newUser();
  const version = `WebKitGTK ${(await session.getCapabilities()).get("browserVersion")}`;
  await user.leave();
  return {
    version,
    newUser: async () => (await newUser()).user,
    async stop() {
      service.kill();
      await once(service, "exit");
      await screen.stop();
    },
  };
}

class WebKitUser implements BrowserUser {
  readonly #session: WebDriver;
  readonly #by: Selenium["By"];
  readonly #tabs = new Map<string, Tab>();
  #isNew = true;
  /** A command works on the session's current window, so commands wait for each other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: WebDriver, by: Selenium["By"]) {
    this.#session = session;
    this.#by = by;
  }

  async open(url: string): Promise<Tab> {
    const handle = await this.#inTurn(async () => {
      // The session has a window already. A new tab of the same window would be hidden.
      if (!this.#isNew) await this.#session.switchTo().newWindow("window");
      this.#isNew = false;
      return this.#session.getWindowHandle();
    });
    const tab = this.#tabOf(handle);
    await tab.goto(url);
    return tab;
  }

  async tabs(): Promise<readonly Tab[]> {
    const handles = await this.#inTurn(() => this.#session.getAllWindowHandles());
    return handles.map((handle) => this.#tabOf(handle));
  }

  cookies(tab: Tab): Promise<readonly BrowserCookie[]> {
    return this.#inWindow(tab.id, async () =>
      (await this.#session.manage().getCookies()).map(({ expiry, ...cookie }) => ({
        ...cookie,
        expires: expiry,
      })),
    );
  }

  /**
   * Does not wait for the other commands: one that hangs must not keep the next scenario from
   * starting.
   */
  async leave(): Promise<void> {
    await Promise.race([
      this.#session.quit().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, QUIT_LIMIT).unref()),
    ]);
  }

  #tabOf(handle: string): Tab {
    const known = this.#tabs.get(handle) ?? this.#newTab(handle);
    this.#tabs.set(handle, known);
    return known;
  }

  #newTab(id: string): Tab {
    const session = this.#session;
    const element = (selector: string) => session.findElement(this.#by.css(selector));
    return {
      id,
      goto: (url) => this.#inWindow(id, () => session.get(url)),
      evaluate: (expression) =>
        this.#inWindow(id, () => session.executeScript(`return (${expression})`)),
      click: (selector) => this.#inWindow(id, async () => (await element(selector)).click()),
      fill: (selector, text) =>
        this.#inWindow(id, async () => (await element(selector)).sendKeys(text)),
      back: () =>
        this.#inWindow(id, async () => {
          await session.executeScript("history.back()");
        }),
      close: () => this.#inWindow(id, () => session.close()),
    };
  }

  #inWindow<Result>(handle: string, command: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      await this.#session.switchTo().window(handle);
      return command();
    });
  }

  #inTurn<Result>(command: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(command);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

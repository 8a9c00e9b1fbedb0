import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { SessionWarningProps } from "../../src/react/react.js";
import type { Limits } from "./page/fake-client.js";
import type { PageServer } from "./page-server.js";

/** Any time: the page's clock stands still there, and the tests move it. */
const NOON = Date.UTC(2026, 0, 1, 12);

export interface WarningPage {
  readonly tab: Page;
  /** What the page wrote to the console. */
  readonly complaints: readonly string[];
  /** Lets the page's timers run for this many seconds, each in its turn. */
  run(seconds: number): Promise<void>;
  /** What the title says; null while the dialog is closed. */
  title(): Promise<string | null>;
  /** The labels of the buttons. */
  buttons(): Promise<string[]>;
  calls(): Promise<string[]>;
}

export type OpenOptions = BrowserContextOptions & { readonly warning?: SessionWarningProps };

/**
 * Opens the page with a user whose session has these limits, in seconds. The focus is in the field.
 */
export async function openWarningPage(
  browser: Browser,
  server: PageServer,
  limits: Limits,
  { warning, ...options }: OpenOptions = {},
): Promise<WarningPage> {
  const tab = await browser.newPage(options);
  const complaints: string[] = [];
  tab.on("console", (message) => {
    if (!message.text().includes("Download the React DevTools")) complaints.push(message.text());
  });
  tab.on("pageerror", (error) => complaints.push(error.message));
  await tab.clock.install({ time: NOON });
  await tab.goto(server.url());
  await tab.clock.pauseAt(NOON + 3_600_000);
  await tab.evaluate(([one, props]) => fixture.start(fixture.signedIn(one), props), [
    limits,
    warning,
  ] as const);
  await tab.locator("#note").focus();
  return {
    tab,
    complaints,
    run: (seconds) => tab.clock.runFor(seconds * 1000),
    title: () => tab.evaluate(() => document.querySelector("dialog[open] h2")?.textContent ?? null),
    buttons: () => tab.locator("dialog[open] button").allTextContents(),
    calls: () => tab.evaluate(() => fixture.client.calls),
  };
}

/** Only when asked for: SCREENSHOTS names the folder. */
export async function shoot(tab: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await tab.screenshot({ path: path.join(folder, `${name}.png`) });
}

import { createRequire } from "node:module";
import path from "node:path";
import { expect } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";

// Firefox and WebKit have drivers of their own. This is the part that the scenarios use, alike in
// both.

/**
 * How long a scenario waits for what a page shows. A busy machine takes ten times as long as an
 * idle one.
 */
export const PATIENCE = { timeout: 30_000 };

/** A browser that runs. One user at a time uses it. */
export interface RunningBrowser {
  /** Its name and version, as the browser itself says. */
  readonly version: string;
  /** Starts an empty profile. */
  newUser(): Promise<BrowserUser>;
  stop(): Promise<void>;
}

/** A user with a browser profile of their own. */
export interface BrowserUser {
  /** Opens a tab, which is visible. */
  open(url: string): Promise<Tab>;
  /** Every tab and window that is open, also those that a page opened. */
  tabs(): Promise<readonly Tab[]>;
  /** The cookies that the tab's page gets, also those that no script can read. */
  cookies(tab: Tab): Promise<readonly BrowserCookie[]>;
  /** Ends the profile and its tabs. */
  leave(): Promise<void>;
}

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: string;
  /** Seconds since the epoch; undefined: until the browser ends. */
  readonly expires: number | undefined;
}

export interface Tab {
  /** The same for the same tab. */
  readonly id: string;
  /** Resolves when the page, and every redirect on the way, is loaded. */
  goto(url: string): Promise<void>;
  /** Returns the expression's value, or what its promise resolves to, as JSON transports it. */
  evaluate(expression: string): Promise<any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- the test knows what it evaluates
  /** Clicks as a user does, so that the page may open a window. */
  click(selector: string): Promise<void>;
  /** Types into a field. */
  fill(selector: string, text: string): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

const DRIVERS = path.resolve(import.meta.dirname, "../recipes/browser-drivers");

/**
 * Installs the packages that drive the browsers. False: npm cannot reach its registry, and the
 * reason is on stderr.
 */
export function installDrivers(): Promise<boolean> {
  return installFramework(DRIVERS);
}

/** Loads a package that drives a browser. */
export function driverPackage(name: string): unknown {
  return createRequire(path.join(DRIVERS, "package.json"))(name);
}

export function urlOf(tab: Tab): Promise<string> {
  return tab.evaluate("location.href") as Promise<string>;
}

/** Waits until the tab is at this address and its page is loaded. */
export async function arriveAt(tab: Tab, url: string): Promise<void> {
  await expect
    .poll(() => tab.evaluate("document.readyState + ' ' + location.href"), PATIENCE)
    .toBe(`complete ${url}`);
}

/** Waits until the tab shows this heading. */
export async function showsHeading(tab: Tab, heading: string): Promise<void> {
  await expect
    .poll(() => tab.evaluate("document.querySelector('h1')?.innerText"), PATIENCE)
    .toBe(heading);
}

/** Waits for the tab or window that the action opens. */
export async function openedBy(user: BrowserUser, action: () => Promise<unknown>): Promise<Tab> {
  const before = new Set((await user.tabs()).map(({ id }) => id));
  await action();
  let opened: Tab | undefined;
  await expect
    .poll(async () => {
      opened = (await user.tabs()).find(({ id }) => !before.has(id));
      return opened !== undefined;
    }, PATIENCE)
    .toBe(true);
  return opened!;
}

/** Waits until the tab is closed, by whatever closes it. */
export async function expectClosed(user: BrowserUser, tab: Tab): Promise<void> {
  await expect
    .poll(async () => (await user.tabs()).map(({ id }) => id), PATIENCE)
    .not.toContain(tab.id);
}

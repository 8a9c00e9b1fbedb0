// Chromium, in which the providers' own pages are used as a user would.
import { existsSync } from "node:fs";

const PROGRAM = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";

/** @returns {string | undefined} how to get it, if it isn't here */
export function missingChromium() {
  return existsSync(PROGRAM)
    ? undefined
    : "Chromium is missing: install Debian's package chromium, or set CHROMIUM_PATH.";
}

/** @param {readonly string[]} [args] */
export async function startChromium(args = []) {
  // Loaded late: a command that only says what is missing needs none of it.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox", ...args] });
}

/**
 * A window of its own, with its own cookies. The providers' test certificates are accepted.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function newWindow(browser, options = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: "en-US",
    viewport: { width: 1100, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(20_000);
  return context;
}

import type { ClientOptions } from "../../src/client/client-interface.js";
import { Browser, type Tab } from "./browser.js";
import { ADA } from "./session-server.js";

/** A browser with one tab, in which Ada is signed in. */
export async function signedInTab(
  options: ClientOptions = {},
): Promise<{ browser: Browser; tab: Tab }> {
  const browser = new Browser();
  browser.server.signIn(ADA);
  const tab = browser.tab("tab", options);
  await browser.pass(1);
  return { browser, tab };
}

/** What a promise has become by now: its value, its error, or "pending". */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  const later = new Promise((resolve) => setImmediate(resolve, "pending"));
  return Promise.race([promise.catch((error: unknown) => error), later]);
}

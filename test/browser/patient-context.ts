import type { Browser, BrowserContext } from "playwright-core";

/** A new context that waits a minute for whatever a test asks of it. */
export async function patientContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext();
  context.setDefaultTimeout(60_000);
  return context;
}

/** The same, and what the browser complains about, such as the policy. */
export async function watchedContext(
  browser: Browser,
): Promise<{ context: BrowserContext; complaints: string[] }> {
  const context = await patientContext(browser);
  const complaints: string[] = [];
  context.on("console", (message) => complaints.push(message.text()));
  context.on("weberror", (error) => complaints.push(error.error().message));
  return { context, complaints };
}

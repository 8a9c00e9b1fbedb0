import type { CookieBrowser, FollowedResponse } from "../../src/testing/browser/cookie-browser.js";

/** Clicks on somebody on the embedded provider's page, and follows the way back. */
export async function choose(
  browser: CookieBrowser,
  page: FollowedResponse,
  person: string,
): Promise<FollowedResponse> {
  const action = new RegExp(`action="(/sign-in/[^"]+/${person})"`).exec(page.text)?.[1];
  if (action === undefined)
    throw new Error(`${person} cannot be chosen on ${page.url.href} (${String(page.status)})`);
  return browser.follow(new URL(action, page.url), { method: "POST" });
}

/**
 * @param {import("playwright-core").Page} page
 * @param {import("idpauth/testing").TestProvider} provider
 */
export async function warn(page, provider) {
  // #region warning
  provider.clock.advance(550_000); // IDP_SESSION_IDLE_TIMEOUT=600 leaves 50 seconds
  await page.waitForTimeout(2_100); // more than two seconds after the last response
  await page.evaluate('dispatchEvent(new Event("focus"))');
  await page.getByRole("button", { name: "Stay signed in" }).waitFor();
  // #endregion
}

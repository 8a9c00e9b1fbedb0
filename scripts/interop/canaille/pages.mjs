// Canaille's own pages: login, password and consent.

export const PASSWORD = "correct horse";
const CONSENT_PATH = "/oauth/authorize";

/**
 * @param {import("playwright-core").Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  await enterPassword(page, user);
  const accept = page.getByRole("button", { name: "Accept" });
  // Only a new client needs consent.
  if (new URL(page.url()).pathname === CONSENT_PATH) await accept.click();
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} user
 */
export async function enterPassword(page, user) {
  const { origin } = new URL(page.url());
  const login = page.getByRole("textbox", { name: "Login" });
  // A user whom it knows needs only the password.
  if (await login.isVisible()) {
    await login.fill(user);
    await page.getByRole("button", { name: "Continue" }).click();
  }
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.origin !== origin || url.pathname === CONSENT_PATH);
}

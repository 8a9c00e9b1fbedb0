// Glewlwyd's own pages: password, consent and logout.

/** Ada's and Grace's. */
export const PASSWORD = "correct horse";

/** @typedef {import("playwright-core").Page} Page */

/**
 * Signs in and allows, until the browser has left Glewlwyd, which skips what it knows of the user.
 *
 * @param {Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  const { origin } = new URL(page.url());
  const password = page.locator("#loginbut");
  const next = page.getByRole("button", { name: "Continue" });
  // The button for the consent is there before the scopes are, and then saves a consent to none.
  await password.or(next).first().waitFor();
  if (await password.isVisible()) await enterPassword(page, user);
  await next.waitFor();
  await allow(page);
  await next.click();
  await page.waitForURL((url) => url.origin !== origin);
}

/**
 * @param {Page} page
 * @param {string} user
 */
async function enterPassword(page, user) {
  const name = page.locator("#username");
  // Of a user that Glewlwyd knows, it asks only for the password.
  if (await name.isEnabled()) await name.fill(user);
  await page.locator("#password").fill(PASSWORD);
  await page.locator("#loginbut").click();
  await page.locator("#loginbut").waitFor({ state: "hidden" });
}

/** Gives the consent, if Glewlwyd asks for it. @param {Page} page */
async function allow(page) {
  const button = page.getByRole("button", { name: "Grant access" });
  if (!(await button.isVisible())) return;
  for (const scope of await page.getByRole("checkbox", { disabled: false }).all())
    await scope.check();
  await button.click();
  await button.waitFor({ state: "hidden" });
}

/** @param {Page} page where Glewlwyd asks whether to end the session */
export async function confirmLogout(page) {
  await logoutButton(page).click();
}

/**
 * The user logs out with the button of Glewlwyd's own login page.
 *
 * @param {Page} page
 * @param {{ origin: string }} server
 */
export async function logOutAtGlewlwyd(page, { origin }) {
  await page.goto(`${origin}/login.html`);
  await logoutButton(page).click();
  await page.getByText("You are disconnected").waitFor();
}

/**
 * The user revokes all tokens on Glewlwyd's own login page.
 *
 * @param {Page} page
 * @param {{ origin: string }} server
 */
export async function revokeAllTokens(page, { origin }) {
  await page.goto(`${origin}/login.html`);
  await page.locator("#logoutDropdown").click();
  await page.getByRole("link", { name: "Disconnect all tokens" }).click();
  await page.getByText("Disconnect successfull").waitFor();
}

/** Its name begins with the icon's character. @param {Page} page */
function logoutButton(page) {
  return page.locator("button", { hasText: /^Logout$/ });
}

// The project's login page, and the apps' own pages for consent, logout and tokens.

export const PASSWORD = "correct horse";
const LOGIN_PATH = "/login/";
const CONSENT_PATH = /^\/o\/authorize\/?$/;

/** @typedef {import("playwright-core").Page} Page */

/**
 * @param {Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  await enterPassword(page, user);
  if (!CONSENT_PATH.test(new URL(page.url()).pathname)) return;
  await page.getByRole("button", { name: "Authorize" }).click();
}

/**
 * Leaves the browser at the page that asks for the consent, if the provider wants it.
 *
 * @param {Page} page
 * @param {string} user
 */
export async function enterPassword(page, user) {
  // Not if Django knows the user.
  if (new URL(page.url()).pathname !== LOGIN_PATH) return;
  await page.getByLabel("Username").fill(user);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(({ pathname }) => pathname !== LOGIN_PATH);
}

/** @param {Page} page where the provider asks for the consent */
export async function refuseConsent(page) {
  await page.getByRole("button", { name: /^(?:Cancel|Decline)$/ }).click();
}

/** @param {Page} page */
export async function confirmLogout(page) {
  await page.getByRole("button", { name: "Logout" }).click();
}

/**
 * The user revokes the tokens of one application.
 *
 * @param {Page} page
 * @param {{ issuer: string, clientId: string }} at
 */
export async function revokeTokens(page, { issuer, clientId }) {
  await page.goto(`${issuer}/authorized_tokens/`);
  await page.getByRole("listitem").filter({ hasText: clientId }).getByText("revoke").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL((url) => url.pathname === "/o/authorized_tokens/");
}

// Uses the pages of the login and consent application, as a user would.
import { PASSWORD } from "./consent-application.mjs";

/** @typedef {import("playwright-core").Page} Page */

/**
 * Signs in and allows, until the browser has left the pages. Hydra skips the forms of users and
 * consents that it remembers.
 *
 * @param {Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  await signIn(page, user);
  await press(page, "/consent", "Allow");
}

/** Signs in and refuses the consent. @param {Page} page */
export async function refuseConsent(page) {
  await signIn(page, "ada");
  await press(page, "/consent", "Deny");
}

/** Confirms the logout. @param {Page} page */
export async function confirmLogout(page) {
  await press(page, "/logout", "Log out");
}

/**
 * @param {Page} page
 * @param {string} user
 */
async function signIn(page, user) {
  if (new URL(page.url()).pathname !== "/login") return;
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(PASSWORD);
  await press(page, "/login", "Sign in");
}

/**
 * Presses the button of the page with this path, and waits for the next page.
 *
 * @param {Page} page
 * @param {string} path
 * @param {string} name
 */
async function press(page, path, name) {
  if (new URL(page.url()).pathname !== path) return;
  await page.getByRole("button", { name }).click();
  await page.waitForURL((url) => url.pathname !== path);
}

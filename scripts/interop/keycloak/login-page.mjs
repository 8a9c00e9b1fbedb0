// Keycloak's own pages, used as a user would. One page may follow another: password, a required
// action, consent.
import { PASSWORD } from "./realm.mjs";

/** More pages than any sign-in has. */
const PAGES = 8;

/**
 * @typedef {object} SignIn
 * @property {string} [user] default "ada"
 * @property {string} [password]
 * @property {string} [newPassword] where Keycloak requires one
 * @property {() => string} [code] the one-time code, where Keycloak asks for one
 * @property {boolean} [remember] ticks "Remember me"
 * @property {"Yes" | "No"} [consent] default "Yes"
 */

/**
 * Uses Keycloak's pages until the browser has left them.
 *
 * @param {import("playwright-core").Page} page
 * @param {SignIn} [signIn]
 */
export async function signInAtKeycloak(page, signIn = {}) {
  const { origin } = new URL(page.url());
  for (let count = 0; count < PAGES; count += 1) {
    const { url, submit } = await fillIn(page, signIn);
    await Promise.all([page.waitForURL((next) => next.href !== url), submit()]);
    await page.waitForLoadState();
    if (new URL(page.url()).origin !== origin) return;
  }
  throw new Error(`Keycloak still shows ${await titleOf(page)} after ${PAGES} pages`);
}

/**
 * @param {import("playwright-core").Page} page
 * @returns {Promise<string>} the page's heading and Keycloak's message on it
 */
export async function titleOf(page) {
  const texts = await page
    .locator("#kc-page-title, #kc-error-message .instruction, [class*=alert__title]")
    .allInnerTexts();
  return texts.map((text) => text.trim()).join(": ");
}

/** @param {import("playwright-core").Page} page */
export async function confirmLogout(page) {
  await page.getByRole("button", { name: "Logout" }).click();
}

/**
 * @param {import("playwright-core").Page} page
 * @param {SignIn} signIn
 */
async function fillIn(page, signIn) {
  const { user = "ada", password = PASSWORD, consent = "Yes" } = signIn;
  const url = page.url();
  const button = (/** @type {string} */ name) => () =>
    page.getByRole("button", { name, exact: true }).click();
  const has = async (/** @type {string} */ selector) =>
    (await page.locator(selector).count()) > 0 && (await page.locator(selector).isVisible());
  if (await has("#password-new")) {
    const { newPassword = PASSWORD } = signIn;
    await page.locator("#password-new").fill(newPassword);
    await page.locator("#password-confirm").fill(newPassword);
    return { url, submit: button("Submit") };
  }
  if (await has("#otp")) {
    await page.locator("#otp").fill(signIn.code?.() ?? "");
    return { url, submit: button("Sign In") };
  }
  if (await has("#password")) {
    if (await has("#username")) await page.locator("#username").fill(user);
    await page.locator("#password").fill(password);
    if (signIn.remember === true) await page.getByLabel("Remember me").check();
    return { url, submit: button("Sign In") };
  }
  // The page that asks for the user first, of a realm with organizations.
  if (await has("#username")) {
    await page.locator("#username").fill(user);
    return { url, submit: button("Sign In") };
  }
  if (await has("#kc-oauth")) return { url, submit: button(consent) };
  throw new Error(`Keycloak shows a page that isn't known here: ${await titleOf(page)}`);
}

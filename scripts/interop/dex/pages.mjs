// Dex's own pages: password, consent and, since its sessions, logout.

/** Ada's and Grace's. */
export const PASSWORD = "correct horse";
/** The same with bcrypt, for the configuration. */
export const PASSWORD_HASH = "$2a$10$iyqHWn82s88P6ghPUYuK/u.eur05K7zBE6T115jzTYkxhARDvbbV2";
const CONSENT_PATH = "/dex/approval";

/**
 * Signs in and allows, until the browser has left Dex. With sessions, Dex skips the pages of a user
 * that it knows.
 *
 * @param {import("playwright-core").Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  const { origin, pathname } = new URL(page.url());
  if (pathname !== CONSENT_PATH) {
    await page.getByLabel("Email Address").fill(`${user}@example.com`);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Login" }).click();
    await page.waitForURL((url) => url.origin !== origin || url.pathname === CONSENT_PATH);
  }
  if (new URL(page.url()).origin !== origin) return;
  await page.getByRole("button", { name: "Grant Access" }).click();
  await page.waitForURL((url) => url.origin !== origin);
}

/**
 * Signs out at Dex, whose sessions must be on.
 *
 * @param {import("playwright-core").Page} page
 * @param {{ issuer: string }} server
 */
export async function logOutAtProvider(page, { issuer }) {
  await page.goto(`${issuer}/logout`);
  await page.getByRole("button", { name: "Log Out" }).click();
  await page.getByText("You have been successfully logged out.").waitFor();
}

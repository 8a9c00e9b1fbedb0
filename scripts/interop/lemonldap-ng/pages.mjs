// The portal's own pages: login, consent and logout.

/** @typedef {import("playwright-core").Page} Page */

/**
 * The demonstration backend's users have their name as their password.
 *
 * @param {Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  const renew = page.getByRole("button", { name: "Renew session" });
  // The portal asks whether a user whom it knows wants to sign in again.
  if (await renew.isVisible()) await renew.click();
  await page.getByPlaceholder("Login").fill(user);
  await page.getByPlaceholder("Password").fill(user);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByPlaceholder("Password").waitFor({ state: "detached" });
}

/** @param {Page} page where the portal asks for the consent or whether to log out */
export async function accept(page) {
  await page.getByRole("button", { name: "Accept" }).click();
}

/** @param {Page} page where the portal asks for the consent */
export async function refuse(page) {
  await page.getByRole("button", { name: "Refuse" }).click();
}

/**
 * The user logs out at the portal.
 *
 * @param {Page} page
 * @param {{ issuer: string }} server
 */
export async function logOut(page, { issuer }) {
  await page.goto(`${issuer}?logout=1`);
}

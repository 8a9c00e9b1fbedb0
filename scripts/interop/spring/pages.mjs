// Spring's own pages: login and consent.

const PASSWORD = "correct horse";

/**
 * @param {import("playwright-core").Page} page
 * @param {string} [user]
 */
export async function signInAtProvider(page, user = "ada") {
  await page.getByPlaceholder("Username").fill(user);
  await page.getByPlaceholder("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/login");
}

/** @param {import("playwright-core").Page} page where Spring asks for the consent */
export async function consent(page) {
  for (const scope of await page.getByRole("checkbox").all()) await scope.check();
  await page.getByRole("button", { name: "Submit Consent" }).click();
}

/** @param {import("playwright-core").Page} page where Spring asks for the consent */
export async function refuseConsent(page) {
  await page.getByRole("button", { name: "Cancel" }).click();
}

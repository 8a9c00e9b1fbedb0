// A user who doesn't give the consent.

/**
 * @param {object} step
 * @param {(page: import("playwright-core").Page) => Promise<void>} step.refuse leads from the
 *   provider's first page to the refusal, as grace
 * @param {(page: import("playwright-core").Page) => Promise<void>} [step.consent] does the same to the
 *   consent, with a provider that has not forgotten who the user is; default: not tried
 * @param {string} [step.key]
 * @param {string} [step.title]
 * @param {string} [step.error] what the application shows
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function consentRefusedStep({
  refuse,
  consent,
  key = "consent-refused",
  title = "A user who refuses consent is back in the application, signed out, and can try again.",
  error = "access_denied",
  application = {},
}) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab, origin }) => {
        const { page, probe, signIn, untilExpired, fetch } = await newTab();
        await page.goto(`${origin}/guarded`);
        await refuse(page);
        await page.waitForURL((url) => url.origin === origin);
        const shown = await page.locator("body").innerText();
        if (!shown.includes(error)) return `the page shows ${shown.slice(0, 200)}`;
        if ((await probe()).authenticated !== false) return "the user is signed in";
        if (consent === undefined) return signIn("grace");
        await page.goto(`${origin}/guarded`);
        await consent(page);
        await page.waitForURL(`${origin}/guarded`);
        await untilExpired();
        const { status } = await fetch("/api/session");
        return status === 200 ? undefined : `status ${status} after the first expiry`;
      }),
  };
}

// A sign-in, on the server's own pages.

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function signInStep({ key, title, application = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab }) => {
        const tab = await newTab();
        const before = await tab.fetch("/api/session");
        if (before.status !== 401) return `status ${before.status} before the sign-in`;
        await tab.signIn("ada");
        const shown = await tab.page.locator("#email").textContent();
        if (shown !== "ada@example.com") return `the guarded page shows ${shown}`;
        const { authenticated, user } = await tab.probe();
        if (authenticated !== true || user?.email !== "ada@example.com")
          return `the probe: authenticated ${authenticated}, email ${user?.email}`;
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} after the first expiry`;
      }),
  };
}

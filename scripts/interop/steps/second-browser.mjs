// One user in two browsers.

/**
 * @param {object} [step]
 * @param {string} [step.key]
 * @param {string} [step.title]
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function secondBrowserStep({
  key = "second-browser",
  title = "The user signs in again in another browser; the first session still refreshes.",
  application = {},
} = {}) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab }) => {
        const [first, second] = [await newTab(), await newTab()];
        await first.signIn();
        await second.signIn();
        await second.untilExpired();
        const { status: newer } = await second.fetch("/api/session");
        if (newer !== 200) return `status ${newer} in the second browser`;
        const { status } = await first.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} in the first browser`;
      }),
  };
}

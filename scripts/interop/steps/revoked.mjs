// What the provider has ended by itself.

/**
 * @typedef {object} Given
 * @property {import("../servers.mjs").Stage} stage
 * @property {string} clientId
 * @property {import("playwright-core").Page} page ada's
 */

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {(given: Given) => Promise<void>} step.revoke what ends ada's refresh token
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function revokedStep({ key, title, revoke, application = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab, env }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn("ada");
        await other.signIn("grace");
        await revoke({ stage, clientId: env["IDP_CLIENT_ID"] ?? "", page: tab.page });
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        if (status !== 401) return `status ${status} after the next expiry`;
        const { status: untouched } = await other.fetch("/api/session");
        return untouched === 200 ? undefined : `status ${untouched} for another user`;
      }),
  };
}

/**
 * @param {import("../servers.mjs").Step} step that changes something at the server
 * @param {(server: any) => Promise<void>} restore puts it back, however the step went
 * @returns {import("../servers.mjs").Step}
 */
export function restoredStep({ run, ...step }, restore) {
  return { ...step, run: (stage) => run(stage).finally(() => restore(stage.server)) };
}

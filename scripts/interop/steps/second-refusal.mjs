// A refresh token that the provider refuses with a response which could also mean something else.
import { eventually } from "../application/tab.mjs";

/** Longer than idpauth waits before it tries again. */
const LIMIT_SECONDS = 60;

/**
 * @param {object} step
 * @param {string} step.title
 * @param {string} step.otherUser who signs in in the second browser, and whose session continues
 * @param {(page: import("playwright-core").Page, server: any) => Promise<void>} [step.revoke] what
 *   ends ada's refresh token; default: the second sign-in
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function secondRefusalStep({
  title,
  otherUser,
  revoke = async () => undefined,
  application = {},
}) {
  return {
    key: "second-refusal",
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab }) => {
        const [first, second] = [await newTab(), await newTab()];
        await first.signIn("ada");
        await second.signIn(otherUser);
        await revoke(first.page, stage.server);
        await first.untilExpired();
        const { status: refused } = await first.fetch("/api/session");
        if (refused !== 503) return `status ${refused} at the next refresh`;
        let status = refused;
        await eventually(async () => {
          await second.untilExpired();
          const { status: newer } = await second.fetch("/api/session");
          if (newer !== 200) throw new Error(`status ${newer} in the second browser`);
          ({ status } = await first.fetch("/api/session"));
          return status !== 503;
        }, LIMIT_SECONDS);
        return status === 401 ? undefined : `status ${status} in the end`;
      }),
  };
}

// What a logout does to the tokens at the provider.
import { eventually } from "../application/tab.mjs";

/** Longer than the request, and a look into the record, take. */
const LIMIT_SECONDS = 30;

/**
 * @param {object} [step]
 * @param {string} [step.key]
 * @param {string} [step.title]
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step} for a server with `revocations()`, which counts the tokens
 *   that it has revoked
 */
export function revocationStep({
  key = "revocation",
  title = "A logout revokes the refresh token, as the provider's own record shows.",
  application = {},
} = {}) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab, origin, log }) => {
        const { revocations } = stage.server;
        const tab = await newTab();
        await tab.signIn("ada");
        const before = await revocations();
        await tab.page.goto(`${origin}/idpauth/logout/`);
        const failure = () => log().find(({ details }) => details?.["endpoint"] === "revocation");
        await eventually(
          async () => failure() !== undefined || (await revocations()) > before,
          LIMIT_SECONDS,
        );
        const { status, error } = failure()?.details ?? {};
        return failure() && `the revocation fails with status ${status}, ${error}`;
      }),
  };
}

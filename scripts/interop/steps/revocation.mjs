// What a logout does to the tokens at the provider.
import { eventually } from "../application/tab.mjs";
import { withRecorder } from "../application/token-recorder.mjs";
import { refreshByHand } from "./refresh-tokens.mjs";

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

/**
 * @param {{ title: string }} step
 * @returns {import("../servers.mjs").Step} for a server that gives an application nothing to revoke
 *   tokens with
 */
export function notRevokedStep({ title }) {
  return {
    key: "not-revoked",
    title,
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab, origin, env }, { issued, provider }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.page.goto(`${origin}/idpauth/logout/`);
        if ((await tab.fetch("/api/session")).status !== 401) return "the session continues";
        const { status, error } = await refreshByHand(provider, env, issued.at(-1));
        return status === 200 ? undefined : `the provider answers ${status} ${error}`;
      }),
  };
}

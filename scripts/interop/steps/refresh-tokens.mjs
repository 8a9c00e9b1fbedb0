// Refresh tokens that a thief uses, or whose successor is lost on its way.
import { withRecorder } from "../application/token-recorder.mjs";
import { wrongStatusAfterExpiry } from "../status-after-expiry.mjs";

/**
 * @typedef {object} TokenStep
 * @property {string} key
 * @property {string} title
 * @property {200 | 401} status of the session afterwards
 * @property {string} [error] with which the provider refuses a used token; default: invalid_grant;
 *   `none`: its response has no body
 * @property {import("../application/start.mjs").ApplicationOptions} [application]
 */

/**
 * Somebody sends a refresh token that the application has used.
 *
 * @param {TokenStep} step
 * @returns {import("../servers.mjs").Step} for a server that rotates refresh tokens
 */
export function usedTokenStep({ key, title, status: expected, application = {}, ...step }) {
  return {
    key,
    title,
    run: (stage) =>
      withRecorder(stage, application, async ({ newTab, env }, { issued, provider }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        await tab.fetch("/api/session");
        const { status, error } = await refreshByHand(provider, env, issued[0]);
        if (status !== 400 || error !== (step.error ?? "invalid_grant"))
          return `the provider answers ${status} ${error} to the used token`;
        return wrongStatusAfterExpiry(tab, expected);
      }),
  };
}

/**
 * The application doesn't get the response to a refresh.
 *
 * @param {TokenStep} step
 * @returns {import("../servers.mjs").Step}
 */
export function lostResponseStep({ key, title, status, application = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      withRecorder(stage, application, async ({ newTab }, { loseNext }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        loseNext();
        return wrongStatusAfterExpiry(tab, status);
      }),
  };
}

/**
 * @param {string} endpoint
 * @param {Record<string, string>} env of an application that uses `client_secret_post`
 * @param {import("../application/token-recorder.mjs").Issued | undefined} issued
 * @returns {Promise<{ status: number, error: string | undefined }>} `error`: `none` without a body
 */
export async function refreshByHand(endpoint, env, issued) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: issued?.refresh_token ?? "",
    client_id: env["IDP_CLIENT_ID"] ?? "",
    client_secret: env["IDP_CLIENT_SECRET"] ?? "",
  });
  const response = await fetch(endpoint, { method: "POST", body });
  const text = await response.text();
  const { error } = /** @type {{ error?: string }} */ (JSON.parse(text || '{"error":"none"}'));
  return { status: response.status, error };
}

// What Dex's release is asked for.
import { seconds } from "../application/tab.mjs";
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutHereStep } from "../steps/logout.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { restoredStep, revokedStep } from "../steps/revoked.mjs";
import { secondBrowserStep } from "../steps/second-browser.mjs";
import { secondRefusalStep } from "../steps/second-refusal.mjs";
import { signInEncodedStep, signInPostStep } from "../steps/sign-in.mjs";
import { signingKeyStep } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { withSettings } from "../steps/with-settings.mjs";

/** @typedef {import("../servers.mjs").Step} Step */

/** What idpauth makes of a refresh token that Dex doesn't know any more. */
export const INVALID_REQUEST =
  "Dex answers the refresh with `invalid_request` instead of `invalid_grant`, which could also be a fault of the request. The user gets a link to sign in again, and idpauth ends the session at a second such response, if another refresh has succeeded in between.";
/** Dex accepts a refresh token once. */
export const NO_REUSE = { reuseInterval: "0s" };

/** @type {readonly Step[]} */
export const steps = [
  checkLiveStep({ expectedCodes: ["W101"] }),
  signInPostStep(),
  signInEncodedStep(),
  refreshRaceStep(),
  killedProcessStep(),
  withSettings(
    NO_REUSE,
    usedTokenStep({
      key: "reuse-by-thief",
      title:
        "Without `reuseInterval`, somebody sends a refresh token that has been used. Dex refuses it with `invalid_request`, but revokes nothing: the session continues.",
      status: 200,
      error: "invalid_request",
    }),
  ),
  lostWithoutReuse(),
  lostResponseStep({
    key: "lost-response-reuse",
    title:
      "With `reuseInterval: 60s`, the response to a refresh is lost: Dex accepts the same token once more, and the session continues.",
    status: 200,
  }),
  {
    ...secondBrowserStep(),
    expected: "status 503 in the first browser",
    reason: `Dex keeps one refresh token for each user and client, so the second sign-in deletes the first browser's, and \`reuseInterval\` doesn't help. ${INVALID_REQUEST}`,
  },
  secondRefusalStep({
    title:
      "The user signs in again in another browser: the first session gets 503 at its next refresh, and ends with 401 when Dex refuses it a second time. The second session continues.",
    otherUser: "ada",
  }),
  withSettings(NO_REUSE, {
    ...userRemovedStep(),
    expected: "status 503 after the next expiry",
    reason:
      "Dex answers the refresh with the status 500, which could also be an outage, so the user gets 503 and a link to sign in again. Within `reuseInterval`, Dex doesn't look up the user.",
  }),
  {
    ...maxAgeStep(),
    expected: "idpauth's page: The identity provider did not confirm your identity again",
    reason:
      "Dex asks for the password at each sign-in, but sends no `auth_time`, so idpauth answers with 403 `step_up_failed`.",
  },
  logoutHereStep(),
  newSigningKeyStep(async (server) => {
    await seconds(server.keySeconds);
    await server.restart();
  }),
  stoppedStep({ name: "Dex", start: (server) => server.start() }),
];

/** @returns {Step} */
export function lostWithoutReuse() {
  return withSettings(NO_REUSE, {
    ...lostResponseStep({
      key: "lost-response",
      title:
        "Without `reuseInterval`, the response to a refresh is lost, after Dex has replaced the token: the session ends with 401.",
      status: 401,
    }),
    expected: "status 503",
    reason: INVALID_REQUEST,
  });
}

/**
 * @param {(server: any) => Promise<void>} replace
 * @returns {Step}
 */
export function newSigningKeyStep(replace) {
  return signingKeyStep({
    key: "new-signing-key",
    title:
      "Dex replaces its signing key, as it does every six hours: the next refresh and the next sign-in succeed.",
    replace,
  });
}

/** @returns {Step} */
export function userRemovedStep() {
  const step = revokedStep({
    key: "user-removed",
    title: "An administrator removes a user: that session ends after the next expiry, no other.",
    revoke: ({ stage }) => stage.server.removeUser("ada"),
  });
  return restoredStep(step, (server) => server.restoreUsers());
}

// Refreshes, and what becomes of a session when Glewlwyd refuses one.
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { restoredStep, revokedStep } from "../steps/revoked.mjs";
import { secondRefusalStep } from "../steps/second-refusal.mjs";
import { withSettings } from "../steps/with-settings.mjs";
import { revokeAllTokens } from "./pages.mjs";

/** @typedef {import("../servers.mjs").Step} Step */

/** What idpauth makes of a refresh token that Glewlwyd refuses. */
const NO_ERROR =
  "Glewlwyd refuses the refresh with 400 and without `invalid_grant`, which could also be a fault of the request. The user gets a link to sign in again, and idpauth ends the session at a second such response, if another refresh has succeeded in between.";
/** Parameters of the plugin with which a refresh token works again and again. */
export const REUSABLE = { "refresh-token-one-use": "never" };
const race = refreshRaceStep({}, 1);

/** @type {readonly Step[]} */
export const TOKEN_STEPS = [
  refreshRaceStep(),
  withSettings(REUSABLE, {
    ...race,
    key: "refresh-race-reusable",
    title: `With \`refresh-token-one-use: never\`: ${race.title}`,
  }),
  killedProcessStep(),
  {
    ...usedTokenStep({
      key: "used-token",
      title:
        "Somebody sends a refresh token that has been used. Glewlwyd revokes its successor, and the session ends with 401 at its next refresh.",
      status: 401,
      error: "none",
    }),
    expected: "status 503",
    reason: NO_ERROR,
  },
  {
    ...lostResponseStep({
      key: "lost-response",
      title:
        "The response to a refresh is lost. Glewlwyd takes the next attempt for a theft, and the session ends with 401.",
      status: 401,
    }),
    expected: "status 503",
    reason: NO_ERROR,
  },
  withSettings(
    REUSABLE,
    lostResponseStep({
      key: "lost-response-reusable",
      title:
        "With `refresh-token-one-use: never`, the response to a refresh is lost: the same token works again, and the session continues.",
      status: 200,
    }),
  ),
  {
    ...revokedStep({
      key: "tokens-revoked",
      title:
        "The user revokes all tokens on Glewlwyd's page: that session ends after the next expiry, no other.",
      revoke: ({ stage, page }) => revokeAllTokens(page, stage.server),
    }),
    expected: "status 503 after the next expiry",
    reason: NO_ERROR,
  },
  secondRefusalStep({
    title:
      "The user revokes all tokens on Glewlwyd's page: the session gets 503 at its next refresh, and ends with 401 when Glewlwyd refuses it a second time. Another user's session continues.",
    otherUser: "grace",
    revoke: revokeAllTokens,
  }),
  {
    ...adaStep(
      {
        key: "user-disabled",
        title: "An administrator disables a user: the session ends after the next expiry.",
        revoke: ({ stage }) => stage.server.setEnabled("ada", false),
      },
      (server) => server.setEnabled("ada", true),
    ),
    expected: "status 200 after the next expiry",
    reason: "Glewlwyd goes on refreshing the tokens of a user whom it no longer lets sign in.",
  },
  {
    ...adaStep(
      {
        key: "user-removed",
        title:
          "An administrator removes a user: that session ends after the next expiry, no other.",
        revoke: ({ stage }) => stage.server.removeUser("ada"),
      },
      (server) => server.restoreUser("ada"),
    ),
    expected: "status 503 after the next expiry",
    reason:
      "Glewlwyd answers the refresh with the status 500, which could also be an outage, so the user gets 503 and a link to sign in again.",
  },
];

/**
 * @param {Parameters<typeof revokedStep>[0]} step about ada's account
 * @param {(server: any) => Promise<void>} restore
 * @returns {Step}
 */
function adaStep(step, restore) {
  return restoredStep(revokedStep(step), restore);
}

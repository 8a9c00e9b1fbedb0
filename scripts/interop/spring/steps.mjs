// What Spring Authorization Server is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { consentRefusedStep } from "../steps/consent-refused.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { frozenStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { revocationStep } from "../steps/revocation.mjs";
import { restoredStep, revokedStep } from "../steps/revoked.mjs";
import {
  bareSignInStep,
  signInEncodedStep,
  signInKeyStep,
  signInPostStep,
  signInPushedStep,
} from "../steps/sign-in.mjs";
import { keyRotationSteps } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { consent, refuseConsent, signInAtProvider } from "./pages.mjs";

/** Life of refresh tokens in the steps about it: more than two refreshes, in seconds. */
const REFRESH_SECONDS = 15;

const ROTATING = { client: { rotate: true } };
const race = refreshRaceStep(ROTATING, 1);

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  checkLiveStep({ expectedCodes: ["W102", "W103"] }),
  {
    ...checkLiveStep({
      expectedCodes: ["W102", "W103", "E116"],
      env: { SCOPE: "openid profile email offline_access" },
    }),
    key: "offline-access",
    title:
      "If SCOPE contains `offline_access`, which the client isn't registered for, `idpauth check --live` finds E116.",
  },
  signInPostStep(),
  signInEncodedStep(),
  signInKeyStep(),
  signInPushedStep(),
  bareSignInStep({
    title:
      "Without a token customizer, neither the ID token nor userinfo contains the user's name or email address: the user signs in with `sub` only.",
    application: { client: { bare: true } },
  }),
  consentRefusedStep({
    key: "consent",
    title:
      "A user who refuses consent is back in the application, signed out; the next time, the user consents and is signed in.",
    application: { client: { consent: true } },
    async refuse(page) {
      await signInAtProvider(page);
      await refuseConsent(page);
    },
    consent,
  }),
  refreshRaceStep(),
  {
    ...race,
    key: "refresh-race-rotating",
    title: `With \`reuseRefreshTokens(false)\`: ${race.title}`,
  },
  killedProcessStep(ROTATING),
  usedTokenStep({
    key: "used-token",
    title:
      "With `reuseRefreshTokens(false)`, somebody sends a refresh token that has been used. Spring refuses only that token, and the session continues.",
    status: 200,
    application: ROTATING,
  }),
  lostResponseStep({
    key: "lost-response",
    title:
      "The response to a refresh is lost: the same token works again, and the session continues.",
    status: 200,
  }),
  lostResponseStep({
    key: "lost-response-rotating",
    title:
      "With `reuseRefreshTokens(false)`, the response to a refresh is lost. Spring doesn't know the previous token anymore, and the session ends with 401.",
    status: 401,
    application: ROTATING,
  }),
  refreshTokenLifeStep({
    key: "refresh-token-life",
    title:
      "A refresh doesn't extend the life of Spring's refresh token, so the session ends with 401 when that is over (`refreshTokenTimeToLive`, an hour by default).",
    status: 401,
  }),
  refreshTokenLifeStep({
    key: "refresh-token-life-rotating",
    title:
      "With `reuseRefreshTokens(false)`, each refresh token has a life of its own, and the session continues.",
    status: 200,
    client: { rotate: true },
  }),
  {
    ...maxAgeStep(),
    expected: "the provider doesn't ask again",
    reason:
      "Spring supports neither `max_age` nor `prompt=login`, so the user gets 403 `step_up_failed`.",
  },
  revokedStep({
    key: "revoked",
    title:
      "The provider removes a user's authorization: that session ends after the next expiry, no other.",
    revoke: ({ stage, clientId }) => stage.server.removeAuthorizations(clientId, "ada"),
  }),
  userDisabledStep(),
  logoutHereStep(),
  revocationStep(),
  logoutAtProviderStep(),
  ...keyRotationSteps({
    gets: "Spring gets a new signing key",
    publishes: "still publishes the old one",
  }),
  frozenStep("Spring"),
];

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {200 | 401} step.status after the first refresh token's life
 * @param {{ rotate: true }} [step.client]
 * @returns {import("../servers.mjs").Step}
 */
function refreshTokenLifeStep({ key, title, status: expected, client }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(
        { client: { ...client, refreshSeconds: REFRESH_SECONDS } },
        async ({ newTab }) => {
          const tab = await newTab();
          await tab.signIn();
          const end = performance.now() + REFRESH_SECONDS * 1000;
          await tab.untilExpired();
          const { status: first } = await tab.fetch("/api/session");
          if (first !== 200) return `status ${first} at the first refresh`;
          let status = first;
          while (status === 200 && performance.now() < end) {
            await tab.untilExpired();
            ({ status } = await tab.fetch("/api/session"));
          }
          return status === expected ? undefined : `status ${status}`;
        },
      ),
  };
}

/** @returns {import("../servers.mjs").Step} */
function userDisabledStep() {
  const step = revokedStep({
    key: "user-disabled",
    title: "An administrator disables a user: the session ends after the next expiry.",
    revoke: ({ stage }) => stage.server.setEnabled("ada", false),
  });
  return {
    ...restoredStep(step, (server) => server.setEnabled("ada", true)),
    expected: "status 200 after the next expiry",
    reason: "Spring goes on refreshing the tokens of a user whom it no longer lets sign in.",
  };
}

// What django-oidc-provider is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { notRevokedStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { bareSignInStep, signInStep, undecodedBasicSteps } from "../steps/sign-in.mjs";
import { signingKeyStep } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { withSettings } from "../steps/with-settings.mjs";
import { deactivatedStep, refusedStep } from "./steps.mjs";

/** What the app's discovery document doesn't tell. */
const EXPECTED_CODES = ["W004", "W101", "W104"];

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  checkLiveStep({ expectedCodes: EXPECTED_CODES }),
  ...undecodedBasicSteps({
    expectedCodes: EXPECTED_CODES,
    reason: "The app doesn't decode what a client sends with `client_secret_basic`.",
  }),
  withSettings(
    { OIDC_IDTOKEN_INCLUDE_CLAIMS: true },
    signInStep({
      key: "sign-in-claims",
      title:
        "A user signs in with `OIDC_IDTOKEN_INCLUDE_CLAIMS`, which copies the user's claims from userinfo to the ID token.",
    }),
  ),
  withSettings(
    { OIDC_USERINFO: "oidc_provider.lib.utils.common.default_userinfo" },
    bareSignInStep({
      title:
        "Without the project's function, userinfo contains the user's email address, but not the name.",
      email: "ada@example.com",
    }),
  ),
  refusedStep(),
  refreshRaceStep(),
  killedProcessStep(),
  usedTokenStep({
    key: "used-token",
    title:
      "Somebody sends a refresh token that has been used. The app refuses only that token, and the session continues.",
    status: 200,
  }),
  lostResponseStep({
    key: "lost-response",
    title:
      "The response to a refresh is lost. The app has deleted the previous token, and the session ends with 401.",
    status: 401,
  }),
  maxAgeStep(),
  revokedStep({
    key: "tokens-removed",
    title:
      "An administrator deletes a user's tokens: that session ends after the next expiry, no other.",
    revoke: ({ stage, clientId }) => stage.server.removeTokens(clientId, "ada"),
  }),
  {
    ...deactivatedStep({
      key: "user-deactivated",
      title: "An administrator deactivates a user: the session ends after the next expiry.",
    }),
    expected: "status 200 after the next expiry",
    reason: "The app goes on refreshing the tokens of a user whom Django no longer lets sign in.",
  },
  logoutHereStep(),
  notRevokedStep({
    title: "The app can't revoke tokens, so the refresh token is still valid after a logout.",
  }),
  logoutAtProviderStep(),
  signingKeyStep({
    key: "key-rotation",
    title:
      "The project gets a new signing key, and the old one is deleted: the next refresh and the next sign-in succeed.",
    replace: (server) => server.replaceKey(),
  }),
  stoppedStep({ name: "Django", key: "restarted" }),
];

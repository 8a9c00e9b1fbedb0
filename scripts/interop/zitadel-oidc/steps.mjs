// What zitadel/oidc's example provider is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { revocationStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { signInEncodedStep, signInKeyStep, signInPostStep } from "../steps/sign-in.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const steps = [
  {
    ...checkLiveStep(),
    expected: "client not known",
    reason:
      "The library answers a refresh of a client that it doesn't know with 500 (`server_error`) instead of `invalid_client`, so the check can't tell the two apart for sure.",
  },
  signInPostStep(),
  signInEncodedStep(),
  signInKeyStep(),
  refreshRaceStep(),
  killedProcessStep(),
  maxAgeStep(),
  revokedStep({
    key: "revoked",
    title: "The provider ends a user's tokens: that session ends after the next expiry, no other.",
    revoke: ({ stage, clientId }) => stage.server.revokeTokens(clientId, "ada"),
  }),
  logoutHereStep(),
  revocationStep(),
  logoutAtProviderStep(),
];

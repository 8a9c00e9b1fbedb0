// What zitadel/oidc's example provider is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { revocationStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { signInStep } from "../steps/sign-in.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const steps = [
  {
    ...checkLiveStep(),
    expected: "client not known",
    reason:
      "The library answers a refresh of a client that it doesn't know with 500 (`server_error`) instead of `invalid_client`, so the check can't tell the two apart for sure.",
  },
  signInStep({ key: "sign-in-post", title: "A user signs in with `client_secret_post`." }),
  signInStep({
    key: "sign-in-basic",
    title:
      "A user signs in with `client_secret_basic`, though client ID and secret have characters that form encoding changes.",
    application: {
      client: { method: "client_secret_basic", id: "interop: app+1", secret: "+ %2B:&=/?é" },
    },
  }),
  signInStep({
    key: "sign-in-key",
    title: "A user signs in with `private_key_jwt` (RS256).",
    application: { client: { method: "private_key_jwt" } },
  }),
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

// What Glewlwyd is asked for.
import { frozenStep, stoppedStep } from "../steps/outage.mjs";
import { secondBrowserStep } from "../steps/second-browser.mjs";
import { groupsStep } from "../steps/sign-in.mjs";
import { keyRotationSteps } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { withSettings } from "../steps/with-settings.mjs";
import { CLIENT_STEPS } from "./client-steps.mjs";
import { LOGOUT_STEPS } from "./logout-steps.mjs";
import { REUSABLE, TOKEN_STEPS } from "./token-steps.mjs";

const frozen = frozenStep("Glewlwyd");

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  ...CLIENT_STEPS,
  groupsStep(),
  ...TOKEN_STEPS,
  secondBrowserStep(),
  {
    ...maxAgeStep(),
    expected: "idpauth's page: The identity provider did not confirm your identity again",
    reason:
      "Glewlwyd asks for the password, but for a code it issues an ID token whose `auth_time` is 0, so idpauth answers with 403 `step_up_failed`.",
  },
  ...LOGOUT_STEPS,
  ...keyRotationSteps({
    gets: "Glewlwyd gets a new signing key",
    publishes: "still publishes the old one",
  }),
  stoppedStep({ name: "Glewlwyd", key: "stopped", start: (server) => server.start() }),
  {
    ...frozen,
    expected: "status 503 after the outage",
    reason:
      "Glewlwyd uses the refresh token for the request that it reads too late, and refuses the next one as it does when a response is lost.",
  },
  withSettings(REUSABLE, {
    ...frozen,
    key: "frozen-reusable",
    title: `With \`refresh-token-one-use: never\`: ${frozen.title}`,
  }),
];

// What Hydra is asked for, in the order of the page.
import { checkLiveStep } from "../steps/check-live.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { CLIENT_STEPS } from "./client-steps.mjs";
import { LOGOUT_STEPS } from "./logout-steps.mjs";
import { TOKEN_STEPS } from "./token-steps.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  // Hydra's discovery document lists `email` and `profile` only if its configuration does.
  checkLiveStep({ expectedCodes: ["W102"] }),
  ...CLIENT_STEPS,
  maxAgeStep(),
  refreshRaceStep(),
  killedProcessStep(),
  ...TOKEN_STEPS,
  ...LOGOUT_STEPS,
];

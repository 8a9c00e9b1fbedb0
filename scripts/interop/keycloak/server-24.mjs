// The last Keycloak whose logout tokens have no type of their own.
import { refreshRaceStep } from "../steps/refresh-race.mjs";
import { keycloak } from "./keycloak.mjs";
import { BACK_CHANNEL_STEPS } from "./steps-logout.mjs";
import { BASIC_STEPS, CHECK_LIVE } from "./steps-sign-in.mjs";

export default keycloak({
  key: "keycloak-24",
  version: "24.0.5",
  homeVariable: "KEYCLOAK_24_HOME",
  steps: [CHECK_LIVE, ...BASIC_STEPS, refreshRaceStep(), ...BACK_CHANNEL_STEPS],
});

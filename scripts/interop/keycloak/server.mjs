// The current Keycloak.
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { signInStep } from "../steps/sign-in.mjs";
import { keycloak } from "./keycloak.mjs";
import { OUTAGE_STEPS } from "./steps-outages.mjs";

export default keycloak({
  key: "keycloak",
  version: "26.7.3",
  homeVariable: "KEYCLOAK_HOME",
  steps: [
    checkLiveStep({ expectedCodes: ["W004"] }),
    signInStep({ key: "sign-in", title: "A user signs in with `client_secret_post`." }),
    logoutHereStep(),
    logoutAtProviderStep(),
    refreshRaceStep(),
    killedProcessStep(),
    ...OUTAGE_STEPS,
  ],
});

// The current Keycloak.
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { keycloak } from "./keycloak.mjs";
import { inOwnRealm } from "./own-realm.mjs";
import { END_STEPS } from "./steps-ends.mjs";
import { LOGOUT_STEPS } from "./steps-logout.mjs";
import { OUTAGE_STEPS } from "./steps-outages.mjs";
import { SIGN_IN_STEPS } from "./steps-sign-in.mjs";

const { key, title, ...race } = refreshRaceStep();

export default keycloak({
  key: "keycloak",
  version: "26.7.3",
  homeVariable: "KEYCLOAK_HOME",
  steps: [
    ...SIGN_IN_STEPS,
    refreshRaceStep(),
    inOwnRealm(
      { key: `${key}-strict`, title: `With “Revoke Refresh Token” and reuse 0: ${title}`, ...race },
      { settings: { revokeRefreshToken: true, refreshTokenMaxReuse: 0 } },
    ),
    killedProcessStep(),
    ...END_STEPS,
    ...LOGOUT_STEPS,
    ...OUTAGE_STEPS,
  ],
});

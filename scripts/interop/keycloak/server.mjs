// The current Keycloak.
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { takePictures } from "./console-pictures.mjs";
import { keycloak } from "./keycloak.mjs";
import { inOwnRealm } from "./own-realm.mjs";
import { API_STEPS } from "./steps-apis.mjs";
import { BOUND_TOKEN_STEPS } from "./steps-bound-tokens.mjs";
import { END_STEPS } from "./steps-ends.mjs";
import { LOGOUT_STEPS } from "./steps-logout.mjs";
import { OUTAGE_STEPS } from "./steps-outages.mjs";
import { PROVIDER_STEPS } from "./steps-providers.mjs";
import { REQUEST_STEPS } from "./steps-requests.mjs";
import { RULE_STEPS } from "./steps-rules.mjs";
import { SIGN_IN_STEPS } from "./steps-sign-in.mjs";
import { STEP_UP_STEPS } from "./steps-step-up.mjs";

const { key, title, ...race } = refreshRaceStep();

const server = keycloak({
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
    ...RULE_STEPS,
    ...STEP_UP_STEPS,
    ...REQUEST_STEPS,
    ...BOUND_TOKEN_STEPS,
    ...API_STEPS,
    ...PROVIDER_STEPS,
    ...OUTAGE_STEPS,
  ],
});

/** @type {import("../servers.mjs").Server} */
export default { ...server, pictures: takePictures };

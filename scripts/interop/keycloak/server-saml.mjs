// The current Keycloak as the broker of a SAML provider.
import { keycloak } from "./keycloak.mjs";
import { BROKER_STEPS } from "./steps-saml.mjs";

/** @type {import("../servers.mjs").Server} */
export default {
  ...keycloak({
    key: "keycloak-saml",
    version: "26.7.3",
    homeVariable: "KEYCLOAK_HOME",
    steps: BROKER_STEPS,
  }),
  title: "SAML through Keycloak",
};

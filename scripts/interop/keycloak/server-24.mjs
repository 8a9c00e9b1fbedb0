// The last Keycloak whose logout tokens have no type of their own.
import { keycloak } from "./keycloak.mjs";

export default keycloak({
  key: "keycloak-24",
  version: "24.0.5",
  homeVariable: "KEYCLOAK_24_HOME",
  steps: [],
});

import { expectRefreshRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-refresh-token-invalid-azp",
  plans: ["oidcc-client-refreshtoken-test-plan"],
  demands: "refuse a refreshed ID token with an azp if the ID token of the sign-in had none",
  async run(stage) {
    const application = withClaims(await stage.start(), { azp: undefined });
    return expectRefreshRefused(application, (draft) => draft, "id_token_azp");
  },
} satisfies ConformanceModule;

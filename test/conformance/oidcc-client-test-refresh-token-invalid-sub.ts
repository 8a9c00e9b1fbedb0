import { expectRefreshRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-refresh-token-invalid-sub",
  plans: ["oidcc-client-refreshtoken-test-plan"],
  demands: "refuse a refreshed ID token whose sub differs from the sub at the sign-in",
  async run(stage) {
    return expectRefreshRefused(
      await stage.start(),
      ({ claims }) => ({ claims: Object.assign(claims, { sub: "somebody-else" }) }),
      "id_token_sub",
    );
  },
} satisfies ConformanceModule;

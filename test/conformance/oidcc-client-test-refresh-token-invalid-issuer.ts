import { expectRefreshRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-refresh-token-invalid-issuer",
  plans: ["oidcc-client-refreshtoken-test-plan"],
  demands: "refuse a refreshed ID token whose iss differs from the iss at the sign-in",
  async run(stage) {
    return expectRefreshRefused(
      await stage.start(),
      ({ claims }) => ({ claims: Object.assign(claims, { iss: "https://op.evil.example/" }) }),
      "id_token_iss",
    );
  },
} satisfies ConformanceModule;

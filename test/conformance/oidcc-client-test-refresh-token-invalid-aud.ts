import { expectRefreshRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-refresh-token-invalid-aud",
  plans: ["oidcc-client-refreshtoken-test-plan"],
  demands: "refuse a refreshed ID token whose aud is not the client",
  async run(stage) {
    return expectRefreshRefused(
      await stage.start(),
      ({ claims }) => ({ claims: Object.assign(claims, { aud: "another-client" }) }),
      "id_token_aud",
    );
  },
} satisfies ConformanceModule;

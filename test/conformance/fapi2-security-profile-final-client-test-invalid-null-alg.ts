import { expectRefused, withHeader, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-null-alg",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an unsigned ID token",
  async run(stage) {
    return expectRefused(withHeader(await stage.start(), { alg: "none" }), "id_token_alg");
  },
} satisfies ConformanceModule;

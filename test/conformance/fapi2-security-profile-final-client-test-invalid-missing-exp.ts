import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-missing-exp",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token without exp",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { exp: undefined }), "id_token_exp");
  },
} satisfies ConformanceModule;

import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-missing-iss",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token without iss",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { iss: undefined }), "id_token_iss");
  },
} satisfies ConformanceModule;

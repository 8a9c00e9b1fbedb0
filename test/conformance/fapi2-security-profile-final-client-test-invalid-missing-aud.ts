import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-missing-aud",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token without aud",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { aud: undefined }), "id_token_aud");
  },
} satisfies ConformanceModule;

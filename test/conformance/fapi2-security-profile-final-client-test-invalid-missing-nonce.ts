import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-missing-nonce",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token without nonce",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { nonce: undefined }), "id_token_nonce");
  },
} satisfies ConformanceModule;

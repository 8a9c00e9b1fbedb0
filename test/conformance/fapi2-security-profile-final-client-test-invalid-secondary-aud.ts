import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-secondary-aud",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token with a further audience that is not trusted",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { aud: ["test-client", "another-client"] }), "id_token_aud");
  },
} satisfies ConformanceModule;

import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-alternate-alg",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token with an unexpected signature algorithm",
  async run(stage) {
    const application = await stage.start();
    // The expected one is PS256; the token is signed with RS256 by the right key.
    application.provider.discoveryDocument = (document) => ({ ...document, id_token_signing_alg_values_supported: ["PS256"] });
    return expectRefused(application, "id_token_alg");
  },
} satisfies ConformanceModule;

import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-remove-authorization-response-iss",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an authorization response without iss if the provider announces iss (RFC 9207)",
  async run(stage) {
    const application = await stage.start({ provider: { announceIss: true } });
    application.provider.authorizationResponse = (params) => {
      params.delete("iss");
    };
    return expectRefused(application, "iss");
  },
} satisfies ConformanceModule;

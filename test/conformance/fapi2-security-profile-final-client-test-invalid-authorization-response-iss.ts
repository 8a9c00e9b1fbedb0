import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-authorization-response-iss",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an authorization response with another issuer's iss (RFC 9207)",
  async run(stage) {
    const application = await stage.start({ provider: { announceIss: true } });
    application.provider.authorizationResponse = (params) => {
      params.set("iss", "https://op.evil.example/");
    };
    return expectRefused(application, "iss");
  },
} satisfies ConformanceModule;

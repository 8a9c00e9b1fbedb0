import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-token-endpoint-response-without-expires_in",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "accept a token response without expires_in",
  async run(stage) {
    const application = await stage.start();
    application.provider.tokenResponse = ({ expires_in: _left, ...response }) => response;
    await expectSignedIn(application);
    return "signed in";
  },
} satisfies ConformanceModule;

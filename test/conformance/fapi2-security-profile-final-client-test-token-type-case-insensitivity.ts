import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-token-type-case-insensitivity",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "accept token_type in any letter case",
  async run(stage) {
    const application = await stage.start();
    const types = ["bEaReR", "BEARER", "bearer"];
    for (const token_type of types) {
      application.provider.tokenResponse = (response) => ({ ...response, token_type });
      await expectSignedIn(application);
    }
    return `signed in with ${types.join(", ")}`;
  },
} satisfies ConformanceModule;

import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-invalid-expired-exp",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "refuse an ID token that has expired",
  async run(stage) {
    const application = await stage.start();
    application.provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, exp: (claims["iat"] as number) - 300 } });
    return expectRefused(application, "id_token_exp");
  },
} satisfies ConformanceModule;

import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-missing-iat",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token without iat",
  async run(stage) {
    const application = await stage.start();
    application.provider.mutateIdToken = ({ claims: { iat: _iat, ...claims } }) => ({ claims });
    return expectRefused(application, "id_token_iat");
  },
} satisfies ConformanceModule;

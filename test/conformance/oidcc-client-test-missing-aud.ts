import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-missing-aud",
  plans: ["oidcc-client-test-plan"],
  demands: "refuse an ID token without aud",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { aud: undefined }), "id_token_aud");
  },
} satisfies ConformanceModule;

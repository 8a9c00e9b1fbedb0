import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-missing-sub",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token without sub",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { sub: undefined }), "id_token_sub");
  },
} satisfies ConformanceModule;

import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-iss",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token whose iss is not the issuer",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { iss: "https://op.evil.example/" }), "id_token_iss");
  },
} satisfies ConformanceModule;

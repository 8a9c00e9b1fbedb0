import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-aud",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token whose aud is not the client",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { aud: "another-client" }), "id_token_aud");
  },
} satisfies ConformanceModule;

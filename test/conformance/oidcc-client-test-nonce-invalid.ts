import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-nonce-invalid",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token whose nonce differs from the nonce in the authorization request",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { nonce: "not-the-one-that-was-sent" }), "id_token_nonce");
  },
} satisfies ConformanceModule;

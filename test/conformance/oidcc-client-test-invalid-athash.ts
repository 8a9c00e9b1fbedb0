import { expectRefused, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-athash",
  plans: ["oidcc-client-test-plan"],
  demands: "refuse an ID token whose at_hash does not match the access token",
  async run(stage) {
    return expectRefused(withClaims(await stage.start(), { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" }), "id_token_at_hash");
  },
} satisfies ConformanceModule;

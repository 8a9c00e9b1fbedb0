import { expectSignedIn, withClaims, type ConformanceModule } from "./relying-party.js";

export default {
  module: "fapi2-security-profile-final-client-test-valid-aud-as-array",
  plans: ["fapi2-security-profile-final-client-test-plan"],
  demands: "accept an ID token whose aud is a list with only the client",
  async run(stage) {
    await expectSignedIn(withClaims(await stage.start(), { aud: ["test-client"] }));
    return "signed in";
  },
} satisfies ConformanceModule;

import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-kid-absent-multiple-jwks",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "either refuse an ID token without kid if several published keys fit, or try all keys; idpauth tries all keys",
  async run(stage) {
    const application = await stage.start();
    application.provider.jwks.publishWithoutKid();
    await application.provider.jwks.publishSeveral(3);
    // The key that signs comes last, so the first one does not do.
    expect(application.provider.jwks.document().keys).toHaveLength(4);
    await expectSignedIn(application);
    return "signed in; the last of four keys verified the token";
  },
} satisfies ConformanceModule;

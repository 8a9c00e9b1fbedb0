import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-kid-absent-single-jwks",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "accept an ID token without kid if one published key fits",
  async run(stage) {
    const application = await stage.start();
    application.provider.jwks.publishWithoutKid();
    expect(application.provider.jwks.document().keys).toHaveLength(1);
    await expectSignedIn(application);
    return "signed in; the only published key verified the token";
  },
} satisfies ConformanceModule;

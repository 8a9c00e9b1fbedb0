import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-signing-key-rotation",
  plans: ["oidcc-client-config-certification-test-plan"],
  demands: "after a key rotation, verify the ID token of a second sign-in with the new key",
  async run(stage) {
    const application = await stage.start();
    await expectSignedIn(application);
    await application.provider.rotateKeys({ keepOld: false });
    await expectSignedIn(application);
    expect(application.provider.requestsTo("jwks")).toHaveLength(2);
    return "both sign-ins succeed; the keys were fetched twice";
  },
} satisfies ConformanceModule;

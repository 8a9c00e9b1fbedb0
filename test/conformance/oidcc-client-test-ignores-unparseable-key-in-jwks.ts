import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-ignores-unparseable-key-in-jwks",
  plans: ["oidcc-client-test-plan"],
  demands: "skip published keys that it cannot use, and verify with a usable key",
  async run(stage) {
    const application = await stage.start();
    const { jwks } = application.provider;
    const unusable = [
      { kty: "AKP", kid: "post-quantum", alg: "ML-DSA-999", use: "sig", pub: "AAAA" },
      { kty: "UNHEARD-OF", kid: "made-up", use: "sig", value: "AAAA" },
    ];
    jwks.publish({ keys: [...unusable, ...jwks.document().keys] });
    await expectSignedIn(application);
    return "signed in; the third of three keys verified the token";
  },
} satisfies ConformanceModule;

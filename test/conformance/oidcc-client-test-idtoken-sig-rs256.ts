import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-idtoken-sig-rs256",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "accept an ID token signed with RS256",
  async run(stage) {
    const application = await stage.start();
    let alg: unknown;
    application.provider.mutateIdToken = (draft) => {
      alg = draft.header["alg"];
      return draft;
    };
    await expectSignedIn(application);
    expect(alg).toBe("RS256");
    expect(application.provider.requestsTo("jwks")).toHaveLength(1);
    return "signed in; idpauth fetched the keys once and verified the signature";
  },
} satisfies ConformanceModule;

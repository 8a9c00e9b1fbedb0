import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "complete the code flow: authorization, token and userinfo request",
  async run(stage) {
    const application = await stage.start();
    await expectSignedIn(application);
    const { provider } = application;
    expect(
      [provider.requestsTo("authorize"), provider.requestsTo("token"), provider.requestsTo("userinfo")].map(({ length }) => length),
    ).toEqual([1, 1, 1]);
    return "signed in; one authorization, one token and one userinfo request";
  },
} satisfies ConformanceModule;

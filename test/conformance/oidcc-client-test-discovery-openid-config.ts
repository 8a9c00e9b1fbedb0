import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./stage.js";

export default {
  module: "oidcc-client-test-discovery-openid-config",
  plans: ["oidcc-client-config-certification-test-plan"],
  demands: "fetch the configuration document and use what it says",
  async run(stage) {
    const application = await stage.start();
    await expectSignedIn(application);
    const [first] = application.provider.requests;
    expect([first?.endpoint, first?.url]).toEqual(["discovery", "/.well-known/openid-configuration"]);
    expect(application.provider.requestsTo("discovery")).toHaveLength(1);
    return "the document was fetched before anything else, once; its endpoints were used";
  },
} satisfies ConformanceModule;

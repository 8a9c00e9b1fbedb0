import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-client-secret-basic",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "authenticate with client_secret_basic",
  async run(stage) {
    const application = await stage.start({
      tokenEndpointAuthMethod: "client_secret_basic",
      provider: { tokenEndpointAuthMethods: ["client_secret_basic"] },
    });
    await expectSignedIn(application);
    const [request] = application.provider.requestsTo("token");
    expect(request?.headers.authorization).toMatch(/^Basic /);
    expect(request?.params.has("client_secret")).toBe(false);
    return "signed in; the secret was only in the Basic header";
  },
} satisfies ConformanceModule;

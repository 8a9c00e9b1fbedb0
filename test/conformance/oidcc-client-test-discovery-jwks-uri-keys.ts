import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-discovery-jwks-uri-keys",
  plans: ["oidcc-client-config-certification-test-plan"],
  demands: "read the keys from the jwks_uri of the discovery document",
  async run(stage) {
    const application = await stage.start();
    const elsewhere = await stage.start();
    // Another address than the usual one, with this provider's keys; what the usual one publishes signs nothing.
    elsewhere.provider.jwks.publish(application.provider.jwks.document());
    application.provider.jwks.publish({ keys: [] });
    application.provider.discoveryDocument = (document) => ({ ...document, jwks_uri: `${elsewhere.provider.issuer}/jwks` });
    await expectSignedIn(application);
    expect(application.provider.requestsTo("jwks")).toEqual([]);
    expect(elsewhere.provider.requestsTo("jwks")).toHaveLength(1);
    return "signed in; idpauth fetched the keys only from the announced address";
  },
} satisfies ConformanceModule;

import { expect } from "vitest";
import { expectSignedIn, type ConformanceModule } from "./relying-party.js";

/** A path that only the document names. */
const ADDRESSES = {
  authorization_endpoint: "/elsewhere/a1",
  token_endpoint: "/elsewhere/t2",
  userinfo_endpoint: "/elsewhere/u3",
  jwks_uri: "/elsewhere/k4",
} as const;

export default {
  module: "oidcc-client-test-discovery-openid-config",
  plans: ["oidcc-client-config-certification-test-plan"],
  demands: "fetch the discovery document and use the addresses in it",
  async run(stage) {
    const application = await stage.start();
    const { provider } = application;
    const before: Record<string, unknown> = {};
    const moved = await stage.forwardTo(provider, (path) => {
      const [name] = Object.entries(ADDRESSES).find(([, address]) => address === path) ?? [];
      return name === undefined ? undefined : new URL(String(before[name])).pathname;
    });
    provider.discoveryDocument = (document) => {
      Object.assign(before, document);
      const addresses = Object.entries(ADDRESSES).map(([name, path]) => [name, `${moved.origin}${path}`]);
      return { ...document, ...(Object.fromEntries(addresses) as Record<string, string>) };
    };
    await expectSignedIn(application);
    const [first] = provider.requests;
    expect([first?.endpoint, first?.url]).toEqual(["discovery", "/.well-known/openid-configuration"]);
    expect(provider.requestsTo("discovery")).toHaveLength(1);
    expect([...moved.paths].sort()).toEqual(Object.values(ADDRESSES).sort());
    expect(provider.requests).toHaveLength(1 + moved.paths.length);
    return "idpauth fetched the document first, and once; it used only the endpoint addresses in the document";
  },
} satisfies ConformanceModule;

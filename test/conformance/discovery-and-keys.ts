import { expect } from "vitest";
import {
  BASIC,
  COMPREHENSIVE,
  CONFIG,
  expectIssuerMismatch,
  expectSignedIn,
  userOf,
  type ConformanceModule,
} from "./relying-party.js";

/** A path that only the discovery document names. */
const ADDRESSES = {
  authorization_endpoint: "/elsewhere/a1",
  token_endpoint: "/elsewhere/t2",
  userinfo_endpoint: "/elsewhere/u3",
  jwks_uri: "/elsewhere/k4",
} as const;

/** The discovery document, and the keys that it leads to. */
export const discoveryModules: readonly ConformanceModule[] = [
  {
    module: "oidcc-client-test-discovery-issuer-mismatch",
    plans: [CONFIG],
    demands: "refuse a discovery document of another issuer",
    run: expectIssuerMismatch,
  },
  {
    module: "oidcc-client-test-discovery-jwks-uri-keys",
    plans: [CONFIG],
    demands: "read the keys from the jwks_uri of the discovery document",
    async run(stage) {
      const application = await stage.start();
      const elsewhere = await stage.start();
      // Another address than the usual one, with this provider's keys; what the usual one publishes
      // signs nothing.
      elsewhere.provider.jwks.publish(application.provider.jwks.document());
      application.provider.jwks.publish({ keys: [] });
      application.provider.discoveryDocument = (document) => ({
        ...document,
        jwks_uri: `${elsewhere.provider.issuer}/jwks`,
      });
      await expectSignedIn(application);
      expect(application.provider.requestsTo("jwks")).toEqual([]);
      expect(elsewhere.provider.requestsTo("jwks")).toHaveLength(1);
      return "signed in; idpauth fetched the keys only from the announced address";
    },
  },
  {
    module: "oidcc-client-test-discovery-openid-config",
    plans: [CONFIG],
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
        const addresses = Object.entries(ADDRESSES).map(([name, path]) => [
          name,
          `${moved.origin}${path}`,
        ]);
        return { ...document, ...(Object.fromEntries(addresses) as Record<string, string>) };
      };
      await expectSignedIn(application);
      const [first] = provider.requests;
      expect([first?.endpoint, first?.url]).toEqual([
        "discovery",
        "/.well-known/openid-configuration",
      ]);
      expect(provider.requestsTo("discovery")).toHaveLength(1);
      expect([...moved.paths].sort()).toEqual(Object.values(ADDRESSES).sort());
      expect(provider.requests).toHaveLength(1 + moved.paths.length);
      return "idpauth fetched the document first, and once; it used only the endpoint addresses in the document";
    },
  },
  {
    module: "oidcc-client-test-ignores-unparseable-key-in-jwks",
    plans: [COMPREHENSIVE],
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
  },
  {
    module: "oidcc-client-test-kid-absent-multiple-jwks",
    plans: [BASIC],
    demands:
      "either refuse an ID token without kid if several published keys fit, or try all keys; idpauth tries all keys",
    async run(stage) {
      const application = await stage.start();
      application.provider.jwks.publishWithoutKid();
      await application.provider.jwks.publishSeveral(3);
      // The key that signs comes last, so the first one does not do.
      expect(application.provider.jwks.document().keys).toHaveLength(4);
      await expectSignedIn(application);
      return "signed in; the last of four keys verified the token";
    },
  },
  {
    module: "oidcc-client-test-kid-absent-single-jwks",
    plans: [BASIC],
    demands: "accept an ID token without kid if one published key fits",
    async run(stage) {
      const application = await stage.start();
      application.provider.jwks.publishWithoutKid();
      expect(application.provider.jwks.document().keys).toHaveLength(1);
      await expectSignedIn(application);
      return "signed in; the only published key verified the token";
    },
  },
  {
    module: "oidcc-client-test-signing-key-rotation-just-before-signing",
    plans: [CONFIG],
    demands: "fetch the keys again if an unknown key has signed an ID token",
    async run(stage) {
      const application = await stage.start();
      await expectSignedIn(application);
      expect(application.provider.requestsTo("jwks")).toHaveLength(1);
      const browser = application.browser();
      const login = await browser.get("/idpauth/login/");
      const response = await browser.get(login.location ?? "");
      // Between the approval and the token request.
      await application.provider.rotateKeys({ keepOld: false });
      expect((await browser.get(response.location ?? "")).status).toBe(302);
      expect(await userOf(browser)).toMatchObject({ email: "ada@example.com" });
      expect(application.provider.requestsTo("jwks")).toHaveLength(2);
      return "signed in; the keys were fetched once more";
    },
  },
  {
    module: "oidcc-client-test-signing-key-rotation",
    plans: [CONFIG],
    demands: "after a key rotation, verify the ID token of a second sign-in with the new key",
    async run(stage) {
      const application = await stage.start();
      await expectSignedIn(application);
      await application.provider.rotateKeys({ keepOld: false });
      await expectSignedIn(application);
      expect(application.provider.requestsTo("jwks")).toHaveLength(2);
      return "both sign-ins succeed; the keys were fetched twice";
    },
  },
];
